"""The script of a repair: run the tests, send the lab, weigh what it proved, edit once, run the tests again."""

from __future__ import annotations

import json
from typing import Any

from duologue.coder.models.offline.repair.bundle import lab_command
from duologue.coder.models.offline.repair.lab.job import RESULT
from duologue.coder.models.offline.repair.verdict import Proven, classes
from duologue.coder.models.offline.scripts.hunks import change_of
from duologue.coder.models.offline.suite import Report, Suite, find_suite, run_tests
from duologue.coder.models.offline.turn import Turn, TurnStopped, shorten

SECONDS = 60.0
SHOWN = 6


async def repair(turn: Turn, target: str | None, *, seconds: float = SECONDS) -> None:
    """Repair failing tests by one change of the code that is proven to be right; else say why not."""
    suite = await find_suite(turn)
    if suite.kind == "other":
        raise TurnStopped("I can only repair Python projects with pytest or unittest.")
    report, suite = await run_tests(turn, suite, target, seconds=seconds * 2)
    if report.ok:
        await turn.say(f"All tests pass{f' ({report.passed})' if report.passed else ''}; there is nothing to repair.\n")
        return
    await turn.say(_failing(report))
    found = await _lab(turn, suite, target, report, seconds)
    await _weigh(turn, suite, target, found)


def _failing(report: Report) -> str:
    if not report.failures:
        return f"The tests do not pass: {report.summary or shorten(report.output[-300:], 200)}\n\n"
    lines = "\n".join(f"- {failure}" for failure in report.failures[:SHOWN])
    more = f"\n- … and {len(report.failures) - SHOWN} more" if len(report.failures) > SHOWN else ""
    return f"{len(report.failures)} failing:\n\n{lines}{more}\n\n"


async def _lab(turn: Turn, suite: Suite, target: str | None, report: Report, seconds: float) -> dict[str, Any]:
    await turn.say(
        "I try small edits in a scratch copy, each against the tests. Your files are not touched by that.\n\n"
    )
    job = {
        "kind": suite.kind,
        "root": turn.cwd,
        "roots": list(suite.roots),
        "options": list(suite.options),
        "start": suite.start,
        "target": target or "",
        "failing": [failure.name for failure in report.failures][:200],
        "seconds": seconds,
    }
    data = await turn.run(lab_command(suite.python, job), seconds + 30)
    for line in reversed(str(data["output"]).splitlines()):
        if line.startswith(RESULT):
            return dict(json.loads(line[len(RESULT) :]))
    raise TurnStopped(
        f"The trial of edits came to no result, so nothing is changed: {shorten(str(data['output'])[-400:], 400)}"
    )


async def _weigh(turn: Turn, suite: Suite, target: str | None, found: dict[str, Any]) -> None:
    if "problem" in found:
        raise TurnStopped(f"I cannot repair this: {found['problem']}. Nothing is changed.")
    edits = [Proven.read(value) for value in found["proven"]]
    texts = await turn.read_all(sorted({edit.path for edit in edits}))
    groups = classes(edits, texts)
    await turn.say(f"Tried {found['tried']} edits; {len(edits)} let every test pass.\n\n")
    if len(groups) == 1 and found["complete"] and not found["unproven"]:
        await _apply(turn, suite, target, groups[0][0], texts)
        return
    raise TurnStopped(_declined(found, [group[0] for group in groups]))


async def _apply(turn: Turn, suite: Suite, target: str | None, edit: Proven, texts: dict[str, str]) -> None:
    await turn.say(
        f"The repair: {edit}. It is the only one that fits, and every test that passed before still passes.\n\n"
    )
    old = texts[edit.path]
    await turn.must(change_of(edit.path, old, edit.apply(old)))
    report, _ = await run_tests(turn, suite, target)
    if not report.ok:
        raise TurnStopped(f"The edit is made, but the tests do not pass here: {report.summary}. “undo” takes it back.")
    await turn.say(f"Proven in place: {report.summary or 'the tests pass'}.\n")


def _declined(found: dict[str, Any], edits: list[Proven]) -> str:
    lines = ["Nothing is changed."]
    if not edits and not found["unproven"]:
        reason = "No single small edit lets the failing tests pass" + (
            "." if found["complete"] else " among those I had time to try."
        )
        places = ", ".join(f"{path}:{line}" for path, line in found["lines"][:5])
        return f"{lines[0]} {reason} The lines most likely at fault: {places or 'unknown'}."
    if not found["complete"]:
        lines.append(
            "My time ran out before all edits were tried, so I cannot know that one of these is the right one:"
        )
    elif len(edits) > 1 or found["unproven"]:
        lines.append("More than one edit lets every test pass, and they do not mean the same. A person has to choose:")
    lines += [f"- {edit}" for edit in edits[:SHOWN]]
    if found["unproven"]:
        lines.append(f"- and {found['unproven']} more that fit the failing tests")
    return "\n".join(lines)
