"""The table of medians and ratios, and the page that keeps it."""

import datetime
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from bench.contestants import NEUTRAL, PYTHON_SDK, REFERENCE, Contestant
from bench.measure import Failed
from bench.rows import Figure, Row, Sample

Outcome = Sample | Failed
# By row key, contestant's name and round.
Outcomes = Mapping[str, Mapping[str, Sequence[Outcome]]]


def cell(figure: Figure, mine: Sequence[Outcome], reference: Sequence[Outcome]) -> str:
    """The median and, in bold, the median of the ratios of each round to the reference."""
    values = [figure.read(sample) for sample in mine if not isinstance(sample, Failed)]
    if not values:
        return "fails" if mine else ""
    pairs = [
        figure.read(one) / figure.read(other)
        for one, other in zip(mine, reference, strict=False)
        if not isinstance(one, Failed) and not isinstance(other, Failed) and figure.read(other)
    ]
    ratio = f" **{ratio_text(median(pairs))}**" if pairs and mine is not reference else ""
    return figure.short(median(values)) + ratio


def ratio_text(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.2g}x"


def table(rows: Sequence[Row], contestants: Sequence[Contestant], outcomes: Outcomes) -> Iterator[str]:
    names = [who.name for who in contestants]
    yield "| | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    for row in rows:
        of_row = outcomes.get(row.key, {})
        for figure in row.figures:
            cells = (cell(figure, of_row.get(name, ()), of_row.get(REFERENCE, ())) for name in names)
            yield f"| {figure.title} | " + " | ".join(cells) + " |"


def failures(outcomes: Outcomes) -> Iterator[str]:
    for key, of_row in outcomes.items():
        for name, samples in of_row.items():
            reasons = {str(sample) for sample in samples if isinstance(sample, Failed)}
            yield from (f"- {key}, {name}: {reason}" for reason in sorted(reasons))


def page(rows: Sequence[Row], contestants: Sequence[Contestant], outcomes: Outcomes, rounds: int) -> str:
    lines = [
        "# Results\n",
        "Written by `make bench`; how to read it stands in [README.md](README.md). "
        f"Medians of {rounds} interleaved rounds; a ratio is the median of the rounds' ratios to the {REFERENCE}: "
        "more is better for a rate, less for a time or for memory.\n",
        *(f"- {fact}" for fact in machine()),
        "",
        *table(rows, contestants, outcomes),
        "",
    ]
    absent = [f"- {who.name}: {who.missing}" for who in contestants if who.missing]
    lines += ["Not measured:\n", *absent, ""] if absent else []
    wrong = list(failures(outcomes))
    lines += ["Failed:\n", *wrong, ""] if wrong else []
    return "\n".join(lines)


def machine() -> Iterator[str]:
    yield f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, load before the run {os.getloadavg()[0]:.1f}"
    yield f"{platform.system()} {platform.release().split('-')[0]}, {processor()}, {os.cpu_count()} cores"
    yield f"Python {platform.python_version()}, Node {said('node', '--version')}"
    sdk = said(str(PYTHON_SDK), "-c", "import importlib.metadata as m; print(m.version('agent-client-protocol'))")
    yield f"Python SDK {sdk}, TypeScript SDK 1.3.0 and 2.4.0, msgspec {own_version('msgspec')}"
    yield f"Duologue {own_version('duologue')}, counterpart in {counterpart()}"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def counterpart() -> str:
    return "C" if Path(NEUTRAL).read_bytes().startswith(b"\x7fELF") else "Python"


def said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "absent"


def own_version(package: str) -> str:
    import importlib.metadata

    return importlib.metadata.version(package)
