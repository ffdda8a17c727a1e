"""The script of a repair: run the tests, send the lab, weigh what it proved, edit once, run the tests again."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence
from typing import Any

from duologue.coder.models.offline.repair.command import try_edits_command
from duologue.coder.models.offline.repair.lab.job import result_in
from duologue.coder.models.offline.repair.verdict import Proven, Verdict, weigh
from duologue.coder.models.offline.scripts.hunks import change_of
from duologue.coder.models.offline.suite import Report, Suite, find_suite, run_tests
from duologue.coder.models.offline.turn import Turn, TurnStopped
from duologue.coder.texts import shorten

SHOWN = 6
#: Failing tests that are named on the command line at most.
MOST_NAMED = 200
_MISSING = re.compile(r"No module named '(\w+)[\w.]*'")


async def repair(turn: Turn, target: str | None) -> None:
    """Repair failing tests by one change of the code that is proven to be right; else say why not."""
    suite = await find_suite(turn)
    if suite.kind == "other":
        raise TurnStopped("I can only repair Python projects with pytest or unittest.")
    report, suite = await run_tests(
        turn, suite, target, seconds=min(turn.settings.test_seconds, turn.settings.repair_seconds)
    )
    if report.ok:
        await turn.say(f"All tests pass{f' ({report.passed})' if report.passed else ''}; there is nothing to repair.\n")
        return
    await turn.say(_failing(report))
    lacking = _not_installed(report, await turn.files())
    if lacking:
        raise TurnStopped(
            f"No edit repairs that: {suite.python} does not have {lacking}, which the tests need. Install it in the "
            "project's environment and ask again. Nothing is changed."
        )
    found = await _lab(turn, suite, report)
    await _weigh(turn, suite, target, found)


def _not_installed(report: Report, files: Sequence[str]) -> str:
    """A module that a failing test misses, and that is neither the project's nor a slip of the pen."""
    own = {part.removesuffix(".py") for path in files for part in path.split("/")}
    known = [*own, *sys.stdlib_module_names]
    for failure in report.failures:
        missing = _MISSING.search(failure.message)
        if missing and not difflib.get_close_matches(missing[1], known, n=1, cutoff=0.8):
            return f"`{missing[1]}`"
    return ""


def _failing(report: Report) -> str:
    if not report.failures:
        return f"The tests do not pass: {report.summary or shorten(report.output[-300:], 200)}\n\n"
    lines = "\n".join(f"- {failure}" for failure in report.failures[:SHOWN])
    more = f"\n- … and {len(report.failures) - SHOWN} more" if len(report.failures) > SHOWN else ""
    return f"{len(report.failures)} failing:\n\n{lines}{more}\n\n"


async def _lab(turn: Turn, suite: Suite, report: Report) -> dict[str, Any]:
    await turn.say(
        "I try small edits in a scratch copy, each against the tests. Your files are not touched by that.\n\n"
    )
    settings = turn.settings
    failing = [failure.name for failure in report.failures]
    command = try_edits_command(
        suite.python,
        # Without names the lab takes all that fail. With some of them it would take the others for no matter of ours.
        failing if len(failing) <= MOST_NAMED else [],
        kind=suite.kind,
        roots=list(suite.roots),
        options=list(suite.options),
        start=suite.start,
        seconds=settings.repair_seconds,
        hanging=settings.hanging_seconds,
        most_bytes=settings.copied_bytes,
    )
    data = await turn.run(
        command,
        settings.repair_seconds + 30,
        title="Try small edits in a scratch copy",
        description=(
            f"This copies the project to a temporary folder, makes one small edit at a time in the copy, and runs the "
            f"tests there with {suite.python}, for {settings.repair_seconds:g} seconds at most. So I find out which "
            "edit repairs the failing test. Your files are not edited by that: I ask again before the repair is made."
        ),
    )
    result = result_in(str(data["output"]))
    if result is None:
        raise TurnStopped(
            f"The trial of edits came to no result, so nothing is changed: {shorten(str(data['output'])[-400:], 400)}"
        )
    return result


async def _weigh(turn: Turn, suite: Suite, target: str | None, found: dict[str, Any]) -> None:
    if "problem" in found:
        raise TurnStopped(f"I cannot repair this: {found['problem']}. Nothing is changed.")
    texts = await turn.read_all(sorted({value["path"] for value in found["proven"]}))
    verdict = weigh(found, texts)
    count = len(found["proven"])
    await turn.say(f"Tried {found['tried']} edits; {count} let{'s' if count == 1 else ''} every test pass.\n\n")
    if verdict.edit is None:
        raise TurnStopped(_declined(found, verdict))
    await _apply(turn, suite, target, verdict.edit, texts)


async def _apply(turn: Turn, suite: Suite, target: str | None, edit: Proven, texts: dict[str, str]) -> None:
    await turn.say(
        f"The repair: {edit}. It is the only one that fits, and every test that passed before still passes.\n\n"
    )
    old = texts[edit.path]
    await turn.must(change_of(edit.path, old, edit.apply(old)))
    report, _ = await run_tests(turn, suite, target)
    if not report.ok:
        back = " “undo” takes it back." if turn.can_undo else ""
        raise TurnStopped(f"The edit is made, but the tests do not pass here: {report.summary}.{back}")
    await turn.say(f"Proven in place: {report.summary or 'the tests pass'}.\n")


def _declined(found: dict[str, Any], verdict: Verdict) -> str:
    lines = [f"Nothing is changed. {verdict.reason}"]
    lines += [f"- {group[0]}" for group in verdict.groups[:SHOWN]]
    if found["unproven"]:
        lines.append(f"- and {found['unproven']} more that let the failing tests pass")
    if not verdict.groups:
        places = ", ".join(f"{path}:{line}" for path, line in found["lines"][:5])
        lines.append(f"The lines most likely at fault: {places or 'unknown'}.")
    return "\n".join(lines)
