"""What is judged by looking on: nothing is wrong with a sound conversation, and each mutant breaks its row alone."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import agent_mutants
import client_mutants
import pytest
from check_kit import broken
from editing import Edit, both, move, talk
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


#: What released agents do and may do.
ALLOWED = {
    "a prompt that waits behind a turn is answered then": move("prompt2", "options"),
    "a prompt that waits behind a turn is answered at once": both(
        move("prompt2.a", "options"), move("prompt2", "options")
    ),
}


@pytest.mark.parametrize("edit", ALLOWED.values(), ids=ALLOWED)
def test_nothing_is_wrong_with_what_is_allowed(edit: Edit) -> None:
    assert not broken(look_over(talk(Side.AGENT, 2, edit(SPECIMENS[2]))))


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
