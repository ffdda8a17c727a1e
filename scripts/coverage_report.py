"""Writes docs/coverage.md: which requirements `duologue check` judges, and why it does not judge the rest; which ones
our own tests prove; and which tests try what has broken other programs."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import field_bugs
import untested_rows

from duologue.check.reason import Reason
from duologue.check.row import Row
from duologue.check.rows import ROWS
from duologue.check.run import judged_rows, probed_rows, watched_rows
from duologue.protocol.method import Side

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coverage.md"

Proofs = dict[str, list[str]]

INTRODUCTION = """\
# Protocol coverage

Written by `make coverage` from the requirements (`src/duologue/check/rows`) and the `req` marks of the tests; do not
edit.

A requirement may bind agents, clients or both. [`duologue check`](check.md) judges it in a program, or there is a
reason why not; and our own tests may prove that Duologue keeps it. The id begins with the version (`v1`, `v2` or
`all`), and a `u` after that means a part of the protocol that is not stable.

The numbers of our tests tell how many requirements are proven one by one, not how many hold: one counts only when a
test names it, however many tests pass through what it says.
"""


def main() -> int:
    """Collects the tests, compares them with the requirements and writes the page."""
    proofs = collect_proofs()
    PAGE.write_text("\n".join(page(proofs)) + "\n", encoding="utf-8")
    tested = sum(row in proofs for row in ROWS)
    print(f"{tested} of {len(ROWS)} requirements have tests: {PAGE.relative_to(ROOT)}")
    return 0


def collect_proofs() -> Proofs:
    """Requirement ids with the tests that carry them, from a collection without a run."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "proofs.json"
        command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", f"--req-report={report}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if not report.exists() or done.returncode:
            sys.exit(f"the tests could not be collected:\n{done.stdout}{done.stderr}")
        proofs: Proofs = json.loads(report.read_text(encoding="utf-8"))
        return proofs


def page(proofs: Proofs) -> Iterator[str]:
    yield INTRODUCTION
    yield "## What the check judges\n"
    yield from judged()
    yield """
A requirement of both versions counts in each. *Probed*: the check does something and sees what comes of it. *Watched*:
it looks over everything that was said. Whether a requirement is judged in a run depends on the program too: what it
does not offer and what it gave no occasion for is skipped, and the report says so.
"""
    yield "| sign | why it is not judged | agents | clients |\n|---|---|---|---|"
    yield from reasons()
    yield "\n## What our tests prove\n"
    rows = list(ROWS.values())
    yield from tested("version", rows, proofs, version_of)
    yield ""
    yield from tested("level", rows, proofs, lambda row: row.level)
    yield ""
    yield from tested("area", rows, proofs, lambda row: row.area)
    yield "\n## What has no test of ours\n"
    yield from untested(proofs)
    yield "\n## What has broken other programs\n"
    yield from bugs(field_bugs.tests_by_number())
    yield "\n## All requirements\n"
    yield "`~` after the level: no source says it in so many words, so that breaking it is worth a warning only.\n"
    yield "| id | level | agents | clients | requirement | tests |\n|---|---|---|---|---|---|"
    yield from (facts(row, proofs.get(row.id, [])) for row in rows)


def judged() -> Iterator[str]:
    """How many requirements are judged, by side and version."""
    yield "| side | version | requirements | judged | by hand | out of reach |\n|---|---|---|---|---|---|"
    for side in Side:
        checked = judged_rows(side)
        for version in (1, 2):
            rows = [row for row in ROWS.values() if side in row.sides and version in row.versions]
            hand = sum(reason.by_hand for row in rows if (reason := row.unjudged(side)) is not None)
            count = sum(row.id in checked for row in rows)
            yield f"| {side.value} | {version} | {len(rows)} | {count} | {hand} | {len(rows) - count - hand} |"


def reasons() -> Iterator[str]:
    for reason in Reason:
        counts = [sum(row.unjudged(side) is reason for row in ROWS.values()) for side in Side]
        if any(counts):
            by_hand = "by hand: " if reason.by_hand else ""
            yield f"| {sign(reason)} | {by_hand}{reason.value} | {counts[0]} | {counts[1]} |"


def sign(reason: Reason) -> str:
    return reason.name.lower().replace("_", " ")


def version_of(row: Row) -> str:
    version = "both" if len(row.versions) > 1 else f"v{row.versions[0]}"
    return f"{version}, {'stable' if row.stable else 'unstable'}"


def tested(title: str, rows: Sequence[Row], proofs: Proofs, key: Callable[[Row], str]) -> Iterator[str]:
    """A table of one line for each value of `key`, and a total."""
    yield f"| {title} | requirements | with tests |\n|---|---|---|"
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    for name, members in [*sorted(groups.items()), ("all", list(rows))]:
        yield f"| {name} | {len(members)} | {sum(row.id in proofs for row in members)} |"


def untested(proofs: Proofs) -> Iterator[str]:
    """The requirements without a test by the reason, of which there must be one."""
    without = [row for row in ROWS if row not in proofs]
    unexplained = [row for row in without if row not in untested_rows.REASONS]
    if unexplained:
        sys.exit(f"neither a test nor a reason (scripts/untested_rows.py): {', '.join(unexplained)}")
    yield "| why | requirements |\n|---|---|"
    for reason, rows in groupby(without, untested_rows.REASONS.__getitem__):
        yield f"| {reason} | {', '.join(rows)} |"


def bugs(tests: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """The catalogue of field bugs by kind, with the rules that have no test, or no whole one."""
    yield "Our tests name the numbers of a catalogue of faults that were reported of other programs.\n"
    yield "| kind | numbers | with tests | tests |\n|---|---|---|---|"
    for kind, numbers in field_bugs.CATALOGUE.items():
        found = [number for number in numbers if number in tests]
        files = sorted({f"`{test.split('::', 1)[0]}`" for number in found for test in tests[number]})
        yield f"| {kind} | {len(numbers)} | {len(found)} | {', '.join(files)} |"
    yield "\n| number | what is not tried, and why |\n|---|---|"
    without = {number: reason for number, reason in field_bugs.REASONS.items() if number not in tests}
    told = {**without, **field_bugs.PARTLY}
    yield from (f"| {number} | {told[number]} |" for number in sorted(told))


def facts(row: Row, nodes: list[str]) -> str:
    level = f"{row.level}{' ~' if row.inferred else ''}"
    sides = " | ".join(how(row, side) for side in Side)
    files = ", ".join(sorted({f"`{node.split('::', 1)[0]}`" for node in nodes}))
    return f"| {row.id} | {level} | {sides} | {row.text.replace('|', chr(92) + '|')} | {files} |"


def how(row: Row, side: Side) -> str:
    """How a side is judged; nothing where the requirement does not bind it."""
    if side not in row.sides:
        return ""
    reason = row.unjudged(side)
    if reason is not None:
        return sign(reason)
    ways = {"probed": probed_rows(side), "watched": watched_rows(side)}
    return ", ".join(way for way, rows in ways.items() if row.id in rows)


if __name__ == "__main__":
    sys.exit(main())
