"""Looks over what `make released` recorded, as `duologue check` looks over what its probes bring forth:
python tests/peers/released/look_over.py [NAME ...]. It starts nothing and takes seconds, and finds less than
`make judge`: what is seen in passing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[2]))

from catalog import PLACE

from duologue.check.record import Talk
from duologue.check.run import look_over
from duologue.check.verdict import Finding
from duologue.check.wire import as_line
from duologue.protocol.method import Side

RECORDINGS = PLACE / "recordings"


def recorded(file: Path, side: Side, version: int) -> Iterator[Talk]:
    """The connections in a recording of ours; each begins with initialize."""
    talk = None
    for line in file.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        message = entry.get("message")
        if not isinstance(message, dict):
            continue
        if message.get("method") == "initialize":
            if talk is not None:
                yield talk
            talk = Talk(side, version, file.stem)
        if talk is not None:
            talk.add(entry["direction"] == "out", as_line(message))
    if talk is not None:
        yield talk


def found(folder: Path) -> dict[tuple[str, str], tuple[str, Finding]]:
    """What is wrong in the recordings of a program, by requirement and problem: the first place of each."""
    side = Side.CLIENT if folder.name.startswith("client-") else Side.AGENT
    version = 2 if folder.name.endswith("-v2") else 1
    problems: dict[tuple[str, str], tuple[str, Finding]] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for talk in recorded(file, side, version):
            for finding in look_over(talk):
                if finding.problem:
                    problems.setdefault((finding.row, finding.problem), (file.stem, finding))
    return problems


def main(names: Sequence[str]) -> None:
    for folder in sorted(RECORDINGS.iterdir()):
        if names and not any(name in folder.name for name in names):
            continue
        print(folder.name)
        for (row, problem), (scenario, finding) in sorted(found(folder).items()):
            print(f"  {row}: {problem} ({scenario})")
            for line in finding.lines:
                print(f"    {line}")


if __name__ == "__main__":
    main(sys.argv[1:])
