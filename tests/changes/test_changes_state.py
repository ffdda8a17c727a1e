"""State rows: who folds what went through v1 into a transcript has the transcript of what was said."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import (
    SESSION,
    Line,
    agent,
    chunk,
    client,
    fitting,
    idle,
    plain,
    prompt,
    terminal,
    tool,
    updates,
    user_message,
)
from changes_road import Road, folded
from changes_said import OPENING, SAID, STREAMS, TERMINAL, V1_SAID, grown, mode, switch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duologue.protocol.changes.table import METHODS, UPDATES, Kind
from duologue.protocol.v2 import table as v2
from duologue.session import Transcript

MANY = settings(max_examples=250, database=None, derandomize=True, suppress_health_check=list(HealthCheck))


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


@MANY
@given(STREAMS)
@pytest.mark.req("v2-session-07", "v1-session-07")
def test_a_transcript_is_replayed_in_v1_too(stream: list[Any]) -> None:
    said = [*OPENING, *(update for update, _ in grown(stream))]
    transcript = Transcript()
    for update in said:
        transcript.apply(fitting(v2.SESSION_UPDATE.params, {"sessionId": SESSION, "update": update}).update)
    road = Road()
    place = {"sessionId": SESSION, "cwd": "/w", "mcpServers": [], "replayFrom": {"type": "start"}}
    road.ask_agent("session/resume", place, "k")
    say(road, [(plain(update), 0) for update in transcript.snapshot().updates()])
    assert road.answer_client("k", {}) == [["answer", "k", {}]]
    meant = folded(said)
    if not any(item["type"] == "terminal" for entry in meant["entries"] for item in entry["content"]):
        meant["terminals"] = []  # What no tool call shows has no place in v1.
    assert folded(road.heard) == meant


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


CHOICES = st.tuples(
    st.sampled_from(["update", "set_mode", "set_option"]),
    st.sampled_from(["ask", "code"]),
    st.sampled_from(["ask", "code"]),
    st.booleans(),
)


@MANY
@given(st.lists(CHOICES, max_size=8))
def test_the_mode_of_a_v1_client_is_the_value_of_its_option(choices: list[Any]) -> None:
    line = agent()
    line.ask_in("session/new", {"cwd": "/w", "mcpServers": []}, "n")
    ((_, _, opened),) = line.answer_out("n", {"sessionId": SESSION, "configOptions": [mode("ask"), switch(False)]})
    shown = {"mode": opened["modes"]["currentModeId"], "option": chosen(opened)}
    for what, wanted, taken, on in choices:
        agents = [mode(taken), switch(on)]
        for told in changed(line, what, wanted, agents):
            shown |= told
        assert shown == {"mode": taken, "option": taken}


def changed(line: Line, what: str, wanted: str, agents: list[Any]) -> list[Any]:
    """What a v1 client is told of mode and option when the agent's options become these, by its wish or not."""
    if what == "update":
        steps = line.update_out({"sessionUpdate": "config_option_update", "configOptions": agents})
        return [seen(update) for update in steps]
    if what == "set_mode":
        line.ask_in("session/set_mode", {"sessionId": SESSION, "modeId": wanted}, "s")
        told = updates(line.answer_out("s", {"configOptions": agents}))
        return [{"mode": wanted} if step == ["answer", "s", {}] else seen(step) for step in told]
    line.ask_in("session/set_config_option", {"sessionId": SESSION, "configId": "how", "value": wanted}, "s")
    *told, (_, _, result) = updates(line.answer_out("s", {"configOptions": agents}))
    return [*map(seen, told), {"option": chosen(result)}]


def seen(update: Any) -> Any:
    return {"mode": update["currentModeId"]} if "currentModeId" in update else {"option": chosen(update)}


def chosen(told: Any) -> Any:
    return told["configOptions"][0]["currentValue"]


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
