"""Lossy rows: what is shown in v1 in place of what it has no word for, and that nothing else is hidden there."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from changes_kit import (
    SESSION,
    Line,
    agent,
    call,
    chunk,
    client,
    decoded,
    fitting,
    idle,
    item,
    plain,
    prompt,
    shape,
    text,
    tool,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protocol_values import values

from duologue.protocol.changes.memory import AgentExtras, ClientExtras
from duologue.protocol.changes.steps import Answer, Ask, Notify, Refuse
from duologue.protocol.changes.table import METHODS, PARTS, UPDATES, Kind
from duologue.protocol.method import Request
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v2 import table as v2_table
from duologue.protocol.version import V1, V2

QUICK = settings(max_examples=60, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
#: A v1 client that offers nothing.
PLAIN = ClientExtras(boolean_options=False, plans=False, terminal_output=False)
OPTION = {"optionId": "y", "name": "Yes", "kind": "allow_once"}
CHART = {"type": "_chart", "points": [1]}
AT = {"line": 1, "character": 2}


def whole(kind: str, *words: str) -> Any:
    return {"sessionUpdate": kind, "messageId": "m", "content": [text(one) for one in words]}


def plan(*entries: Any) -> Any:
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": list(entries)}}


def entry(words: str, status: str, priority: str = "high") -> Any:
    return {"content": words, "status": status, "priority": priority}


def mode(**names: Any) -> Any:
    values = [{"value": "ask", "name": "Ask"}]
    return {**names, "name": "Mode", "type": "select", "category": "mode", "currentValue": "ask", "options": values}


SHOWN = tool(title="T", content=[{"type": "terminal", "terminalId": "x"}])
OUTPUT = {
    "sessionUpdate": "terminal_output_chunk",
    "terminalId": "x",
    "data": base64.b64encode(b"made \xff").decode(),
}
PLAN_MARKDOWN = {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "planId": "m", "content": "# Do"}}

#: By the names of a row: what a v2 agent says, in order, and what a v1 client that offers nothing is told at the end.
UPDATES_LOST: list[tuple[str, str, list[Any], list[Any]]] = [
    *(
        (
            "-",
            kind,
            [whole(kind, "wrong"), whole(kind, "right", "!")],
            [chunk(kind, one, "m~1") for one in ("right", "!")],
        )
        for kind in ("agent_message", "agent_thought", "user_message")
    ),
    ("-", "agent_message", [whole("agent_message", "gone"), whole("agent_message")], []),
    ("-", "state_update", [{"sessionUpdate": "state_update", "state": "requires_action"}], []),
    ("tool_call", "tool_call_update", [tool(name="grep")], [call(title="grep", name="grep")]),
    ("tool_call", "tool_call_update", [tool(kind="_dig")], [call(title="Tool call", kind="other")]),
    (
        "tool_call_update",
        "tool_call_update",
        [tool(title="T"), tool(status="cancelled")],
        [tool(status="failed", content=[item("Cancelled.")])],
    ),
    (
        "tool_call_update",
        "tool_call_update",
        [tool(title="T", rawInput=1), tool(title=None, rawInput=None, kind=None, status=None, content=None)],
        [tool(kind="other", status="pending", content=[])],
    ),
    ("tool_call_update", "tool_call_update", [tool(title="T"), tool(status="_on")], [tool(status="in_progress")]),
    (
        "-",
        "terminal_update",
        [
            SHOWN,
            {"sessionUpdate": "terminal_update", "terminalId": "x", "command": "make", "exitStatus": {"exitCode": 2}},
        ],
        [tool(content=[item("```\n$ make\n[exit code 2]\n```")])],
    ),
    ("-", "terminal_output_chunk", [OUTPUT, SHOWN], [call(title="T", content=[item("```\nmade \ufffd\n```")])]),
    ("-", "terminal_output_chunk", [OUTPUT], []),
    (
        "plan",
        "plan_update",
        [plan(entry("a", "cancelled"), entry("b", "_blocked", "_urgent")), PLAN_MARKDOWN],
        [
            {
                "sessionUpdate": "plan",
                "entries": [
                    entry("a (cancelled)", "completed"),
                    entry("b", "pending", "medium"),
                    entry("# Do", "in_progress", "medium"),
                ],
            }
        ],
    ),
    (
        "available_commands_update",
        "available_commands_update",
        [
            {
                "sessionUpdate": "available_commands_update",
                "availableCommands": [{"name": "a", "description": "d", "input": {"type": "_form", "fields": []}}],
            }
        ],
        [{"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "a", "description": "d"}]}],
    ),
    (
        "config_option_update",
        "config_option_update",
        [
            {
                "sessionUpdate": "config_option_update",
                "configOptions": [
                    mode(configId="how"),
                    {"configId": "fast", "name": "Fast", "type": "boolean", "currentValue": True},
                    {"configId": "x", "name": "X", "type": "_slider"},
                ],
            }
        ],
        [
            {"sessionUpdate": "current_mode_update", "currentModeId": "ask"},
            {"sessionUpdate": "config_option_update", "configOptions": [mode(id="how")]},
        ],
    ),
]


@pytest.mark.parametrize(("old", "new", "said", "shown"), UPDATES_LOST)
def test_what_is_shown_in_place_of_an_update(old: str, new: str, said: list[Any], shown: list[Any]) -> None:
    line = agent()
    line.memory.client = PLAIN
    *before, last = said
    for update in before:
        line.update_out(update)
    assert line.update_out(last) == shown


def test_what_is_shown_of_plans_to_a_client_that_takes_them() -> None:
    (told,) = agent().update_out(plan(entry("a", "cancelled"), entry("b", "_blocked", "_urgent")))
    assert told == plan(entry("a (cancelled)", "completed"), entry("b", "pending", "medium"))
    assert client().update_in(told) == [told], "and it stays so"


def test_what_is_shown_in_place_of_the_end_of_a_turn() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    line.answer_out("p", {})
    assert line.update_out(idle("_tired")) == [["answer", "p", {"stopReason": "end_turn"}]]


def test_what_is_shown_in_place_of_a_permission_request() -> None:
    subject = {"type": "_visit", "url": "u"}
    options = [OPTION, {"optionId": "m", "name": "Maybe", "kind": "_maybe"}]
    asked = {"sessionId": SESSION, "title": "Go?", "description": "Far.", "subject": subject, "options": options}
    shown = {"toolCallId": "duologue-1", "title": "Go?", "content": [item("Far.")]}
    assert agent().ask_out("session/request_permission", asked, "k") == [
        ["ask", "session/request_permission", {"sessionId": SESSION, "toolCall": shown, "options": [OPTION]}]
    ]


def test_what_is_shown_of_suggested_edits() -> None:
    line = agent()
    line.ask_in(
        "nes/suggest",
        {"sessionId": SESSION, "uri": "file:///a", "position": AT, "version": 1, "triggerKind": "manual"},
        "s",
    )
    jump = {"kind": "jump", "uri": "file:///a", "position": AT}
    known, other = {**jump, "suggestionId": "1"}, {"kind": "_dance", "suggestionId": "2"}
    assert line.answer_out("s", {"suggestions": [known, other]}) == [
        ["answer", "s", {"suggestions": [{**jump, "id": "1"}]}]
    ]


def test_what_is_shown_of_a_rejected_edit() -> None:
    new = {"sessionId": SESSION, "suggestionId": "1", "reason": "_bored"}
    assert client().notify_out("nes/reject", new) == [["notify", "nes/reject", {"sessionId": SESSION, "id": "1"}]]


PART_LOST: list[tuple[str, Any, Any]] = [
    ("ContentBlock", CHART, text("[_chart]")),
    (
        "ContentBlock",
        {"type": "resource_link", "name": "n", "uri": "u", "icons": [{"src": "data:,x"}]},
        {"type": "resource_link", "name": "n", "uri": "u"},
    ),
    (
        "ToolDiff",
        {"type": "diff", "changes": [{"operation": "move", "oldPath": "/a", "path": "/b"}]},
        [item("Move /a to /b")],
    ),
    ("ToolCallContent", CHART, [item("[_chart]")]),
    ("ToolCallContent", {"type": "content", "content": CHART}, [item("[_chart]")]),
    (
        "McpServer",
        {"type": "stdio", "name": "s", "command": "c"},
        {"name": "s", "command": "c", "args": [], "env": []},
    ),
    (
        "AuthMethod",
        {
            "type": "terminal",
            "methodId": "m",
            "name": "M",
            "env": [{"name": "A", "value": "b", "_meta": {"k": 1}}],
        },
        {"type": "terminal", "id": "m", "name": "M", "env": {"A": "b"}},
    ),
    (
        "ClientCapabilities",
        {"auth": {"terminal": {"_meta": {"k": 1}}, "_meta": {"k": 2}}},
        {
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
            "auth": {"terminal": True, "_meta": {"k": 2}},
        },
    ),
    (
        "AgentCapabilities",
        {},
        {
            "loadSession": False,
            "promptCapabilities": {},
            "mcpCapabilities": {"sse": False},
        },
    ),
]


@pytest.mark.parametrize(("name", "said", "shown"), PART_LOST)
def test_what_is_shown_in_place_of_a_part(name: str, said: Any, shown: Any) -> None:
    row = next(row for row in PARTS if row.v2 is V2.types.find(name))
    down: Any = row.down
    part = fitting(row.v2, said)
    told = {
        "ToolCallContent": lambda: down(agent().memory.session(SESSION), part),
        "ClientCapabilities": lambda: down(PLAIN, part),
        "AgentCapabilities": lambda: down(AgentExtras(), part, False),
    }
    assert plain(told.get(name, lambda: down(part))()) == shown


def test_each_lossy_row_tells_what_is_shown_instead() -> None:
    def tag(update: Any) -> str:
        return "-" if update is None else str(update.__struct_config__.tag)

    lossy = [row for row in UPDATES if row.kind is Kind.LOSSY]
    shown = {(old, new) for old, new, *_ in UPDATES_LOST}
    assert {(tag(row.v1), tag(row.v2)) for row in lossy} == {*shown, ("plan_update", "plan_update")}
    methods = {row.v1.name for row in METHODS if row.kind is Kind.LOSSY}
    assert methods == {"session/request_permission", "nes/suggest", "nes/reject"}
    parts = {row.v2 for row in PARTS if row.kind is Kind.LOSSY}
    assert parts == {V2.types.find(name) for name, *_ in PART_LOST}


# --- Nothing is hidden ------------------------------------------------------------------------------------------------


def metas(value: Any) -> set[str]:
    """Every member of every `_meta` in a value, wherever it stands."""
    if isinstance(value, list):
        return {one for inner in value for one in metas(inner)}
    if not isinstance(value, dict):
        return set()
    own = value.get("_meta")
    found = {json.dumps([name, said], sort_keys=True) for name, said in own.items()} if isinstance(own, dict) else set()
    return found | {one for inner in value.values() for one in metas(inner)}


@pytest.mark.parametrize("row", [row for row in UPDATES if row.v2 is not None], ids=lambda row: row.v2.__name__)
def test_an_update_brings_v1_no_meta_but_its_own(row: Any) -> None:
    shapes = values("v2", row.v2.__mro__[1].__name__)

    @QUICK
    @given(shapes)
    def brings(update: Any) -> None:
        update = {**update, "sessionUpdate": row.v2.__struct_config__.tag}
        line = agent()
        line.memory.client = PLAIN
        note = decoded(v2_table.SESSION_UPDATE.params, {"sessionId": SESSION, "update": update})
        made = line.edge.update_out(note)
        steps = made if isinstance(made, (tuple, list)) else [Notify(v1_table.SESSION_UPDATE, made)]
        assert metas([plain(step.params) for step in steps if isinstance(step, Notify)]) <= metas(update)

    brings()


#: The handshake says to v1 that terminals can be shown, which is no copy of anything.
ANNOUNCES = {"initialize"}
REQUESTS = [one for one in V2.methods.values() if isinstance(one, Request) and one.name not in ANNOUNCES]


@pytest.mark.parametrize("method", REQUESTS, ids=lambda method: method.name)
def test_a_request_brings_v1_no_meta_but_its_own(method: Any) -> None:
    line = Line(next(iter(method.receivers)).other)

    @QUICK
    @given(shape(V2, method.params))
    def brings(params: Any) -> None:
        steps = line.edge.request_out(method, decoded(method.params, params), object())
        assert metas([plain(step.params) for step in steps if isinstance(step, (Ask, Notify))]) <= metas(params)

    brings()


@pytest.mark.parametrize("name", ["session/new", "session/load", "session/list", "session/set_config_option"])
def test_an_answer_brings_v1_no_meta_but_its_own(name: str) -> None:
    params = {"sessionId": SESSION, "cwd": "/w", "mcpServers": [], "configId": "c", "value": "v"}
    wire = next(one for one in V1.methods.values() if isinstance(one, Request) and one.name == name)
    edge = agent().edge

    @QUICK
    @given(st.data())
    def brings(data: Any) -> None:
        asked = next(step for step in edge.request_in(wire, decoded(wire.params, params), "k"))
        assert isinstance(asked, Ask)
        result = data.draw(shape(V2, asked.method.result))
        steps = edge.result_out("k", decoded(asked.method.result, result))
        told = []
        for step in steps:
            assert not isinstance(step, Refuse)
            told.append(plain(step.result if isinstance(step, Answer) else step.params))
        assert metas(told) <= metas(result)

    brings()
