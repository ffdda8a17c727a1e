"""The handshake and logins across the versions."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import agent, client

from duologue.protocol.changes.memory import AgentExtras, ClientExtras

INFO = {"name": "me", "version": "1"}
META = {"k": 1}
V1_METHODS = [
    {"id": "own", "name": "Own", "description": "d"},
    {"type": "env_var", "id": "key", "name": "Key", "vars": [{"name": "KEY"}], "link": "http://l"},
    {"type": "terminal", "id": "shell", "name": "Shell", "args": ["--login"], "env": {"A": "b"}, "_meta": META},
]
V2_METHODS = [
    {"type": "agent", "methodId": "own", "name": "Own", "description": "d"},
    {"type": "env_var", "methodId": "key", "name": "Key", "vars": [{"name": "KEY"}], "link": "http://l"},
    {
        "type": "terminal",
        "methodId": "shell",
        "name": "Shell",
        "args": ["--login"],
        "env": [{"name": "A", "value": "b"}],
        "_meta": META,
    },
]


# --- A v1 client -----------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-initialize-02", "v2-initialize-04", "v2-initialize-06")
def test_what_a_v1_client_offers() -> None:
    line = agent()
    offered = {
        "fs": {"readTextFile": True},
        "terminal": True,
        "session": {"configOptions": {"boolean": {}}},
        "plan": {},
        "auth": {"terminal": True, "_meta": META},
        "elicitation": {"form": {}},
        "positionEncodings": ["utf-8"],
        "_meta": {"terminal_output": True, **META},
    }
    params = {"protocolVersion": 1, "clientCapabilities": offered, "clientInfo": INFO, "_meta": META}
    asked = line.ask_in("initialize", params, "i")
    capabilities = {
        "auth": {"terminal": {}, "_meta": META},
        "elicitation": {"form": {}},
        "positionEncodings": ["utf-8"],
        "_meta": META,
    }
    heard = {"protocolVersion": 1, "info": INFO, "capabilities": capabilities, "_meta": META}
    assert asked == [["ask", "initialize", heard]]
    assert line.memory.client == ClientExtras(
        read_text_file=True, terminal=True, boolean_options=True, plans=True, terminal_output=True
    )


@pytest.mark.req("all-initialize-02", "v2-initialize-01")
def test_a_v1_client_that_says_nothing_offers_nothing() -> None:
    line = agent()
    ((_, _, heard),) = line.ask_in("initialize", {"protocolVersion": 1}, "i")
    assert heard["info"] == {"name": "unknown", "version": "unknown"}
    assert heard["capabilities"] == {}
    nothing = ClientExtras(boolean_options=False, plans=False, terminal_output=False)
    assert line.memory.client == nothing


@pytest.mark.parametrize(
    "offered",
    [
        {"session": {}, "_meta": {"terminal_output": "yes"}},
        {"session": {"configOptions": {}}, "fs": {"readTextFile": False}, "plan": None},
        {"session": {"configOptions": {"boolean": None}}, "terminal": False, "_meta": {"terminal_output": 1}},
    ],
)
def test_a_marker_that_is_no_object_and_a_flag_that_is_not_true_are_no_offer(offered: Any) -> None:
    line = agent()
    line.ask_in("initialize", {"protocolVersion": 1, "clientCapabilities": offered}, "i")
    assert line.memory.client == ClientExtras(boolean_options=False, plans=False, terminal_output=False)


@pytest.mark.req("v1-initialize-04", "v1-initialize-05", "v1-initialize-08", "v1-initialize-10")
def test_what_a_v2_agent_offers_to_v1() -> None:
    line = agent()
    line.memory.agent = AgentExtras(sse=True)
    line.ask_in("initialize", {"protocolVersion": 1}, "i")
    session = {
        "prompt": {"image": {}, "embeddedContext": {}, "_meta": META},
        "mcp": {"stdio": {}, "http": {}},
        "delete": {},
        "additionalDirectories": {},
        "fork": {},
        "_meta": META,
    }
    result = {
        "protocolVersion": 2,
        "info": INFO,
        "capabilities": {"session": session, "auth": {"_meta": META}, "providers": {}, "_meta": META},
        "authMethods": V2_METHODS,
        "_meta": META,
    }
    markers: dict[str, Any] = {
        name: {} for name in ("list", "delete", "additionalDirectories", "fork", "resume", "close")
    }
    capabilities = {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True, "_meta": META},
        "mcpCapabilities": {"http": True, "sse": True, "acp": False},
        "sessionCapabilities": {**markers, "_meta": META},
        "auth": {"logout": {}, "_meta": META},
        "providers": {},
        "_meta": META,
    }
    told = {"protocolVersion": 1, "agentInfo": INFO, "agentCapabilities": capabilities, "authMethods": V1_METHODS}
    assert line.answer_out("i", result) == [["answer", "i", {**told, "_meta": META}]]


def test_an_agent_without_sessions_and_logins_has_no_markers_for_them() -> None:
    line = agent()
    line.ask_in("initialize", {"protocolVersion": 1}, "i")
    ((_, _, told),) = line.answer_out("i", {"protocolVersion": 2, "info": INFO})
    assert told["agentCapabilities"] == {
        "loadSession": False,
        "promptCapabilities": {},
        "mcpCapabilities": {"sse": False},
    }
    assert told["authMethods"] == []


def test_login_and_logout_of_a_v1_client() -> None:
    line = agent()
    assert line.ask_in("authenticate", {"methodId": "own"}, "a") == [["ask", "auth/login", {"methodId": "own"}]]
    assert line.answer_out("a", {"_meta": META}) == [["answer", "a", {"_meta": META}]]
    assert line.ask_in("logout", {}, "o") == [["ask", "auth/logout", {}]]
    assert line.answer_out("o", {}) == [["answer", "o", {}]]


# --- A v1 agent ------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-initialize-03", "v1-initialize-06", "v1-initialize-11")
def test_what_a_v2_client_offers_to_v1() -> None:
    line = client()
    line.memory.client = ClientExtras(read_text_file=True, terminal=True)
    offered = {"auth": {"terminal": {}}, "elicitation": {"url": {}}, "_meta": META}
    params = {"protocolVersion": 2, "info": INFO, "capabilities": offered, "_meta": META}
    capabilities = {
        "fs": {"readTextFile": True, "writeTextFile": False},
        "terminal": True,
        "session": {"configOptions": {"boolean": {}}},
        "plan": {},
        "auth": {"terminal": True},
        "elicitation": {"url": {}},
        "_meta": {**META, "terminal_output": True},
    }
    told = {"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": INFO, "_meta": META}
    assert line.ask_out("initialize", params, "i") == [["ask", "initialize", told]]


def test_a_client_may_offer_less() -> None:
    line = client()
    line.memory.client = ClientExtras(boolean_options=False, plans=False, terminal_output=False)
    ((_, _, told),) = line.ask_out("initialize", {"protocolVersion": 2, "info": INFO}, "i")
    nothing = {"readTextFile": False, "writeTextFile": False}
    assert told["clientCapabilities"] == {"fs": nothing, "terminal": False}


@pytest.mark.req("v2-initialize-02", "v2-initialize-08", "v2-auth-01")
def test_what_a_v1_agent_offers() -> None:
    line = client()
    line.ask_out("initialize", {"protocolVersion": 2, "info": INFO}, "i")
    offered = {
        "loadSession": True,
        "promptCapabilities": {"image": True, "_meta": META},
        "mcpCapabilities": {"http": True, "sse": True},
        "sessionCapabilities": {"list": {}, "delete": {}, "close": None, "fork": {}},
        "auth": {"logout": {}},
        "_meta": META,
    }
    result = {"protocolVersion": 1, "agentInfo": INFO, "agentCapabilities": offered, "authMethods": V1_METHODS}
    session = {
        "prompt": {"image": {}, "_meta": META},
        "mcp": {"stdio": {}, "http": {}},
        "delete": {},
        "fork": {},
    }
    heard = {
        "protocolVersion": 1,
        "info": INFO,
        "capabilities": {"session": session, "auth": {}, "_meta": META},
        "authMethods": V2_METHODS,
    }
    assert line.answer_in("i", result) == [["answer", "i", heard]]
    assert line.memory.agent == AgentExtras(sse=True, load=True, list=True, resume=False, close=False, logout=True)


def test_a_v1_agent_that_says_nothing_has_sessions_and_no_more() -> None:
    line = client()
    line.ask_out("initialize", {"protocolVersion": 2, "info": INFO}, "i")
    ((_, _, heard),) = line.answer_in("i", {"protocolVersion": 1})
    assert heard["info"] == {"name": "unknown", "version": "unknown"}
    assert heard["capabilities"] == {"session": {"prompt": {}, "mcp": {"stdio": {}}}}
    assert line.memory.agent == AgentExtras(load=False, list=False, resume=False, close=False, logout=False)


def test_ways_to_log_in_that_nobody_knows_are_passed_on() -> None:
    line = client()
    line.ask_out("initialize", {"protocolVersion": 2, "info": INFO}, "i")
    methods = [{"type": "_sso", "id": "x", "name": "X"}]
    ((_, _, heard),) = line.answer_in("i", {"protocolVersion": 1, "authMethods": methods})
    assert heard["authMethods"] == [{"type": "_sso", "methodId": "x", "name": "X"}]
    back = agent()
    back.ask_in("initialize", {"protocolVersion": 1}, "i")
    ((_, _, told),) = back.answer_out("i", {**heard, "protocolVersion": 2})
    assert told["authMethods"] == methods


def test_login_and_logout_of_a_v2_client() -> None:
    line = client()
    assert line.ask_out("auth/login", {"methodId": "own"}, "a") == [["ask", "authenticate", {"methodId": "own"}]]
    assert line.answer_in("a", {}) == [["answer", "a", {}]]
    assert line.ask_out("auth/logout", {}, "o") == [["ask", "logout", {}]]
    assert line.refuse_in("o", -32603, "no") == [["refuse", "o", -32603, "no"]]
