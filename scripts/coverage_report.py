"""Writes docs/coverage.md: which rows of docs/requirements.tsv have tests, and which do not yet."""

import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
MATRIX = ROOT / "docs" / "requirements.tsv"
PAGE = ROOT / "docs" / "coverage.md"

Row = dict[str, str]
Proofs = dict[str, list[str]]

INTRODUCTION = """\
# Protocol coverage

Written by `make coverage` from `docs/requirements.tsv` and the `req` marks of the tests; do not edit.

A row has a test when some test carries its id. The id begins with the version (`v1`, `v2` or `all`), and a `u` after
that means a part of the protocol that is not stable.

The numbers tell how many rows are proven one by one, not how many hold: a row counts only when a test names it,
however many tests pass through what it says. Many of the rest need what is not built yet, such as the transports over
HTTP and WebSocket and most of the parts that are not stable; of those nothing is claimed.
"""


def main() -> int:
    """Collects the tests, compares them with the matrix and writes the page."""
    rows = read_rows()
    proofs = collect_proofs()
    PAGE.write_text("\n".join(page(rows, proofs)) + "\n", encoding="utf-8")
    tested = sum(row["id"] in proofs for row in rows)
    print(f"{tested} of {len(rows)} rows have tests: {PAGE.relative_to(ROOT)}")
    return 0


def read_rows() -> list[Row]:
    with MATRIX.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


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


def page(rows: list[Row], proofs: Proofs) -> Iterator[str]:
    yield INTRODUCTION
    yield "## In numbers\n"
    yield from summary("version", rows, proofs, version_of)
    yield ""
    yield from summary("level", rows, proofs, lambda row: row["level"])
    yield ""
    yield from summary("area", rows, proofs, lambda row: row["area"])
    yield "\n## With tests\n"
    yield "| id | side | level | requirement | tests |\n|---|---|---|---|---|"
    yield from (f"{facts(row)} {test_files(proofs[row['id']])} |" for row in rows if row["id"] in proofs)
    yield "\n## Without tests\n"
    yield "| id | side | level | requirement |\n|---|---|---|---|"
    yield from (facts(row) for row in rows if row["id"] not in proofs)


def version_of(row: Row) -> str:
    stability = "unstable" if row["id"].split("-", 1)[0].endswith("u") else "stable"
    return f"{row['version']}, {stability}"


def summary(title: str, rows: list[Row], proofs: Proofs, key: Callable[[Row], str]) -> Iterator[str]:
    """A table of one line for each value of `key`, and a total."""
    yield f"| {title} | rows | with tests |\n|---|---|---|"
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    for name, members in [*sorted(groups.items()), ("all", rows)]:
        yield f"| {name} | {len(members)} | {sum(row['id'] in proofs for row in members)} |"


def facts(row: Row) -> str:
    text = row["requirement"].replace("|", "\\|")
    return f"| {row['id']} | {row['side']} | {row['level']} | {text} |"


def test_files(nodes: list[str]) -> str:
    return ", ".join(sorted({f"`{node.split('::', 1)[0]}`" for node in nodes}))


if __name__ == "__main__":
    sys.exit(main())
