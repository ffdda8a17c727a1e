"""Messages of every shape that the schemas allow pass the edge: nothing breaks, each side hears only its version."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from changes_kit import SESSION, Line, agent, client, decoded, plain, shape
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protocol_values import values

from duologue.protocol.changes.steps import Answer, Ask, Notify, Refuse
from duologue.protocol.changes.table import UPDATES
from duologue.protocol.method import Key, Notification, Request, Side
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v1.mcp import SseMcpServer
from duologue.protocol.v2 import table as v2_table
from duologue.protocol.version import V1, V2, Version

QUICK = settings(max_examples=25, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
#: Values of v1 that code which speaks v2 is given as they are.
KEPT = {SseMcpServer}


UPDATE = Key(Side.CLIENT, "session/update", False)


def requests(version: Version) -> list[Any]:
    return [one for one in version.methods.values() if isinstance(one, Request)]


def classes(value: Any) -> set[type]:
    """Every struct class in a value."""
    if isinstance(value, msgspec.Struct):
        found = {type(value)}
        for name in value.__struct_fields__:
            found |= classes(getattr(value, name))
        return found
    if isinstance(value, (list, tuple)):
        return {one for item in value for one in classes(item)}
    return set()


def check(made: Any, version: Version) -> None:
    """What came out belongs to a version: its classes inside, its JSON outside."""
    steps = made if isinstance(made, (tuple, list)) else [Notify(UPDATES_OF[version], made)]
    for step in steps:
        match step:
            case Notify(method=method, params=value) | Ask(method=method, params=value) if version is V1:
                fits(method.params, value)
            case Ask(method=method) if method not in V2.methods.values():
                assert method.name.startswith(("fs/", "terminal/"))
            case Notify(params=value) | Ask(params=value) | Answer(result=value) if version is V2:
                assert not {one for one in classes(value) - KEPT if one.__module__.startswith(V1_ROOM)}
            case Answer() | Refuse():
                pass
            case _:
                raise AssertionError(step)


UPDATES_OF: dict[Version, Notification[Any]] = {V1: v1_table.SESSION_UPDATE, V2: v2_table.SESSION_UPDATE}
V1_ROOM = "duologue.protocol.v1."


def fits(hint: Any, value: Any) -> None:
    """The JSON has the members that the type has, and no more."""
    shown = plain(value)
    assert plain(decoded(hint, shown)) == shown


@pytest.mark.parametrize("row", UPDATES, ids=lambda row: (row.v1 or row.v2).__name__)
def test_updates_of_all_shapes(row: Any) -> None:
    if row.v1 is not None:
        updates_pass(client(), V1, row.v1)
    if row.v2 is not None:
        updates_pass(agent(), V2, row.v2)


def updates_pass(line: Line, version: Version, variant: Any) -> None:
    """Updates of one variant, as `version` has it, for a line on which they are changed."""
    tag = {"sessionUpdate": variant.__struct_config__.tag}
    shapes = values(version.name, variant.__mro__[1].__name__).map(lambda update: {**update, **tag})
    hint = version.methods[UPDATE].params

    @QUICK
    @given(shapes, st.booleans())
    def passes(update: Any, flip: bool) -> None:
        line.memory.client.plans = line.memory.client.terminal_output = flip
        line.now += 0.05
        told = decoded(hint, {"sessionId": SESSION, "update": update})
        if version is V1:
            check(line.edge.update_in(told), V2)
        else:
            check(line.edge.update_out(told), V1)

    passes()


@pytest.mark.parametrize("method", requests(V1), ids=lambda method: method.name)
def test_requests_of_a_v1_wire(method: Any) -> None:
    line = Line(next(iter(method.receivers)))

    @QUICK
    @given(shape(V1, method.params))
    def passes(params: Any) -> None:
        check(line.edge.request_in(method, decoded(method.params, params), object()), V2)

    passes()


@pytest.mark.parametrize("method", requests(V2), ids=lambda method: method.name)
def test_requests_for_a_v1_wire_and_their_answers(method: Any) -> None:
    line = Line(next(iter(method.receivers)).other)

    @QUICK
    @given(shape(V2, method.params), st.data())
    def passes(params: Any, data: Any) -> None:
        key = object()
        steps = line.edge.request_out(method, decoded(method.params, params), key)
        check(steps, V1)
        asked = next((step.method for step in steps if isinstance(step, Ask)), None)
        if asked is None:
            return
        raw = data.draw(shape(V1, asked.result))
        check(line.edge.result_in(key, decoded(asked.result, raw), raw=raw), V2)

    passes()
