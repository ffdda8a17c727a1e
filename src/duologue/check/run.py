"""Runs the probes, looks over what was said, and sums the findings up."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
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

__all__ = ["Choice", "Progress", "agents", "check_agent", "judged_rows", "look_over", "spoken", "sum_up", "watching"]

#: Told before each probe: its number, how many there are, the version, its name.
Progress = Callable[[int, int, int, str], None]
#: Begins the program under test for a working folder.
Begin = Callable[[Path], Start]


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
    begin: Begin, choice: Choice, patience: float, *, jobs: int = 1, progress: Progress | None = None
) -> list[Verdict]:
    """Check an agent. `patience`: how long an answer may take, in seconds.

    `jobs` probes run side by side, each with an agent of its own. Versions that the agent does not speak are left out.
    Raises `TransportError` where the agent cannot be started, and `Failed` where it does not shake hands.
    """
    verdicts: list[Verdict] = []
    for version in await spoken(begin, choice.versions, patience):
        probes = choice.probes(Side.AGENT, version)
        room = asyncio.Semaphore(jobs)

        async def one(number: int, probe: Probe, total: int, version: int, room: asyncio.Semaphore) -> list[Finding]:
            async with room:
                if progress is not None:
                    progress(number, total, version, probe.name)
                found, talks = await try_agent(begin, probe, version, patience)
            return [*found, *(finding for talk in talks for finding in look_over(talk))]

        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(one(number, probe, len(probes), version, room))
                for number, probe in enumerate(probes, 1)
            ]
        findings = chain.from_iterable(task.result() for task in tasks)
        verdicts += sum_up(Side.AGENT, version, findings, choice)
    return verdicts


async def spoken(begin: Begin, versions: Iterable[int], patience: float) -> list[int]:
    """Those of the versions that an agent answers with when they are proposed."""
    found = []
    for version in versions:
        folder = _folder()
        bench = Bench(begin(folder), version, patience, folder, "handshake")
        try:
            wire = await bench.connect()
            answer = await wire.ask("initialize", bench.handshake())
        finally:
            await bench.close()
            shutil.rmtree(folder, ignore_errors=True)
        if answer.result.get("protocolVersion") == version:
            found.append(version)
    return found


async def try_agent(begin: Begin, probe: Probe, version: int, patience: float) -> tuple[list[Finding], Sequence[Talk]]:
    """Run one probe in a folder of its own: what it found, and what was said."""
    folder = _folder()
    bench = Bench(begin(folder), version, patience, folder, probe.name)
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
