"""Run the tests and say what failed; repair what can be proven."""

from __future__ import annotations

from duologue.coder.models.offline.intents.steps import Lint, Repair, Step, Test
from duologue.coder.models.offline.repair.flow import repair
from duologue.coder.models.offline.scripts.commands import block
from duologue.coder.models.offline.scripts.linting import lint
from duologue.coder.models.offline.scripts.lookup import matching
from duologue.coder.models.offline.suite import Report, find_suite, run_tests
from duologue.coder.models.offline.turn import Turn

SHOWN = 20


async def check(turn: Turn, step: Step) -> None:
    match step:
        case Test(target=target):
            turn.known.clear()  # who asks for a run gets one
            report, _ = await run_tests(turn, await find_suite(turn), await _target(turn, target))
            await turn.say(told(report))
        case Repair(target=target):
            await repair(turn, await _target(turn, target))
        case Lint():
            await lint(turn, step)
        case _:
            raise AssertionError(f"not a check: {step}")


async def _target(turn: Turn, target: str | None) -> str | None:
    """The test file that is meant, or the name as it is for the runner to look for."""
    if target is None or "::" in target:
        return target
    found = [path for path in matching(await turn.files(), target) if path.endswith(".py")]
    return found[0] if len(found) == 1 else target


def told(report: Report) -> str:
    """What a person wants to know of a run."""
    passed = "" if report.passed is None else f", {report.passed} passed"
    if report.ok:
        return f"The tests pass{passed.replace(', ', ': ')}. (`{report.command}`)\n"
    if report.timed_out:
        return f"The tests did not end in time and were stopped. (`{report.command}`)\n\n{block(report.output, 20)}"
    if not report.failures:
        return f"The test run failed before any test. (`{report.command}`)\n\n{block(report.output)}"
    count = len(report.failures)
    lines = [f"{count} test{'s' if count != 1 else ''} failed{passed}. (`{report.command}`)\n"]
    lines += [f"- {failure}" for failure in report.failures[:SHOWN]]
    if count > SHOWN:
        lines.append(f"- … and {count - SHOWN} more")
    return "\n".join(lines) + "\n"
