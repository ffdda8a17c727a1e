"""Collect and run single tests, with pytest or unittest behind one face."""

from __future__ import annotations

import os
import sys
import time
import unittest
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from .job import Job

PASSED, FAILED, SKIPPED_TEST = "passed", "failed", "skipped"


class Outcome:
    """How one test ended, how many seconds it took, which lines the error passed (outermost first), and its text."""

    def __init__(self, name: str, result: str, seconds: float, frames: list[tuple[str, int]], error: str = "") -> None:
        self.error = error
        self.name = name
        self.result = result
        self.seconds = seconds
        self.frames = frames


Ran = tuple[str, BaseException | None]


def frames_of(error: BaseException | None) -> list[tuple[str, int]]:
    found = []
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        found.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return found


def _text(error: BaseException | None) -> str:
    return "" if error is None else f"{type(error).__name__}: {error}"[:300]


class Tests:
    """Collected tests, by name, in their order; `broken` are files that could not be imported."""

    def __init__(self, names: list[str], run: Callable[[str], Ran], broken: Collection[str] = ()) -> None:
        self.names = names
        self.broken = frozenset(broken)
        self._run = run

    def run(self, name: str) -> Outcome:
        began = time.perf_counter()
        error: BaseException | None = None
        try:
            result, error = self._run(name)
        except Exception as broken:  # a test or a fixture that breaks the runner is a test that fails
            result, error = FAILED, broken
        return Outcome(name, result, time.perf_counter() - began, frames_of(error), _text(error))


class CannotCollect(Exception):
    """The tests could not be collected at all."""


def prepare(job: Job, scratch: str) -> None:
    """Make this process look like one that was started in the scratch copy."""
    os.chdir(scratch)
    roots = [str(Path(scratch, root)) for root in job.roots] + [scratch]
    sys.path[:] = roots + [path for path in sys.path if path not in ("", job.root)]
    os.environ["PYTHONPATH"] = os.pathsep.join(roots)
    sys.dont_write_bytecode = False  # the copy is ours: compiled tests make every further start quicker
    if job.kind == "pytest":
        import pytest  # noqa: F401 - loaded once, before the forks


def with_tests(job: Job, work: Callable[[Tests], Any], only: list[str] | None = None) -> Any:
    """Collect, then give the tests to `work`; `only` limits what is collected to some files or tests."""
    return _with_pytest(job, work, only) if job.kind == "pytest" else _with_unittest(job, work, only)


def _with_pytest(job: Job, work: Callable[[Tests], Any], only: list[str] | None) -> Any:
    import pytest

    found: list[Any] = []

    class Plugin:
        def __init__(self) -> None:
            self.broken: list[str] = []
            self.errors: dict[str, BaseException] = {}
            self.part_failed = False

        @pytest.hookimpl(hookwrapper=True)
        def pytest_make_collect_report(self, collector: Any) -> Any:
            report = (yield).get_result()
            if report.failed:
                self.broken.append(report.nodeid)
                self.errors[report.nodeid] = report.call.excinfo.value.__cause__ or report.call.excinfo.value

        def pytest_runtest_logreport(self, report: Any) -> None:
            # Parts of a test report on their own; the test itself may still pass.
            self.part_failed = self.part_failed or report.failed

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: Any) -> bool:
            items = {item.nodeid: item for item in session.items}

            def run(name: str) -> Ran:
                if name in self.broken:
                    return FAILED, self.errors.get(name)
                self.part_failed = False
                result, error = _run_item(items[name])
                return FAILED if self.part_failed else result, error

            found.append(work(Tests([*self.broken, *items], run, self.broken)))
            return True

    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--capture=sys",
        "--continue-on-collection-errors",
        *job.options,
    ]
    pytest.main([*options, *(only or [])], plugins=[Plugin()])
    if not found:
        raise CannotCollect("pytest collected no tests in the scratch copy")
    return found[0]


def _run_item(item: Any) -> Ran:
    """What pytest's own protocol does, but for the report of a failure, whose making takes longer than the test."""
    if getattr(item, "_request", None) is False:
        item._initrequest()
    call = _phase(item, "setup", item.ihook.pytest_runtest_setup)
    if call.excinfo is None:
        item.ihook.pytest_runtest_makereport(item=item, call=call)
        call = _phase(item, "call", item.ihook.pytest_runtest_call)
    if getattr(item, "_excinfo", None):
        call.excinfo = item._excinfo.pop(0)  # a `unittest` case keeps its failure to itself until the report
    result = _result(item, call)
    end = _phase(item, "teardown", item.ihook.pytest_runtest_teardown, nextitem=None)
    if hasattr(item, "_request"):
        item._request = False
        item.funcargs = None
    error = call.excinfo or end.excinfo
    return FAILED if end.excinfo is not None else result, error.value if error is not None else None


def _phase(item: Any, when: Any, hook: Any, **more: Any) -> Any:
    from _pytest.runner import CallInfo

    return CallInfo.from_call(lambda: hook(item=item, **more), when=when)


def _result(item: Any, call: Any) -> str:
    import pytest

    marked = item.get_closest_marker("xfail") is not None
    if call.excinfo is None or marked or call.excinfo.errisinstance(pytest.xfail.Exception):
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        return FAILED if report.failed else SKIPPED_TEST if report.skipped else PASSED
    return SKIPPED_TEST if call.excinfo.errisinstance(pytest.skip.Exception) else FAILED


def _with_unittest(job: Job, work: Callable[[Tests], Any], only: list[str] | None) -> Any:
    loader = unittest.TestLoader()
    top = "." if "-t" in job.options else None
    if only:
        loader.testNamePatterns = [f"*{name}*" if "*" not in name else name for name in only]
    cases = {case.id(): case for case in _flat(loader.discover(job.start, top_level_dir=top))}
    if not cases:
        raise CannotCollect("unittest found no tests in the scratch copy")

    def run(name: str) -> Ran:
        result = _Result()
        unittest.TestSuite([cases[name]]).run(result)
        if result.failures or result.errors or result.unexpectedSuccesses:
            return FAILED, result.first
        return (SKIPPED_TEST if result.skipped else PASSED), None

    return work(Tests(list(cases), run))


class _Result(unittest.TestResult):
    """Keeps the first error itself, not only its text."""

    first: BaseException | None = None

    def addError(self, test: Any, err: Any) -> None:
        self.first = self.first or err[1]
        super().addError(test, err)

    def addFailure(self, test: Any, err: Any) -> None:
        self.first = self.first or err[1]
        super().addFailure(test, err)


def _flat(suite: Any) -> Iterator[Any]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _flat(item)
        else:
            yield item
