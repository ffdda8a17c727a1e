"""Run the tests through the loop, with the second-best command when the first cannot work here."""

from __future__ import annotations

import dataclasses
import re
import sys

from duologue.coder.models.offline.suite.detect import Suite, unittest_suite
from duologue.coder.models.offline.suite.report import Report, read_pytest, read_unittest
from duologue.coder.models.offline.turn import Turn, TurnStopped
from duologue.coder.texts import shorten

#: What `pytest -q` shows of tests that run, however little it is told to say.
_PROGRESS = re.compile(r"\[ *\d+(%|/\d+)\]|^[.sxX]+$|\bPASSED\b", re.MULTILINE)
_NO_PYTEST = re.compile(r"No module named '?pytest'?")


async def run_tests(
    turn: Turn, suite: Suite, target: str | None = None, *, seconds: float | None = None
) -> tuple[Report, Suite]:
    """Run and read. Gives the suite that worked: another Python, unittest for pytest, or without unknown options.

    Stops the turn when no test ran: that is neither a pass nor a failure. A run just before, with nothing done since,
    is not made again.
    """
    known: tuple[Report, Suite] | None = turn.known.get(f"tests of {target}")
    if known is not None and known[1] == suite:
        return known
    lacking = ""
    report = await _run(turn, suite, target, seconds)
    for _ in range(4):
        other = await _second_best(turn, suite, report)
        if other is None:
            break
        if other.kind != suite.kind:
            lacking = suite.python
        suite = other
        report = await _run(turn, suite, target, seconds)
    _must_have_run(report, suite, target, lacking)
    turn.known.update({"suite": suite, f"tests of {target}": (report, suite)})
    return report, suite


def _must_have_run(report: Report, suite: Suite, target: str | None, lacking: str) -> None:
    """`lacking` is the Python that has no pytest though the project uses it."""
    if lacking and report.failures and all(_NO_PYTEST.search(failure.message) for failure in report.failures):
        raise TurnStopped(f"No test ran. {_without_pytest(lacking)} (`{report.command}`)")
    if suite.kind == "other" or report.timed_out or report.failures or report.passed:
        return
    silent = report.ok and report.passed is None and not _PROGRESS.search(report.output)
    if report.passed is None and not silent and not re.search(r"no tests ran|\b(skipped|deselected)\b", report.summary):
        return
    if silent:
        why = "the run ended without a word of one."
    elif lacking:
        why = f"{_without_pytest(lacking)} unittest finds no tests here."
    elif "skipped" in report.summary:
        why = "All were skipped."
    else:
        where = f"`{target}`" if target else "this project"
        why = f"{suite.kind} found none in {where}."
    said = f" It said: {shorten(report.summary, 120)}." if report.summary else ""
    raise TurnStopped(f"No test ran, so nothing is known: {why}{said} (`{report.command}`)")


def _without_pytest(python: str) -> str:
    return f"pytest is not installed for {python}; activate the project's environment, or install pytest in it."


async def _run(turn: Turn, suite: Suite, target: str | None, seconds: float | None) -> Report:
    command = suite.command(target)
    data = await turn.run(command, seconds or turn.settings.test_seconds)
    output = str(data["output"])
    read = read_unittest if suite.kind == "unittest" else read_pytest
    failures, passed, summary = read(output.replace(turn.cwd.rstrip("/") + "/", ""))
    ok = data["exit_code"] == 0 and not failures
    return Report(ok, failures, passed, summary, output, command, bool(data["timed_out"]))


async def _second_best(turn: Turn, suite: Suite, report: Report) -> Suite | None:
    if report.ok or suite.kind == "other":
        return None
    if suite.roots and not suite.exposed and re.search(r"ModuleNotFoundError|ImportError", report.output):
        return dataclasses.replace(suite, exposed=True)
    if suite.python == "python3" and re.search(r"ModuleNotFoundError|No module named", report.output):
        folder = await _environment(turn)
        if folder:
            return suite.with_python(f"{folder}/bin/python")
    if report.failures:
        return None
    if re.search(rf"{_NO_PYTEST.pattern}\s*$", report.output, re.MULTILINE):
        return unittest_suite(suite, await turn.files())
    if re.search(r"not found|No such file", report.output) and report.passed is None:
        following = {"python3": "python", "python": sys.executable}
        python = following.get(suite.python)
        return suite.with_python(python) if python else None
    if re.search(r"unrecognized arguments", report.output) and suite.kind == "pytest" and "-o" not in suite.options:
        return dataclasses.replace(suite, options=("-o", "addopts="))
    return None


async def _environment(turn: Turn) -> str | None:
    """The folder of the project's own virtual environment."""
    for folder in (".venv", "venv", "env"):
        if (await turn.call("read_file", path=f"{folder}/pyvenv.cfg", limit=1)).ok:
            return folder
    return None
