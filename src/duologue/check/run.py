"""Runs the probes, looks over what was said, and sums the findings up."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol, TypeVar

from duologue.check import agents, clients, watching  # noqa: F401 (what they declare is gathered when they load)
from duologue.check.agents.words import NOTES
from duologue.check.bench import Bench, Start
from duologue.check.clients.bench import ClientBench
from duologue.check.clients.starting import Launch
from duologue.check.judging import PROBES, WATCHERS, Failed, Probe, Skipped, run_probe
from duologue.check.reason import Reason
from duologue.check.record import Talk
from duologue.check.rows import ROWS
from duologue.check.shapes import shape_findings, shape_rows
from duologue.check.verdict import Finding, Verdict, judge
from duologue.protocol.method import Side
from duologue.protocol.version import V2

#: Begins the program under test for a working folder.
Begin = Callable[[Path], Start]
Tested = TypeVar("Tested", bound=Bench | ClientBench)
#: Makes the bench of a probe: for a version, in a folder, under the probe's name.
Make = Callable[[int, Path, str], Bench | ClientBench]

#: {agent} is one word where it stands alone, and such a client looks for a program of that name.
NOT_STARTED = (
    "the client did not start its agent. If it wants the words of the agent's command apart, let a shell start it: "
    "sh -c 'some-client {agent}'"
)


class Progress(Protocol):
    """Told how far a check has come."""

    def planned(self, version: int, areas: Mapping[str, int]) -> None:
        """A version is begun: how many probes there are of each area."""

    def begun(self, version: int, number: int, name: str) -> None:
        """A probe is begun, by its number from 1 and its name."""

    def ended(self, version: int, area: str) -> None:
        """A probe of an area has ended."""


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
        if any(self.wants(row) and version in ROWS[row].versions for row in watched_rows(side)):
            return here
        return [probe for probe in here if any(self.wants(row) for row in probe.in_version(version))]


def judged_rows(side: Side) -> frozenset[str]:
    """The ids of all requirements that something judges."""
    return probed_rows(side) | watched_rows(side)


def probed_rows(side: Side) -> frozenset[str]:
    """The ids of those that a probe does something for."""
    return frozenset(row for probe in PROBES if probe.side is side for row in probe.rows)


def watched_rows(side: Side) -> frozenset[str]:
    """The ids of those that are judged by looking over what was said."""
    return shape_rows(side) | {watcher.row for watcher in WATCHERS if watcher.side is side}


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
    shut = _shut(by_row)
    return [
        judge(row, version, by_row.get(row.id) or shut.get(row.area, []), row.unjudged(side))
        for row in ROWS.values()
        if side in row.sides and version in row.versions and choice.wants(row.id)
    ]


def _shut(by_row: Mapping[str, Sequence[Finding]]) -> dict[str, list[Finding]]:
    """What was found in areas of which nothing is offered: what nobody looked for there is not offered either."""
    areas: dict[str, list[Finding]] = {}
    for row, findings in by_row.items():
        areas.setdefault(ROWS[row].area, []).extend(findings)
    return {area: found for area, found in areas.items() if all(each.reason is Reason.CAPABILITY for each in found)}


async def check_agent(
    begin: Begin, choice: Choice, patience: float, *, jobs: int = 1, progress: Progress | None = None
) -> list[Verdict]:
    """Check an agent. `patience`: how long an answer may take, in seconds.

    `jobs` probes run side by side, each with an agent of its own. Versions that the agent does not speak are left out.
    Raises `TransportError` where the agent cannot be started, and `Failed` where it speaks none of the versions.
    """

    def bench(version: int, folder: Path, title: str) -> Bench:
        return Bench(begin(folder), version, patience, folder, title)

    return await _check(Side.AGENT, bench, await _spoken(bench, choice.versions), choice, jobs, progress)


async def check_client(
    launch: Launch, choice: Choice, patience: float, *, jobs: int = 1, progress: Progress | None = None
) -> list[Verdict]:
    """Check a client in the version that it proposes. `patience` as for an agent.

    Raises `TransportError` where the client cannot be started, and `Failed` where it does not start its agent or
    proposes a version that was not chosen.
    """

    def bench(version: int, folder: Path, title: str) -> ClientBench:
        return ClientBench(launch, version, patience, folder, title)

    proposed = await _proposed(bench, choice.versions)
    return await _check(Side.CLIENT, bench, [proposed], choice, jobs, progress)


async def _check(
    side: Side,
    bench: Make,
    versions: Iterable[int],
    choice: Choice,
    jobs: int,
    progress: Progress | None,
) -> list[Verdict]:
    room = asyncio.Semaphore(jobs)

    async def one(number: int, probe: Probe, version: int) -> list[Finding]:
        async with room:
            if progress is not None:
                progress.begun(version, number, probe.name)
            found, talks = await try_one(bench, probe, version)
            if progress is not None:
                progress.ended(version, _area(probe))
        return [*found, *(finding for talk in talks for finding in look_over(talk))]

    verdicts: list[Verdict] = []
    for version in versions:
        probes = choice.probes(side, version)
        if progress is not None:
            progress.planned(version, Counter(map(_area, probes)))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(number, probe, version)) for number, probe in enumerate(probes, 1)]
        findings = chain.from_iterable(task.result() for task in tasks)
        verdicts += sum_up(side, version, findings, choice)
    return verdicts


def _area(probe: Probe) -> str:
    return ROWS[probe.rows[0]].area


async def try_one(make: Make, probe: Probe, version: int) -> tuple[list[Finding], Sequence[Talk]]:
    """Run one probe in a folder of its own: what it found, and what was said."""
    async with _opened(make, version, probe.name) as bench:
        return await run_probe(probe, bench), bench.talks


async def _spoken(make: Callable[[int, Path, str], Bench], versions: Sequence[int]) -> list[int]:
    """The versions that an agent answers with when they are proposed. Raises `Failed` where it speaks none."""
    refusals = await asyncio.gather(*(_refusal(make, version) for version in versions))
    spoken = [version for version, refusal in zip(versions, refusals, strict=True) if refusal is None]
    if not spoken and (first := next(filter(None, refusals), None)) is not None:
        raise first
    return spoken


async def _refusal(make: Callable[[int, Path, str], Bench], version: int) -> Failed | None:
    """Why a version cannot be checked; None where the agent answers with it."""
    async with _opened(make, version, "handshake") as bench:
        wire = await bench.connect()
        try:
            answer = await wire.ask("initialize", bench.handshake())
        except Failed as failure:
            return failure
        if answer.code is not None:
            return Failed(f"version {version} was proposed, and initialize fails", answer.line)
        told = answer.result.get("protocolVersion")
        if told != version:
            return Failed(f"version {version} was proposed and {told} answered", answer.line)
        # Some agents of version 1 repeat whatever number they hear; by version 2 they would fail in everything.
        if version == V2.number and not {"info", "capabilities"} & answer.result.keys():
            return Failed(
                "version 2 was answered without anything that version 2 has (info, capabilities)", answer.line
            )
        return None


async def _proposed(make: Callable[[int, Path, str], ClientBench], versions: Sequence[int]) -> int:
    """The version that a client proposes. Raises `Failed` where that is none of these."""
    async with _opened(make, 1, "handshake") as bench:
        try:
            wire = await bench.start()
        except Skipped:
            told = bench.told()
            raise Failed(NOT_STARTED + (f"\n--- last lines of its stderr ---\n{told}" if told else "")) from None
        first = await wire.wait(lambda: next(iter(wire.talk.theirs), None), "the client says nothing")
        proposed = first.params.get("protocolVersion")
        if isinstance(proposed, int) and proposed in versions:
            return proposed
        raise Failed(f"the client proposes version {proposed}, which is not to be checked", first.line)


@asynccontextmanager
async def _opened(make: Callable[[int, Path, str], Tested], version: int, title: str) -> AsyncIterator[Tested]:
    folder = _folder()
    bench = make(version, folder, title)
    try:
        yield bench
    finally:
        try:
            await bench.close()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _folder() -> Path:
    """A fresh folder with something to read."""
    folder = Path(tempfile.mkdtemp(prefix="duologue-check-")).resolve()
    (folder / "notes.txt").write_text(NOTES, encoding="utf-8")
    return folder
