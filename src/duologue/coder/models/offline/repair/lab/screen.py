"""A quick first look at many edits in one fork: those for which the failing test still fails need no fork of their own.

An edit can leave traces that spoil the trial of the next one. So each batch ends with a control: the code as it is must
still fail and pass as it did before, or the batch says nothing. An edit that seems to fit is tried again alone.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from typing import Any

from .forks import NoAnswer, in_fork
from .region import Region, Suspect
from .runners import PASSED, Tests
from .survey import Survey
from .swapping import CannotSwap, Live, restore


class Screen:
    """Knows the quickest failing test, and a passing one on suspicious lines for the control."""

    def __init__(self, survey: Survey, region: Region, live: Live, tests: Tests) -> None:
        self._region, self._live, self._tests = region, live, tests
        self._failing = min(survey.failing, key=lambda name: survey.seconds.get(name, 0.0))
        near = {name for names in survey.cover.values() for name in names}
        self._passing = sorted(near & set(tests.names), key=lambda name: survey.seconds.get(name, 0.0))[:2]
        self._seconds = 0.12 + 3 * survey.seconds.get(self._failing, 0.0)
        self._usable = self._failing in tests.names and self._seconds < 2

    def hopeless(self, batch: Sequence[Suspect]) -> set[int]:
        """Indexes of edits that do not let the failing test pass."""
        if not self._usable or sum(not suspect.cold for suspect in batch) < 3:
            return set()
        try:
            found: set[int] = in_fork(lambda: self._screened(batch), 5.0 + 6 * self._seconds * len(batch))
        except NoAnswer:
            return set()
        return found

    def _screened(self, batch: Sequence[Suspect]) -> set[int]:
        found = {index for index, suspect in enumerate(batch) if not suspect.cold and self._fails(suspect)}
        controlled = not self._passes(self._failing) and all(self._passes(name) for name in self._passing)
        return found if controlled else set()

    def _fails(self, suspect: Suspect) -> bool:
        try:
            swapped = self._live.swap(self._region.sources[suspect.edit.path], suspect.edit)
        except CannotSwap:
            return False
        except (SyntaxError, ValueError, RecursionError):
            return True
        try:
            return not self._passes(self._failing)
        finally:
            restore(swapped)

    def _passes(self, name: str) -> bool:
        """Whether a test passes in time; an endless loop is broken from inside."""
        began = time.process_time()

        def stop(*_: Any) -> None:
            raise TimeoutError(f"{time.process_time() - began:.1f} s")

        before = signal.signal(signal.SIGVTALRM, stop)
        signal.setitimer(signal.ITIMER_VIRTUAL, self._seconds, 0.1)
        try:
            return self._tests.run(name).result == PASSED
        except TimeoutError:
            return False
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)
