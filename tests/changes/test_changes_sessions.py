"""Opening and closing sessions, and the MCP servers that go with them."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import SESSION, Line, agent, chunk, client, idle, prompt, text, user_message
from changes_said import mode

from duologue.protocol.changes.memory import AgentExtras

PLACE = {"sessionId": SESSION, "cwd": "/w", "mcpServers": []}
START = {"replayFrom": {"type": "start"}}


def behind(**offers: bool) -> Line:
    """A client before a v1 agent that offers less than everything."""
    line = client()
    line.memory.agent = AgentExtras(**offers)
    return line


# --- A v1 client -----------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-session-05", "v1-session-06", "v1-session-07")
def test_a_load_is_a_resume_with_a_replay() -> None:
    line = agent()
    assert line.ask_in("session/load", PLACE, "l") == [["ask", "session/resume", {**PLACE, **START}]]
    replayed = {"sessionUpdate": "agent_message", "messageId": "a", "content": [text("yes")]}
    assert line.update_out(user_message("u", "hi")) == [chunk("user_message", "hi", "u")]
    assert line.update_out(replayed) == [chunk("agent_message", "yes", "a")]
    assert line.answer_out("l", {}) == [["answer", "l", {}]]


def test_a_second_load_tells_everything_again() -> None:
    line = agent()
    for key in ("l1", "l2"):
        line.ask_in("session/load", PLACE, key)
        assert line.update_out(user_message("u", "hi")) == [chunk("user_message", "hi", "u")]
        line.answer_out(key, {})


def test_a_load_that_failed_is_over() -> None:
    line = agent()
    line.ask_in("session/load", PLACE, "l")
    assert line.refuse_out("l", -32002, "unknown") == [["refuse", "l", -32002, "unknown"]]
    line.ask_in("session/prompt", prompt(), "p")
    assert line.update_out(user_message("u")) == []


def test_a_resume_is_a_resume_without_a_replay() -> None:
    line = agent()
    assert line.ask_in("session/resume", PLACE, "r") == [["ask", "session/resume", PLACE]]
    assert line.answer_out("r", {"_meta": {"k": 1}}) == [["answer", "r", {"_meta": {"k": 1}}]]


@pytest.mark.parametrize("name", ["session/list", "session/close", "session/delete"])
def test_other_requests_about_sessions_are_the_same(name: str) -> None:
    params = {} if name == "session/list" else {"sessionId": SESSION}
    result = {"sessions": [{"sessionId": SESSION, "cwd": "/w"}]} if name == "session/list" else {}
    for line, ask, answer in (
        *[(one, one.ask_in, one.answer_out) for one in [agent()]],
        *[(one, one.ask_out, one.answer_in) for one in [client()]],
    ):
        assert ask(name, params, "k") == [["ask", name, params]], line
        assert answer("k", result) == [["answer", "k", result]]


def test_a_fork() -> None:
    line, back = agent(), client()
    result = {"sessionId": "other"}
    assert line.ask_in("session/fork", PLACE, "f") == [["ask", "session/fork", PLACE]]
    assert line.answer_out("f", result) == [["answer", "f", result]]
    assert back.ask_out("session/fork", PLACE, "f") == [["ask", "session/fork", PLACE]]
    assert back.answer_in("f", result) == [["answer", "f", result]]


# --- A v1 agent ------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-session-01", "v2-session-01")
def test_v1_always_gets_a_list_of_servers() -> None:
    assert client().ask_out("session/new", {"cwd": "/w"}, "n") == [
        ["ask", "session/new", {"cwd": "/w", "mcpServers": []}]
    ]


@pytest.mark.req("v1-session-04", "v2-session-07", "v1-session-08")
def test_a_resume_with_a_replay_is_a_load() -> None:
    line = client()
    assert line.ask_out("session/resume", {**PLACE, **START}, "r") == [["ask", "session/load", PLACE]]
    said = line.update_in(chunk("user_message", "hi"))
    assert said == [chunk("user_message", "hi", "duologue-1")]
    assert line.answer_in("r", {"modes": None}) == [["answer", "r", {}]]


def test_each_replay_makes_its_terminals_known() -> None:
    line = client()
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"}
    shown = {**call, "content": [{"type": "terminal", "terminalId": "x"}]}
    for key in ("r1", "r2"):
        line.ask_out("session/resume", {**PLACE, **START}, key)
        known, _ = line.update_in(shown)
        assert known == {"sessionUpdate": "terminal_update", "terminalId": "x"}
        line.answer_in(key, {})


def test_a_resume_without_a_replay_is_a_resume() -> None:
    line = behind(load=False)
    assert line.ask_out("session/resume", PLACE, "r") == [["ask", "session/resume", PLACE]]
    assert line.answer_in("r", {}) == [["answer", "r", {}]]


@pytest.mark.req("v2-session-06", "v1-session-10")
@pytest.mark.parametrize("ends", ["result", "error"])
def test_an_agent_that_can_only_load_is_loaded_without_its_replay(ends: str) -> None:
    line = behind(resume=False)
    assert line.ask_out("session/resume", PLACE, "r") == [["ask", "session/load", PLACE]]
    assert line.update_in(chunk("user_message", "hi")) == []
    assert line.update_in(chunk("agent_message", "yes")) == []
    assert len(line.answer_in("r", {}) if ends == "result" else line.refuse_in("r", -32002)) == 1
    assert len(line.update_in(chunk("agent_message", "now"))) == 1


@pytest.mark.req("v1-session-03", "v1-session-10", "v1-session-16")
@pytest.mark.parametrize(
    ("name", "params", "offers", "missing"),
    [
        ("session/resume", {**PLACE, **START}, {"load": False}, "session/load"),
        ("session/resume", PLACE, {"load": False, "resume": False}, "session/resume"),
        ("session/list", {}, {"list": False}, "session/list"),
        ("auth/logout", {}, {"logout": False}, "logout"),
    ],
)
def test_what_the_agent_does_not_offer_is_refused_here(name: str, params: Any, offers: Any, missing: str) -> None:
    line = behind(**offers)
    assert line.ask_out(name, params, "k") == [["refuse", "k", -32601, f"the agent does not offer {missing}"]]
    assert not line.memory.outbound


def test_a_replay_from_elsewhere_is_refused_here() -> None:
    asked = client().ask_out("session/resume", {**PLACE, "replayFrom": {"type": "_message"}}, "k")
    assert asked[0][:3] == ["refuse", "k", -32602]


@pytest.mark.req("v1-session-15")
def test_a_close_that_the_agent_does_not_offer_cancels_and_forgets() -> None:
    line = behind(close=False)
    assert line.ask_out("session/close", {"sessionId": SESSION}, "c") == [["answer", "c", {}]]
    line.ask_out("session/prompt", prompt(), "p")
    assert line.ask_out("session/close", {"sessionId": SESSION}, "c") == [
        ["notify", "session/cancel", {"sessionId": SESSION}],
        ["answer", "c", {}],
    ]
    assert SESSION not in line.memory.sessions
    assert line.answer_in("p", {"stopReason": "cancelled"})[0] == ["answer", "p", {}]


def test_a_closed_session_is_forgotten() -> None:
    line = client()
    line.update_in(chunk("agent_message", "x"))
    line.ask_out("session/close", {"sessionId": SESSION}, "c")
    line.answer_in("c", {})
    assert not line.memory.sessions


@pytest.mark.parametrize("again", ["session/load", "session/resume"])
def test_what_is_asked_behind_a_close_is_asked_of_the_session_that_is_opened_in_its_place(again: str) -> None:
    line = opened_agent()
    line.ask_in("session/prompt", prompt("old"), "old")
    line.answer_out("old", {})
    line.update_out(user_message("u1"))
    line.ask_in("session/close", {"sessionId": SESSION}, "c")
    line.ask_in(again, PLACE, "r")
    line.ask_in("session/prompt", prompt("new"), "new")
    assert line.answer_out("c", {}) == [["answer", "old", {"stopReason": "cancelled"}], ["answer", "c", {}]]
    line.answer_out("r", {"configOptions": [mode("ask")]})
    line.answer_out("new", {})
    assert line.update_out(user_message("u2")) == []
    assert line.update_out(idle()) == [["answer", "new", {"stopReason": "end_turn"}]]
    asked = line.ask_in("session/set_mode", {"sessionId": SESSION, "modeId": "code"}, "m")
    assert asked[0][:2] == ["ask", "session/set_config_option"]


def opened_agent() -> Line:
    line = agent()
    line.ask_in("session/new", {"cwd": "/w", "mcpServers": []}, "n")
    line.answer_out("n", {"sessionId": SESSION})
    return line


@pytest.mark.parametrize("offers", [{}, {"resume": False}])
def test_a_load_that_nobody_waits_for_any_more_leaves_nothing_behind(offers: Any) -> None:
    line = behind(**offers)
    line.ask_out("session/resume", {**PLACE, **({} if offers else START)}, "r")
    line.edge.forget("r")
    assert len(line.update_in(chunk("agent_message", "now"))) == 1
    session = line.memory.sessions[SESSION]
    assert not (session.replays or session.muted or session.busy)


def test_a_load_that_a_v1_client_has_given_up_leaves_nothing_behind() -> None:
    line = agent()
    line.ask_in("session/load", PLACE, "r")
    line.edge.forget("r")
    assert not line.memory.sessions[SESSION].busy


def test_nothing_is_left_of_a_closed_connection() -> None:
    line = agent()
    line.ask_in("session/prompt", prompt(), "p")
    line.edge.close()
    assert not (line.memory.sessions or line.memory.inbound or line.memory.outbound)


# --- MCP servers -----------------------------------------------------------------------------------------------------

ENV = [{"name": "A", "value": "b"}]
SERVERS_V1: list[dict[str, Any]] = [
    {"name": "files", "command": "/bin/mcp", "args": ["-v"], "env": ENV},
    {"type": "http", "name": "web", "url": "http://h", "headers": ENV},
    {"type": "acp", "name": "own", "serverId": "s"},
]
SERVERS_V2 = [{**SERVERS_V1[0], "type": "stdio"}, *SERVERS_V1[1:]]


@pytest.mark.req("v1-mcp-02", "v1-mcp-03", "v2-mcp-01", "v2-mcp-03")
def test_servers_of_both_versions() -> None:
    sse = {"type": "sse", "name": "old", "url": "http://h", "headers": []}
    asked = agent().ask_in("session/new", {"cwd": "/w", "mcpServers": [*SERVERS_V1, sse]}, "n")
    assert asked[0][2]["mcpServers"] == [*SERVERS_V2, sse]
    bare = [
        {"type": "stdio", "name": "files", "command": "/bin/mcp"},
        {"type": "http", "name": "web", "url": "http://h"},
        sse,
    ]
    asked = client().ask_out("session/new", {"cwd": "/w", "mcpServers": [*SERVERS_V2, *bare]}, "n")
    assert asked[0][2]["mcpServers"] == [
        *SERVERS_V1,
        {"name": "files", "command": "/bin/mcp", "args": [], "env": []},
        {"type": "http", "name": "web", "url": "http://h", "headers": []},
        sse,
    ]


@pytest.mark.req("v2-mcp-04")
def test_a_server_of_a_type_that_v1_does_not_have_is_refused() -> None:
    line = client()
    asked = line.ask_out("session/new", {"cwd": "/w", "mcpServers": [{"type": "_pipe", "name": "x"}]}, "n")
    assert asked == [["refuse", "n", -32602, "protocol version 1 has no MCP server of type '_pipe'"]]
