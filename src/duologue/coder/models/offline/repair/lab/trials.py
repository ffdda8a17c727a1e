"""Try candidate edits, one in each fork, and keep those that every test at hand accepts."""

from __future__ import annotations

import functools
import gc
import importlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..mutate.source import apply_edit
from .forks import NoAnswer, in_fork, quiet
from .job import Job, say
from .paths import full, inside
from .region import Region, Suspect
from .runners import FAILED, PASSED, SKIPPED_TEST, Tests, with_tests
from .screen import Screen
from .survey import Survey
from .swapping import CannotSwap, Live, in_body, overlay, restore
from .tracing import forget_cached
from .transplant import Modules

FITS, FAILS, BREAKS, COLD = "fits", "fails", "breaks", "cold"
BATCH = 24
SAMPLE = 5


class Trials:
    """Keeps count: what was tried, what fits, what needs a cold start."""

    def __init__(self, job: Job, region: Region, scratch: str) -> None:
        self.job, self.region, self.survey, self.scratch = job, region, region.survey, scratch
        self.tried = 0
        self.fits: list[Suspect] = []
        self._told = time.monotonic()

    def run(self, suspects: Sequence[Suspect], share: float) -> tuple[float, float]:
        """Try them, best first; the scores of the best two that were not tried for lack of time, or 0.

        The second is that of an edit which needs a new start. Those come last: each takes as long as many others.
        """
        broken = any(is_file(name) for name in self.survey.failing)
        results = [] if broken else self._warm(suspects, 0.75 * share)
        self._take(suspects, results)
        cold = [suspect for suspect, result in zip(suspects, results) if result == COLD]  # noqa: B905
        cold = list(suspects) if broken else cold
        late = cold[self._cold(cold, share) :]
        missed = late if broken else suspects[len(results) :]
        return _best(missed), 0.0 if broken else _best(late)

    def _take(self, suspects: Sequence[Suspect], results: Sequence[str]) -> None:
        self.fits += [suspect for suspect, result in zip(suspects, results) if result == FITS]  # noqa: B905

    def _warm(self, suspects: Sequence[Suspect], share: float) -> list[str]:
        """Collect once, then fork for every edit."""
        seconds = max(0.1, self.job.left(share))
        reader, writer = os.pipe()

        def work() -> bool:
            os.close(reader)
            quiet()
            with_tests(self.job, lambda tests: self._each(tests, suspects, seconds, writer))
            return True

        child = os.fork()
        if child == 0:
            try:
                work()
            finally:
                os._exit(0)
        os.close(writer)
        results = list(self._follow(reader, len(suspects)))
        os.close(reader)
        os.waitpid(child, 0)
        return results

    def _follow(self, reader: int, total: int) -> Iterator[str]:
        names = {result[0:2].encode(): result for result in (FITS, FAILS, BREAKS, COLD)}
        while True:
            pair = os.read(reader, 2)
            if len(pair) < 2:
                return
            self.tried += 1
            self._tell(total)
            yield names[pair]

    def _tell(self, total: int) -> None:
        if time.monotonic() - self._told > 3:
            self._told = time.monotonic()
            say(f"tried {self.tried} edits")

    def _each(self, tests: Tests, suspects: Sequence[Suspect], seconds: float, writer: int) -> None:
        live, modules = Live(self.scratch), Modules(self.scratch)
        deadline = time.monotonic() + seconds
        screen = Screen(self.survey, self.region, live, tests)
        gc.collect()
        gc.freeze()
        for start in range(0, len(suspects), BATCH):
            batch = suspects[start : start + BATCH]
            if time.monotonic() > deadline:
                return
            for suspect in batch:
                if suspect.cold:
                    modules.plan(self.region.sources[suspect.edit.path], suspect.edit)
            hopeless = screen.hopeless(batch)
            for index, suspect in enumerate(batch):
                work = functools.partial(self._swapped, live, modules, tests, suspect)
                result = FAILS if index in hopeless else self._in_fork(work, suspect)
                os.write(writer, result[0:2].encode())

    def _swapped(self, live: Live, modules: Modules, tests: Tests, suspect: Suspect) -> str:
        source = self.region.sources[suspect.edit.path]
        try:
            if suspect.cold and self._helps_nobody(live, tests, suspect):
                return FAILS
            if suspect.cold:
                modules.transplant(source, suspect.edit)
            else:
                live.swap(source, suspect.edit)
        except CannotSwap:
            return COLD
        except Exception:  # the edit does not compile, or breaks the import
            return BREAKS
        forget_cached(self.scratch)
        return judge(tests, self.survey, suspect)

    def _helps_nobody(self, live: Live, tests: Tests, suspect: Suspect) -> bool:
        """True if no failing test that runs the line itself passes with the edit: then a new start is no use either."""
        place = (suspect.edit.path, suspect.edit.line)
        own = [name for name in self.survey.failing if place in self.survey.reach.get(name, ())]
        source = self.region.sources[suspect.edit.path]
        if not own or not in_body(source, suspect.edit):
            return False
        try:
            swapped = live.swap(source, suspect.edit)
        except CannotSwap:
            return False
        forget_cached(self.scratch)
        helped = any(tests.run(name).result == PASSED for name in own[:SAMPLE])
        restore(swapped)
        return not helped

    def _in_fork(self, work: Callable[[], str], suspect: Suspect, loading: float = 0.0) -> str:
        names = [*self.survey.failing, *covering(self.survey, suspect)]
        expected = loading + sum(self.survey.seconds.get(name, 0.0) for name in names)
        try:
            return str(in_fork(work, 4.0 + 4 * expected, 0.4 + 3 * expected))
        except NoAnswer:
            return FAILS

    def _cold(self, suspects: Sequence[Suspect], share: float) -> int:
        """Load everything again for each edit; how many there was time for."""
        for done, suspect in enumerate(suspects):
            if self.job.left(share) < 0:
                return done
            result = self._in_fork(functools.partial(self._loaded, suspect), suspect, self.survey.loading)
            self.tried += 1
            self._tell(len(suspects))
            self._take([suspect], [result])
        return len(suspects)

    def _loaded(self, suspect: Suspect) -> str:
        text = apply_edit(self.region.sources[suspect.edit.path].text, suspect.edit)
        quiet()
        try:
            compile(text, suspect.edit.path, "exec", dont_inherit=True)
            overlay(self.scratch, suspect.edit.path, text)
            for name in self._first_imports():
                importlib.import_module(name)
            only = files_of(self.job, self.survey)
            return str(with_tests(self.job, lambda tests: judge(tests, self.survey, suspect), only))
        except BaseException:  # whatever ends the import or the collection, the edit does not fit
            return BREAKS

    def _first_imports(self) -> set[str]:
        """Modules of the project whose import failed: trying them first is quicker than collecting tests."""
        if not any(is_file(name) for name in self.survey.failing):
            return set()
        return {module_name(path, self.job.roots) for path, _ in self.survey.raised if path in self.region.sources}


