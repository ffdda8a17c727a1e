"""State rows: who folds what went through v1 into a transcript has the transcript of what was said."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from changes_kit import SESSION, Line, chunk, client, idle, prompt, text, user_message
from changes_road import Road, folded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duologue.protocol.changes.patches import make_patch
from duologue.protocol.changes.table import METHODS, UPDATES, Kind

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
ROLES = st.sampled_from(["user_message", "agent_message", "agent_thought"])
TOOLS = st.sampled_from(["a", "b"])
WAITS = st.sampled_from([0.0, 0.05, 0.2])
IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}
LINK = {"type": "resource_link", "name": "n", "uri": "file:///n", "_meta": {"k": 1}}
MANY = settings(
    max_examples=250, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)

BLOCKS = WORDS.map(text) | st.sampled_from([IMAGE, LINK])
PATCH = make_patch("/w/a", "one\ntwo\n", "one\n2\n")
DIFF = {
    "type": "diff",
    "changes": [{"operation": "modify", "path": "/w/a"}],
    "patch": {"format": "git_patch", "text": PATCH},
}
TERMINAL = {"type": "terminal", "terminalId": "x"}
ITEMS = BLOCKS.map(lambda block: {"type": "content", "content": block}) | st.sampled_from([DIFF, TERMINAL])


def tool(tool_call_id: str, **members: Any) -> Any:
    return {"sessionUpdate": "tool_call_update", "toolCallId": tool_call_id, **members}


def terminal(**members: Any) -> Any:
    return {"sessionUpdate": "terminal_update", "terminalId": "x", **members}


def coded(words: str) -> str:
    return base64.b64encode(words.encode()).decode()


def mode(current: str) -> Any:
    values = [{"value": name, "name": name.title(), "_meta": {"k": name}} for name in ("ask", "code")]
    return {
        "configId": "how",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        **chosen(current),
        "options": values,
    }


def chosen(value: Any) -> Any:
    return {"currentValue": value}


def switch(on: bool) -> Any:
    return {"configId": "fast", "name": "Fast", "type": "boolean", "description": "d", **chosen(on)}


def options(current: str, on: bool) -> Any:
    return {"sessionUpdate": "config_option_update", "configOptions": [mode(current), switch(on)]}


PATCHED = st.fixed_dictionaries(
    {},
    optional={
        "title": WORDS,
        "kind": st.sampled_from(["read", "execute", "other"]),
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]),
        "content": st.lists(ITEMS, max_size=3),
        "locations": st.lists(st.just({"path": "/a", "line": 1}), max_size=2),
        "rawInput": st.sampled_from([1, "x", [], {"a": None}]),
        "rawOutput": st.sampled_from([False, {"n": [1]}]),
        "name": WORDS,
        "_meta": st.just({"k": [1]}),
    },
)
ENTRIES = st.fixed_dictionaries(
    {
        "content": WORDS,
        "priority": st.sampled_from(["high", "medium", "low"]),
        "status": st.sampled_from(["pending", "in_progress", "completed"]),
    },
    optional={"_meta": st.just({"k": 1})},
)
ITEMS_PLAN = st.builds(
    lambda plan_id, entries: {"type": "items", "planId": plan_id, "entries": entries},
    st.sampled_from("pq"),
    st.lists(ENTRIES, max_size=3),
)
COMMAND = st.fixed_dictionaries(
    {"name": WORDS, "description": WORDS}, optional={"input": WORDS.map(lambda hint: {"type": "text", "hint": hint})}
)

#: What an agent says, by the tag of the update. `grow` stands for a whole message with more content than before.
SAID: dict[str, Any] = {
    **{
        f"{role}_chunk": st.builds(
            lambda number, block, role=role: {**chunk(role, "", f"{role}-{number}"), "content": block},
            st.integers(0, 2),
            BLOCKS,
        )
        for role in ("user_message", "agent_message", "agent_thought")
    },
    "grow": st.tuples(st.just("grow"), ROLES, st.integers(0, 2), st.lists(BLOCKS, min_size=1, max_size=2)),
    "tool_call_update": st.builds(lambda name, members: tool(name, **members), TOOLS, PATCHED),
    "tool_call_content_chunk": st.builds(
        lambda name, item: {"sessionUpdate": "tool_call_content_chunk", "toolCallId": name, "content": item},
        TOOLS,
        ITEMS,
    ),
    "terminal_output_chunk": WORDS.map(
        lambda words: {"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": coded(words)}
    ),
    "terminal_update": st.sampled_from([{"exitCode": 0}, {"exitCode": 3}, {"signal": "SIGINT"}]).map(
        lambda status: terminal(exitStatus=status)
    ),
    "plan_update": (ITEMS_PLAN | WORDS.map(lambda words: {"type": "markdown", "planId": "m", "content": words})).map(
        lambda plan: {"sessionUpdate": "plan_update", "plan": plan}
    ),
    "plan_removed": st.sampled_from("pqm").map(lambda name: {"sessionUpdate": "plan_removed", "planId": name}),
    "available_commands_update": st.lists(COMMAND, max_size=2).map(
        lambda commands: {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    ),
    "config_option_update": st.builds(options, st.sampled_from(["ask", "code"]), st.booleans()),
    "usage_update": st.integers(0, 9).map(lambda used: {"sessionUpdate": "usage_update", "used": used, "size": 9}),
    "session_info_update": WORDS.map(lambda title: {"sessionUpdate": "session_info_update", "title": title}),
}
STREAMS = st.lists(st.tuples(st.one_of(*SAID.values()), WAITS), max_size=14)

#: The tool calls of a stream have a title from the start, and one of them shows the terminal.
OPENING = [terminal(cwd="/w"), tool("a", title="A", content=[TERMINAL]), tool("b", title="B")]


def grown(stream: list[tuple[Any, float]]) -> list[tuple[Any, float]]:
    """The stream with each `grow` as the whole message that it makes, after all that was said of it."""
    known: dict[str, list[Any]] = {}
    made = []
    for said, wait in stream:
        if isinstance(said, tuple):
            _, role, number, blocks = said
            whole = known.setdefault(f"{role}-{number}", [])
            whole += blocks
            said = {"sessionUpdate": role, "messageId": f"{role}-{number}", "content": list(whole)}
        elif "messageId" in said:
            known.setdefault(said["messageId"], []).append(said["content"])
        made.append((said, wait))
    return made


def say(road: Road, stream: list[tuple[Any, float]]) -> list[Any]:
    for said, wait in stream:
        road.update(said)
        road.wait(wait)
    return [said for said, _ in stream]


def turn(road: Road, number: int, stream: list[tuple[Any, float]], end: Any) -> list[Any]:
    """A prompt, what the agent says to it, and the end: all of it as the agent said it."""
    key, words = f"p{number}", f"prompt {number}"
    road.ask_agent("session/prompt", prompt(words), key)
    road.answer_client(key, {})
    begun = [user_message(f"prompt-{number}", words), {"sessionUpdate": "state_update", "state": "running"}]
    return say(road, [(update, 0) for update in begun] + stream + [(end, 0)])


@MANY
@given(STREAMS, st.sampled_from(["end_turn", "max_tokens", "refusal", "cancelled"]), STREAMS)
@pytest.mark.req("v2-prompt-01")
def test_turns(first: list[Any], reason: str, second: list[Any]) -> None:
    road = Road()
    split = len(first)
    stream = grown([*first, *second])
    usage = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}
    said = say(road, [(update, 0) for update in OPENING])
    said += turn(road, 0, stream[:split], idle(reason, usage=usage))
    assert folded(road.heard) == folded(said)
    said += turn(road, 1, stream[split:], idle("end_turn"))
    assert folded(road.heard) == folded(said)


@MANY
@given(STREAMS)
def test_a_replay(stream: list[Any]) -> None:
    road = Road()
    stream = [*((update, 0) for update in OPENING), *grown(stream)]
    for key in ("first", "again"):
        place = {"sessionId": SESSION, "cwd": "/w", "mcpServers": [], "replayFrom": {"type": "start"}}
        assert road.ask_agent("session/resume", place, key) == [["ask", "session/resume", place]]
        road.heard.clear()
        said = say(road, stream)
        assert road.answer_client(key, {"configOptions": []}) == [["answer", key, {"configOptions": []}]]
        assert folded(road.heard) == folded(said)


def v1_chunk(role: str, words: str, message_id: Any) -> Any:
    return chunk(role, words, message_id)


V1_DIFF = {"type": "diff", "path": "/w/a", "oldText": "one\ntwo", "newText": "one\n2\n"}
V1_ITEMS = BLOCKS.map(lambda block: {"type": "content", "content": block}) | st.sampled_from([V1_DIFF, TERMINAL])
V1_META = st.sampled_from(
    [
        {"terminal_output": {"terminal_id": "x", "data": "ä\n"}},
        {"terminal_exit": {"terminal_id": "x", "exit_code": 1, "signal": None}},
        {"k": 1},
    ]
)
V1_SAID: dict[str, Any] = {
    "chunks": st.builds(v1_chunk, ROLES, WORDS, st.sampled_from([None, "m", "n"])),
    "tool_call": st.builds(
        lambda name, members, items: {**tool(name, title="T", content=items, **members), "sessionUpdate": "tool_call"},
        TOOLS,
        st.fixed_dictionaries({}, optional={"kind": st.just("read"), "status": st.just("pending")}),
        st.lists(V1_ITEMS, max_size=2),
    ),
    "tool_call_update": st.builds(
        lambda name, members: tool(name, **members),
        TOOLS,
        st.fixed_dictionaries(
            {},
            optional={
                "status": st.sampled_from([None, "in_progress", "completed", "failed"]),
                "content": st.none() | st.lists(V1_ITEMS, max_size=2),
                "title": st.none() | WORDS,
                "_meta": V1_META,
            },
        ),
    ),
    "plan": st.lists(ENTRIES, max_size=2).map(lambda entries: {"sessionUpdate": "plan", "entries": entries}),
    "current_mode_update": st.sampled_from(["ask", "code"]).map(
        lambda name: {"sessionUpdate": "current_mode_update", "currentModeId": name}
    ),
}
V1_MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}
V1_OPENING = [
    {
        **tool("a", title="A", content=[TERMINAL], rawInput={"command": "make"}),
        "sessionUpdate": "tool_call",
        "_meta": {"terminal_info": {"terminal_id": "x", "cwd": "/w"}},
    },
    {**tool("b", title="B"), "sessionUpdate": "tool_call"},
]


def opened() -> Line:
    """A client whose v1 agent has modes and no options."""
    line = client()
    line.ask_out("session/new", {"cwd": "/w"}, "n")
    line.answer_in("n", {"sessionId": SESSION, "modes": V1_MODES})
    return line


@MANY
@given(st.lists(st.one_of(*V1_SAID.values()), max_size=14))
def test_what_a_v1_agent_says(stream: list[Any]) -> None:
    line, road = opened(), Road()
    said = [heard for told in (*V1_OPENING, *stream) for heard in line.update_in(told)]
    say(road, [(update, 0.05) for update in said] + [(idle(None), 0)])
    assert folded(road.heard) == folded(said)


OPENED = {"session/new": "sessionId", "session/fork": "sessionId", "session/resume": None}


@pytest.mark.parametrize("name", OPENED)
def test_the_options_of_an_opened_session(name: str) -> None:
    place = {"cwd": "/w", "mcpServers": [], **({} if name == "session/new" else {"sessionId": SESSION})}
    result = {"configOptions": [mode("code"), switch(True)], "_meta": {"k": 1}}
    if OPENED[name] is not None:
        result["sessionId"] = "made"
    road = Road()
    assert road.ask_agent(name, place, "k") == [["ask", name, place]]
    assert road.answer_client("k", result) == [["answer", "k", result]]


@pytest.mark.parametrize(("config_id", "kind", "value"), [("how", "id", "code"), ("fast", "boolean", True)])
def test_a_setting(config_id: str, kind: str, value: Any) -> None:
    road = Road()
    road.ask_agent("session/new", {"cwd": "/w"}, "n")
    road.answer_client("n", {"sessionId": SESSION, "configOptions": [mode("ask"), switch(False)]})
    change = {"sessionId": SESSION, "configId": config_id, "type": kind, "value": value}
    assert road.ask_agent("session/set_config_option", change, "s") == [["ask", "session/set_config_option", change]]
    result = {"configOptions": [mode("code" if kind == "id" else "ask"), switch(kind == "boolean")]}
    assert road.answer_client("s", result) == [["answer", "s", result]]


def test_a_mode_of_a_v1_agent_is_set_as_a_mode_and_shown_as_an_option() -> None:
    line = opened()
    change = {"sessionId": SESSION, "configId": "mode", "type": "id", "value": "code"}
    asked = {"sessionId": SESSION, "modeId": "code"}
    assert line.ask_out("session/set_config_option", change, "s") == [["ask", "session/set_mode", asked]]
    ((_, _, result),) = line.answer_in("s", {})
    assert [option["currentValue"] for option in result["configOptions"]] == ["code"]


def test_the_handshake_and_logging_out() -> None:
    road = Road()
    info = {"name": "me", "version": "1"}
    capabilities = {"auth": {"terminal": {}}, "elicitation": {"form": {}}, "_meta": {"k": 1}}
    params = {"protocolVersion": 2, "info": info, "capabilities": capabilities, "_meta": {"k": 1}}
    assert road.ask_agent("initialize", params, "i") == [["ask", "initialize", {**params, "protocolVersion": 1}]]
    prompts = {"image": {}, "embeddedContext": {}, "_meta": {"k": 1}}
    session = {"prompt": prompts, "mcp": {"stdio": {}, "http": {}}, "delete": {}, "fork": {}}
    result = {
        "protocolVersion": 1,
        "info": info,
        "capabilities": {"session": session, "auth": {}, "_meta": {"k": 1}},
        "authMethods": [{"type": "agent", "methodId": "own", "name": "Own"}],
    }
    assert road.answer_client("i", result) == [["answer", "i", result]]
    assert road.ask_agent("auth/logout", {}, "o") == [["ask", "auth/logout", {}]]
    assert road.answer_client("o", {}) == [["answer", "o", {}]]


def test_closing_a_session_frees_it_on_both_sides() -> None:
    road = Road()
    road.update(chunk("agent_message", "a", "m"))
    assert road.ask_agent("session/close", {"sessionId": SESSION}, "c") == [
        ["ask", "session/close", {"sessionId": SESSION}]
    ]
    assert road.answer_client("c", {}) == [["answer", "c", {}]]
    assert not road.agent.memory.sessions
    assert not road.client.memory.sessions


def test_a_terminal_that_a_v1_agent_makes() -> None:
    line = client()
    params = {"sessionId": SESSION, "command": "make", "args": ["all"]}
    assert line.ask_in("terminal/create", params, "t") == [["ask", "terminal/create", params]]
    answered, told = line.answer_out("t", {"terminalId": "x"})
    assert answered == ["answer", "t", {"terminalId": "x"}]
    assert told[2]["update"] == terminal(command="make all")


#: The test of each method whose row says `state`.
PROVED = {
    "initialize": test_the_handshake_and_logging_out,
    "logout": test_the_handshake_and_logging_out,
    "session/new": test_the_options_of_an_opened_session,
    "session/fork": test_the_options_of_an_opened_session,
    "session/resume": test_the_options_of_an_opened_session,
    "session/load": test_a_replay,
    "session/close": test_closing_a_session_frees_it_on_both_sides,
    "session/set_mode": test_a_mode_of_a_v1_agent_is_set_as_a_mode_and_shown_as_an_option,
    "session/set_config_option": test_a_setting,
    "session/prompt": test_turns,
    "terminal/create": test_a_terminal_that_a_v1_agent_makes,
}


def test_each_state_row_is_proved() -> None:
    assert {row.v1.name for row in METHODS if row.kind is Kind.STATE} == PROVED.keys()
    rows = [row for row in UPDATES if row.kind is Kind.STATE]
    assert {row.v2.__struct_config__.tag for row in rows} <= SAID.keys()
    v1_only = {row.v1.__struct_config__.tag for row in rows if row.v1 is not None} - SAID.keys()
    assert v1_only <= V1_SAID.keys()
