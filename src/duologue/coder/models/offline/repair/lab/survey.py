"""The first look: which tests fail, and which lines they run that passing tests run less."""

from __future__ import annotations

import functools
import math
import runpy
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .job import Job
from .runners import FAILED, PASSED, CannotCollect, Outcome, Tests, frames_of, with_tests
from .tracing import Lines, Tracer, merged

Place = tuple[str, int]


class _Hung(BaseException):
    pass


@dataclass
class Survey:
    """What the suite did. `reach` has the lines of each failing test, `cover` the passing tests that run one of those.

    `loading` is how long it took to start and to collect, in seconds.
    `common` are the lines that every failing test runs, be it only that the line ran at import, for all of them.
    `others` fail as well and are not among those that are to be repaired: nothing else is known of them.
    """

    loading: float = 0.0
    failing: list[str] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)
    imported: Lines = field(default_factory=dict)
    common: set[Place] = field(default_factory=set)
    some: set[Place] = field(default_factory=set)
    reach: dict[str, set[Place]] = field(default_factory=dict)
    cover: dict[Place, set[str]] = field(default_factory=dict)
    raised: set[Place] = field(default_factory=set)
    crashes: set[tuple[str, int, str]] = field(default_factory=set)
    passing: int = 0
    whole: bool = True

    def score(self, place: Place) -> float:
        """How suspicious a line is (Ochiai): run by all that fail, and by few that pass."""
        failed = 1.0 if place in self.common else 0.5
        told = (1.5 if self.passing else 3.0) if place in self.raised else 1.0
        return told * failed / math.sqrt(1 + len(self.cover.get(place, ())) / max(1, len(self.failing)))


def survey(job: Job, scratch: str) -> Survey:
    """Run the suite traced. Tests that are known to fail come first, so that a slow suite does not hide them."""
    tracer = Tracer(scratch)
    found = Survey()
    began = time.perf_counter()

    def collected(tests: Tests) -> None:
        found.loading = time.perf_counter() - began
        _run_all(job, tests, tracer, found)

    def work() -> None:
        try:
            with_tests(job, collected)
        except CannotCollect:
            found.imported = merged(tracer.so_far())
            _start_by_hand(job, scratch, tracer, found)

    tracer.around(work)
    return found


def _start_by_hand(job: Job, scratch: str, tracer: Tracer, found: Survey) -> None:
    """Find what keeps pytest from starting: a `conftest.py` that cannot be imported. Raises `CannotCollect`."""
    for path in sorted(Path(scratch).rglob("conftest.py"), key=lambda path: len(path.parts)):
        name = path.relative_to(scratch).as_posix()
        sys.path.insert(0, str(path.parent))
        try:
            runpy.run_path(str(path))
        except Exception as error:
            found.imported = merged(tracer.so_far())
            _add_failing(found, name, _places(found.imported))
            frames = [(tracer.relative(file), line) for file, line in frames_of(error)]
            found.raised |= set(frames)
            found.crashes |= {(*frame, f"{type(error).__name__}: {error}") for frame in frames[-1:]}
            _conclude(found)
            return
    raise CannotCollect("pytest collected no tests in the scratch copy")


def _run_all(job: Job, tests: Tests, tracer: Tracer, found: Survey) -> None:
    found.imported = merged(tracer.so_far())
    known = set(job.failing) & set(tests.names)
    order = sorted(tests.names, key=lambda name: name not in known)
    functions: set[tuple[str, int]] = set()
    limited = False
    for name in order:
        if found.failing and not limited and name not in known and known:
            tracer.limit_to(functions)
            limited = True
        if job.left(0.45) < 0:
            found.whole = False
            break
        outcome, lines = tracer.around(functools.partial(_limited, tests, name, job.hanging))
        if outcome.result == FAILED and outcome.seconds < 0.9 * job.hanging:
            outcome = untraced(tests, name, job.hanging)
        if outcome.result == FAILED and known and name not in known:
            found.others.add(name)  # with or without an edit, so it says nothing
            continue
        # How long a test takes that does not end here says nothing of how long it takes.
        found.seconds[name] = outcome.seconds if outcome.seconds < 0.9 * job.hanging else 0.0
        if outcome.result == FAILED:
            functions |= set(lines)
            broken = name in tests.broken
            _add_failing(found, name, _places(found.imported if broken else merged(lines)))
            frames = [(tracer.relative(path), line) for path, line in outcome.frames]
            found.raised |= set(frames)
            found.crashes |= {(*frame, outcome.error) for frame in frames[-1:]}
        elif outcome.result == PASSED:
            found.passing += 1
            for place in _places(merged(lines)):
                found.cover.setdefault(place, set()).add(name)
    _conclude(found)


def _add_failing(found: Survey, name: str, places: set[Place]) -> None:
    found.reach[name] = places
    found.failing.append(name)


def _conclude(found: Survey) -> None:
    found.some = set().union(*found.reach.values())
    loaded = _places(found.imported)
    found.common = {
        place for place in found.some if all(place in run or place in loaded for run in found.reach.values())
    }
    found.cover = {place: names for place, names in found.cover.items() if place in found.some}


def _places(lines: Lines) -> set[Place]:
    return {(path, number) for path, numbers in lines.items() for number in numbers}


def untraced(tests: Tests, name: str, seconds: float) -> Outcome:
    """Run again at full speed: tracing alone can make a test fail that looks at the clock."""
    before = sys.gettrace()
    sys.settrace(None)
    try:
        return _limited(tests, name, seconds)
    finally:
        sys.settrace(before)


def _limited(tests: Tests, name: str, seconds: float) -> Outcome:
    """Run one test, but not for ever: a fault can make a loop endless."""

    def give_up(*_: Any) -> None:
        raise _Hung

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return tests.run(name)
    except _Hung:
        return Outcome(name, FAILED, seconds, [])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
