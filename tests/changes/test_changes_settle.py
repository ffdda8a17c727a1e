"""Lossy rows: what v1 shows in place of what it has no word for stays so. A second way down and up changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import SESSION, agent, decoded, plain
from changes_road import Road, folded
from changes_said import PATCH, WAITS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protocol_values import values

from duologue.protocol.changes.memory import ClientExtras
from duologue.protocol.changes.steps import Unspeakable
from duologue.protocol.changes.table import PARTS, UPDATES, Kind
from duologue.protocol.v2 import table as v2
from duologue.protocol.version import V1, V2

MANY = settings(max_examples=80, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
PLAIN = ClientExtras(boolean_options=False, plans=False, terminal_output=False)
#: The handshake and config options are compared member by member elsewhere.
LOST = [row for row in PARTS if row.kind is Kind.LOSSY and not row.v2.__name__.endswith("Capabilities")]


def name_of(row: Any) -> str:
    return next(name for name in V2.types if V2.types.find(name) is row.v2)


def parts(name: str) -> Any:
    """JSON of a part in every shape that the schema allows; of diffs, some with a patch that can be read."""
    if name != "ToolDiff":
        return values("v2", name)
    shown = st.just({"format": "git_patch", "text": PATCH.replace("/w/a", "/a")})
    changes = st.lists(st.sampled_from([{"operation": "modify", "path": "/a"}, {"operation": "add", "path": "/b"}]))
    readable = st.fixed_dictionaries({"changes": changes}, optional={"patch": shown, "_meta": st.just({"k": 1})})
    return (values("v2", "Diff") | readable).map(lambda diff: {**diff, "type": "diff"})


def lowered(row: Any, part: Any) -> list[Any]:
    """A part as v1 has it: the items of a tool call are several."""
    made = row.down(agent().memory.session(SESSION), part) if name_of(row) == "ToolCallContent" else row.down(part)
    return list(made) if isinstance(made, list) else [made]


@pytest.mark.parametrize("row", LOST, ids=name_of)
def test_parts(row: Any) -> None:
    @MANY
    @given(parts(name_of(row)))
    def settles(value: Any) -> None:
        try:
            told = lowered(row, decoded(row.v2, value))
        except Unspeakable:
            return
        hint = V1.types.find("ToolCallContent" if name_of(row) == "ToolDiff" else name_of(row))
        heard = [raised(row, decoded(hint, plain(one))) for one in told]
        again = [item for one in heard for item in relowered(row, one)]
        assert plain(again) == plain(told)

    settles()


def raised(row: Any, one: Any) -> Any:
    return ITEM.up(one) if name_of(row) == "ToolDiff" else row.up(one)


def relowered(row: Any, one: Any) -> list[Any]:
    return lowered(ITEM, one) if name_of(row) == "ToolDiff" else lowered(row, one)


ITEM: Any = next(row for row in PARTS if name_of(row) == "ToolCallContent")


# --- Streams ----------------------------------------------------------------------------------------------------------


def told_again(said: list[Any], wait: float, extras: ClientExtras) -> list[Any]:
    """What reaches a v2 client through v1, the end of a turn behind it."""
    road = Road()
    road.agent.memory.client = extras
    for update in said:
        road.update(update)
        road.wait(wait)
    road.wait(1.0)
    return road.heard


def shapes(update: type) -> Any:
    """Updates of one kind in every shape that the schema allows, of few messages, calls, terminals and plans."""
    tag = update.__struct_config__.tag  # type: ignore[attr-defined]

    def named(said: Any, number: int) -> Any:
        names = {"messageId": f"{tag.split('_')[1]}-{number}", "toolCallId": f"t{number}", "terminalId": f"x{number}"}
        return {**said, "sessionUpdate": tag, **{key: name for key, name in names.items() if key in said}}

    return st.builds(named, values("v2", update.__mro__[1].__name__), st.integers(0, 1))


SAID = st.lists(st.one_of([shapes(row.v2) for row in UPDATES if row.v2 is not None]), max_size=10)


@pytest.mark.parametrize("extras", [ClientExtras(), PLAIN], ids=["offers everything", "offers nothing"])
def test_streams(extras: ClientExtras) -> None:
    @MANY
    @given(SAID, WAITS)
    def settles(said: list[Any], wait: float) -> None:
        loose = [plain(decoded(v2.SESSION_UPDATE.params, {"sessionId": SESSION, "update": one}).update) for one in said]
        once = told_again(loose, wait, extras)
        assert folded(told_again(once, wait, extras)) == folded(once)

    settles()
