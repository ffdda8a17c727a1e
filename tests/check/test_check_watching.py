"""What is judged by looking on: nothing is wrong with a sound conversation, and each mutant breaks its row alone."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import agent_mutants
import client_mutants
import pytest
from check_kit import broken
from editing import Edit, again, also, both, move, talk, telling
from specimens import SPECIMENS

from duologue.check.judging import WATCHERS
from duologue.check.rows import ROWS
from duologue.check.run import look_over
from duologue.check.shapes import shape_rows
from duologue.protocol.method import Side

MUTANTS = {Side.AGENT: agent_mutants, Side.CLIENT: client_mutants}


def edits(module: ModuleType) -> Iterator[tuple[str, int, Edit]]:
    for row, edit in module.EITHER.items():
        for version in (1, 2):
            if not isinstance(edit, dict):
                yield row, version, edit
            elif version in edit:
                yield row, version, edit[version]
    for row, edit in module.V1.items():
        yield row, 1, edit
    for row, edit in module.V2.items():
        yield row, 2, edit


CASES = [(side, *case) for side, module in MUTANTS.items() for case in edits(module)]


@pytest.mark.parametrize("version", SPECIMENS)
@pytest.mark.parametrize("side", Side)
def test_nothing_is_wrong_with_a_sound_conversation(side: Side, version: int) -> None:
    assert not broken(look_over(talk(side, version, SPECIMENS[version])))


def prompt_to_log_in(after: str) -> Edit:
    """A prompt that is answered with -32000."""
    params = {"sessionId": "s1", "prompt": [{"type": "text", "text": "More"}]}
    return both(
        also(after, True, {"id": 901, "method": "session/prompt", "params": params}),
        also(f"{after} + 0", False, {"id": 901, "error": {"code": -32000, "message": "Log in"}}),
    )


SET = both(again("providers.set", "set.a", id=900), also("set.a + 0", False, {"id": 900, "result": {}}))
POINTED = "set.a + 0 + 0"
OPENED = {"id": 902, "result": {"sessionId": "s2", "configOptions": []}}
#: What released agents do and may do, with the version.
ALLOWED: dict[str, tuple[int, Edit]] = {
    "a prompt that waits behind a turn is answered then": (2, move("prompt2", "options")),
    "a prompt that waits behind a turn is answered at once": (
        2,
        both(move("prompt2.a", "options"), move("prompt2", "options")),
    ),
    "a login is needed again after a logout": (
        2,
        both(
            also("set.a", True, {"id": 900, "method": "auth/logout", "params": {}}),
            also("set.a + 0", False, {"id": 900, "result": {}}),
            prompt_to_log_in("set.a + 0 + 0"),
        ),
    ),
    "a login is needed where a provider was pointed": (
        2,
        both(
            SET,
            again("new", POINTED, id=902),
            also(f"{POINTED} + 0", False, OPENED),
            prompt_to_log_in(f"{POINTED} + 0 + 0"),
        ),
    ),
    "something is said of a provider that was pointed": (
        1,
        both(SET, telling(POINTED, sessionUpdate="agent_message_chunk", content={"type": "text", "text": "!"})),
    ),
    # It may not; but that is no update of the turn before, and a probe judges it.
    "session/resume tells of the past": (
        1,
        both(
            move("resume.a", "set.a"),
            move("resume", "set.a"),
            telling("resume", sessionUpdate="agent_message_chunk", content={"type": "text", "text": "Of old."}),
        ),
    ),
}


@pytest.mark.parametrize(("version", "edit"), ALLOWED.values(), ids=ALLOWED)
def test_nothing_is_wrong_with_what_is_allowed(version: int, edit: Edit) -> None:
    assert not broken(look_over(talk(Side.AGENT, version, edit(SPECIMENS[version]))))


@pytest.mark.parametrize(("side", "row", "version", "edit"), CASES, ids=lambda v: "" if callable(v) else str(v))
def test_a_mutant_breaks_its_row_and_no_other(side: Side, row: str, version: int, edit: Edit) -> None:
    findings = look_over(talk(side, version, edit(SPECIMENS[version])))
    assert broken(findings).keys() == {row}
    assert not any(finding.reason for finding in findings)


@pytest.mark.parametrize("side", Side)
def test_everything_that_is_judged_by_looking_on_has_its_mutant(side: Side) -> None:
    judged = {watcher.row for watcher in WATCHERS if watcher.side is side} | shape_rows(side)
    assert judged <= ROWS.keys()
    assert judged == {row for its_side, row, _, _ in CASES if its_side is side}
