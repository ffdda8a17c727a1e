"""Collect and run single tests, with pytest or unittest behind one face."""

from __future__ import annotations

import os
import sys
import time
import unittest
from collections.abc import Callable, Iterator
from typing import Any

from duologue.coder.models.offline.repair.lab.job import Job

PASSED, FAILED, SKIPPED_TEST = "passed", "failed", "skipped"


class Outcome:
    """How one test ended, and how many seconds it took."""

    def __init__(self, name: str, result: str, seconds: float) -> None:
        self.name = name
        self.result = result
        self.seconds = seconds


class Tests:
    """Collected tests, by name, in their order."""

    def __init__(self, names: list[str], run: Callable[[str], str]) -> None:
        self.names = names
        self._run = run

    def run(self, name: str) -> Outcome:
        began = time.perf_counter()
        try:
            result = self._run(name)
        except Exception:  # a test or a fixture that breaks the runner is a test that fails
            result = FAILED
        return Outcome(name, result, time.perf_counter() - began)


class CannotCollect(Exception):
    """The tests could not be collected at all."""


def prepare(job: Job, scratch: str) -> None:
    """Make this process look like one that was started in the scratch copy."""
    os.chdir(scratch)
    roots = [os.path.join(scratch, root) for root in job.roots] + [scratch]
    sys.path[:] = roots + [path for path in sys.path if path not in ("", job.root)]
    os.environ["PYTHONPATH"] = os.pathsep.join(roots)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    if job.kind == "pytest":
        import pytest  # noqa: F401 - loaded once, before the forks


def with_tests(job: Job, work: Callable[[Tests], Any], only: list[str] | None = None) -> Any:
    """Collect, then give the tests to `work`; `only` limits what is collected to some files or tests."""
    return _with_pytest(job, work, only) if job.kind == "pytest" else _with_unittest(job, work, only)


def _with_pytest(job: Job, work: Callable[[Tests], Any], only: list[str] | None) -> Any:
    import pytest
    from _pytest.runner import runtestprotocol

    found: list[Any] = []

    class Plugin:
        broken: list[str] = []

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                self.broken.append(report.nodeid)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: Any) -> bool:
            items = {item.nodeid: item for item in session.items}

            def run(name: str) -> str:
                if name in self.broken:
                    return FAILED
                return _result(runtestprotocol(items[name], log=False, nextitem=None))

            found.append(work(Tests([*self.broken, *items], run)))
            return True

    targets = only or ([job.target] if job.target else [])
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
    pytest.main([*options, *targets], plugins=[Plugin()])
    if not found:
        raise CannotCollect("pytest collected no tests in the scratch copy")
    return found[0]


def _result(reports: list[Any]) -> str:
    if any(report.failed for report in reports):
        return FAILED
    return SKIPPED_TEST if any(report.skipped for report in reports) else PASSED


def _with_unittest(job: Job, work: Callable[[Tests], Any], only: list[str] | None) -> Any:
    loader = unittest.TestLoader()
    top = "." if "-t" in job.options else None
    pattern = os.path.basename(job.target) if job.target.endswith(".py") else "test*.py"
    if only:
        loader.testNamePatterns = [f"*{name}*" if "*" not in name else name for name in only]
    elif job.target and pattern == "test*.py":
        loader.testNamePatterns = [f"*{job.target}*"]
    cases = {case.id(): case for case in _flat(loader.discover(job.start, pattern, top))}
    if not cases:
        raise CannotCollect("unittest found no tests in the scratch copy")

    def run(name: str) -> str:
        result = unittest.TestResult()
        unittest.TestSuite([cases[name]]).run(result)
        if result.failures or result.errors or result.unexpectedSuccesses:
            return FAILED
        return SKIPPED_TEST if result.skipped else PASSED

    return work(Tests(list(cases), run))


def _flat(suite: Any) -> Iterator[Any]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _flat(item)
        else:
            yield item
