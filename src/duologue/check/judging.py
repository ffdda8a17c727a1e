"""How requirements are judged: probes that do something, and watchers that look over what was said.

Both declare the ids of the requirements they prove. What a module declares is gathered in `PROBES` and `WATCHERS` when
it is imported.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from duologue.check.reason import Reason
from duologue.check.record import Line, Said, Talk
from duologue.check.rows import ROWS
from duologue.check.verdict import Finding
from duologue.protocol.method import Side

if TYPE_CHECKING:
    from duologue.check.bench import Bench
    from duologue.check.clients.bench import ClientBench

T = TypeVar("T")

log = logging.getLogger("duologue.check")


class Failed(Exception):
    """The program broke the requirement; `lines` show it."""

    def __init__(self, problem: str, *lines: Line) -> None:
        super().__init__(problem)
        self.problem = problem
        self.lines = lines


class Skipped(Exception):
    """Nothing can be said about the requirement."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


async def left_to_others(waiting: Awaitable[T]) -> T:
    """What is waited for, where its lack breaks another requirement: then nothing can be said about this one."""
    try:
        return await waiting
    except Failed:
        raise Skipped(Reason.BUILDS_ON) from None


def demand(truth: object, problem: str, *said: Said | None) -> None:
    """Fail the probe's own row unless something holds."""
    if not truth:
        raise Failed(problem, *(each.line for each in said if each is not None))


Action = Callable[[Any], Awaitable[None]]
Look = Callable[[Talk], Iterable[tuple[Said | None, str]]]


@dataclass(frozen=True)
class Probe:
    """Does something to a program. The first of its rows in a version is its own; it reports the others by name."""

    side: Side
    rows: tuple[str, ...]
    action: Action

    @property
    def name(self) -> str:
        return self.action.__name__

    def in_version(self, version: int) -> tuple[str, ...]:
        """Those of its rows that hold for a version."""
        return tuple(row for row in self.rows if version in ROWS[row].versions)


@dataclass(frozen=True)
class Watcher:
    """Looks over a connection: gives each thing that it is about, and what is wrong with it, if anything."""

    side: Side
    row: str
    look: Look

    def findings(self, talk: Talk) -> Iterator[Finding]:
        try:
            for said, problem in self.look(talk):
                yield Finding(self.row, problem, (said.line,) if said is not None and problem else ())
        except Exception:
            log.exception("%s could not be judged", self.row)
            yield Finding(self.row, reason=Reason.CONFUSED)


PROBES: list[Probe] = []
WATCHERS: list[Watcher] = []


def probe(side: Side, *rows: str) -> Callable[[Action], Action]:
    """Declare a probe."""

    def declare(action: Action) -> Action:
        PROBES.append(Probe(side, rows, action))
        return action

    return declare


def watch(row: str, *sides: Side) -> Callable[[Look], Look]:
    """Declare a watcher, for each of the sides. Several may watch over one row."""

    def declare(look: Look) -> Look:
        WATCHERS.extend(Watcher(side, row, look) for side in sides)
        return look

    return declare


async def run_probe(probe: Probe, bench: Bench | ClientBench) -> list[Finding]:
    """What a probe found in the version of the bench, for each of its rows."""
    rows = probe.in_version(bench.version)
    found: list[Finding] = []
    try:
        await probe.action(bench)
    except Failed as failure:
        found.append(Finding(rows[0], failure.problem, failure.lines))
    except Skipped as skip:
        found.append(Finding(rows[0], reason=skip.reason))
    except Exception:
        # What a program never seen before says must not cost the rest of the check.
        log.exception("the probe %s could not go on", probe.name)
        found.append(Finding(rows[0], reason=Reason.CONFUSED))
    found += bench.findings
    left = [row for row in rows if all(finding.row != row for finding in found)]
    stopped = next((finding for finding in found if finding.row == rows[0]), None)
    # A probe that came to its end has proven all that it did not report on; one that did not has proven nothing more.
    reason = None if stopped is None else stopped.reason or Reason.BUILDS_ON
    return [*found, *(Finding(row, reason=reason) for row in left)]
