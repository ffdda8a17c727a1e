"""Runs the check on an agent in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sample_agent import SampleAgent, Store

from duologue.agent import AgentConnection
from duologue.check.bench import Bench, Start
from duologue.check.judging import Probe
from duologue.check.record import Talk
from duologue.check.run import look_over, try_one
from duologue.check.verdict import Finding
from duologue.transports.base import Sink, Transport
from duologue.transports.memory import memory_pair

#: How long an answer may take in these tests, in seconds; waited for in full only by what never comes.
PATIENCE = 10.0

Wrap = Callable[[Transport], Transport]


class Served:
    """A transport whose other end is a sample agent, which begins with it. `wrap` makes the agent misbehave."""

    def __init__(self, store: Store, wrap: Wrap) -> None:
        self._here, there = memory_pair()
        self._there = wrap(there)
        self._serving = AgentConnection(SampleAgent(store))
        self.write = self._here.write
        self.buffered = self._here.buffered
        self.pause_reading = self._here.pause_reading
        self.resume_reading = self._here.resume_reading

    async def start(self, sink: Sink) -> None:
        await self._serving.start(self._there)
        await self._here.start(sink)

    async def close(self) -> None:
        await self._here.close()
        await self._serving.close()


def sample(wrap: Wrap = lambda transport: transport) -> Callable[[Path], Start]:
    """Starts sample agents for `check_agent`; those of one probe share what is stored."""

    def in_folder(folder: Path) -> Start:
        store = Store()
        return lambda: Served(store, wrap)

    return in_folder


async def findings_of(
    probe: Probe, version: int, wrap: Wrap = lambda transport: transport, patience: float = PATIENCE
) -> list[Finding]:
    """What a probe and the watchers find on a sample agent."""

    def bench(version: int, folder: Path, title: str) -> Bench:
        return Bench(sample(wrap)(folder), version, patience, folder, title)

    found, talks = await try_one(bench, probe, version)
    return [*found, *(finding for talk in talks for finding in look_over(talk))]


def broken(findings: list[Finding]) -> dict[str, str]:
    """The rows with a problem, each with the first."""
    problems: dict[str, str] = {}
    for finding in findings:
        if finding.problem:
            problems.setdefault(finding.row, finding.problem)
    return problems


def seen(talk: Talk) -> set[str]:
    """The rows that the watchers could judge on a connection."""
    return {finding.row for finding in look_over(talk)}
