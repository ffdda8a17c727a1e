"""Runs the probes one after the other, looks over what was said, and sums the findings up."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from duologue.check import agents, watching
from duologue.check.agents.words import NOTES
from duologue.check.bench import Bench, Start
from duologue.check.judging import PROBES, WATCHERS, Probe, run_probe
from duologue.check.record import Talk
from duologue.check.rows import ROWS
from duologue.check.shapes import shape_findings, shape_rows
from duologue.check.verdict import Finding, Verdict, judge
from duologue.protocol.method import Side

__all__ = ["Choice", "Progress", "agents", "check_agent", "judged_rows", "look_over", "sum_up", "watching"]

#: Told before each probe: its number, how many there are, the version, its name.
Progress = Callable[[int, int, int, str], None]


@dataclass(frozen=True)
class Choice:
    """What to check: the versions, and areas or ids of requirements; none means all."""

    versions: tuple[int, ...] = (1, 2)
    only: frozenset[str] = frozenset()

    def wants(self, row: str) -> bool:
        return not self.only or row in self.only or ROWS[row].area in self.only

    def probes(self, side: Side, version: int) -> list[Probe]:
        """The probes that may find something. Watchers need what all of them say, so one that is wanted takes all."""
        here = [probe for probe in PROBES if probe.side is side and probe.in_version(version)]
        here.sort(key=lambda probe: list(ROWS).index(probe.rows[0]))
        watched = {watcher.row for watcher in WATCHERS if watcher.side is side} | shape_rows(side)
        if any(self.wants(row) and version in ROWS[row].versions for row in watched):
            return here
        return [probe for probe in here if any(self.wants(row) for row in probe.in_version(version))]


def judged_rows(side: Side) -> frozenset[str]:
    """The ids of all requirements that something judges."""
    probed = {row for probe in PROBES if probe.side is side for row in probe.rows}
    return frozenset(probed | {watcher.row for watcher in WATCHERS if watcher.side is side} | shape_rows(side))


def look_over(talk: Talk) -> list[Finding]:
    """What the watchers find on a connection."""
    version = talk.version or talk.proposed
    if version != talk.proposed:
        return []  # another version has requirements of its own, and its turn
    watchers = (watcher for watcher in WATCHERS if watcher.side is talk.side)
    found = (*(finding for watcher in watchers for finding in watcher.findings(talk)), *shape_findings(talk))
    return [finding for finding in found if version in ROWS[finding.row].versions]


def sum_up(side: Side, version: int, findings: Iterable[Finding], choice: Choice) -> list[Verdict]:
    """A verdict on each requirement of a side in a version."""
    by_row: dict[str, list[Finding]] = {}
    for finding in findings:
        by_row.setdefault(finding.row, []).append(finding)
    return [
        judge(row, version, by_row.get(row.id, []), row.unjudged(side))
        for row in ROWS.values()
        if side in row.sides and version in row.versions and choice.wants(row.id)
    ]


async def check_agent(
    start: Callable[[Path], Start], choice: Choice, patience: float, progress: Progress | None = None
) -> list[Verdict]:
    """Check an agent that `start` begins in a folder. `patience`: how long an answer may take, in seconds.

    Raises `TransportError` where the agent cannot be started.
    """
    verdicts: list[Verdict] = []
    for version in choice.versions:
        findings: list[Finding] = []
        probes = choice.probes(Side.AGENT, version)
        for number, probe in enumerate(probes, 1):
            if progress is not None:
                progress(number, len(probes), version, probe.name)
            found, talks = await try_agent(start, probe, version, patience)
            findings += found
            findings += (finding for talk in talks for finding in look_over(talk))
        verdicts += sum_up(Side.AGENT, version, findings, choice)
    return verdicts


async def try_agent(
    start: Callable[[Path], Start], probe: Probe, version: int, patience: float
) -> tuple[list[Finding], Sequence[Talk]]:
    """Run one probe in a folder of its own: what it found, and what was said."""
    folder = _folder()
    bench = Bench(start(folder), version, patience, folder, probe.name)
    try:
        return await run_probe(probe, bench), bench.talks
    finally:
        await bench.close()
        shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    """A fresh folder with something to read."""
    folder = Path(tempfile.mkdtemp(prefix="duologue-check-")).resolve()
    (folder / "notes.txt").write_text(NOTES, encoding="utf-8")
    return folder