def _best(suspects: Sequence[Suspect]) -> float:
    return max((suspect.score for suspect in suspects), default=0.0)


def is_file(name: str) -> bool:
    """True for a test file that could not be imported, which pytest names by its path."""
    return name.endswith(".py")


def module_name(path: str, roots: Sequence[str]) -> str:
    for root in roots:
        path = path[len(root) + 1 :] if path.startswith(root + "/") else path
    return path[: -len(".py")].replace("/", ".").removesuffix(".__init__")


def files_of(job: Job, survey: Survey) -> list[str]:
    """What to collect to run the failing tests only."""
    if any(name.endswith("conftest.py") for name in survey.failing):
        return []
    if job.kind == "pytest":
        return sorted({name.split("::")[0] for name in survey.failing})
    return list(survey.failing)


def covering(survey: Survey, suspect: Suspect) -> list[str]:
    """Passing tests that run the line, quick ones first; for a line that runs at import, all of them."""
    edit = suspect.edit
    names = (
        set(survey.seconds) - set(survey.failing) if suspect.cold else survey.cover.get((edit.path, edit.line), set())
    )
    return sorted(names, key=lambda name: survey.seconds.get(name, 0.0))


def judge(tests: Tests, survey: Survey, suspect: Suspect) -> str:
    """Failing tests must pass, then passing tests on the same line must still pass."""
    known = set(tests.names)
    if tests.broken - survey.others:
        return FAILS
    wanted: dict[str, tuple[str, ...]] = {name: (PASSED,) for name in survey.failing if not is_file(name)}
    for name in filter(is_file, survey.failing):
        inside = "" if name.endswith("conftest.py") else f"{name}::"
        wanted.update((other, (PASSED, SKIPPED_TEST)) for other in tests.names if other.startswith(inside))
    for name in sorted(wanted, key=lambda name: survey.seconds.get(name, 0.0)):
        if name not in known or tests.run(name).result not in wanted[name]:
            return FAILS
    for name in covering(survey, suspect):
        if name in known and tests.run(name).result == FAILED:
            return FAILS
    return FITS


def whole_suite(job: Job, region: Region, scratch: str, suspect: Suspect) -> Any:
    """Write the edit into the scratch copy and run every test; the names that fail, without those that did before and
    are not to be repaired, or None when there is no telling."""
    source = region.sources[suspect.edit.path]
    path = Path(os.path.realpath(full(scratch, source.path)))
    if inside(scratch, str(path)) is None:
        return None  # Below a link to a folder elsewhere, which is not ours to write to.
    survey = region.survey

    def failing(tests: Tests) -> list[str]:
        told = (name for name in tests.names if name not in survey.others)
        return [name for name in told if tests.run(name).result == FAILED]

    def work() -> list[str]:
        quiet()
        return list(with_tests(job, failing))

    _write(path, apply_edit(source.text, suspect.edit))
    try:
        expected = sum(survey.seconds.values())
        return in_fork(work, min(10 + 4 * expected, max(5.0, job.left())))
    except NoAnswer:
        return None
    finally:
        _write(path, source.text)


def _write(path: Path, text: str) -> None:
    """Write so that no compiled file of an earlier text passes for this one, not even within the same second."""
    later = path.stat().st_mtime + 10
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.utime(path, (later, later))
