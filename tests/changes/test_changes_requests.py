"""Requests of any shape on the way down to v1 and up again: what state rows keep, and that lossy ones settle."""

from __future__ import annotations

from typing import Any

import pytest
from changes_kit import SESSION, agent, client, decoded, plain
from changes_road import Road
from changes_said import mode, switch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from protocol_values import values

from duologue.protocol.base import Unknown
from duologue.protocol.changes import capabilities
from duologue.protocol.changes.memory import AgentExtras, ClientExtras
from duologue.protocol.changes.table import METHODS, PARTS, Kind
from duologue.protocol.v1 import capabilities as v1
from duologue.protocol.v2 import capabilities as v2
from duologue.protocol.v2.config import SessionConfigOption
from duologue.protocol.version import V2

MANY = settings(max_examples=60, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
SWITCHES = [st.booleans()] * 6


def said(name: str) -> Any:
    """What the codec leaves of JSON of any shape that v2's schema allows for a type."""
    return values("v2", name).map(lambda value: plain(decoded(V2.types.find(name), value)))


# --- Capabilities -----------------------------------------------------------------------------------------------------

#: Objects that hold markers and are none themselves.
GROUPS = {
    "fs",
    "auth",
    "prompt",
    "mcp",
    "configOptions",
    "promptCapabilities",
    "mcpCapabilities",
    "sessionCapabilities",
}


def offered(value: Any, path: str = "") -> set[str]:
    """The markers that are set, by path."""
    if not isinstance(value, dict):
        return set() if value in (None, False) else {f"{path}={value}"}
    inside = {
        one for name, each in value.items() if name != "_meta" for one in offered(each, f"{path}.{name}".strip("."))
    }
    name = path.rpartition(".")[2]
    # A client's `session` of v1 is a group, an agent's of v2 a marker.
    return inside if not path or name in GROUPS or (name == "session" and inside) else {path, *inside}


@MANY
@given(st.builds(ClientExtras, *SWITCHES), said("ClientCapabilities"))
def test_a_client_offers_the_same_through_v1(extras: ClientExtras, value: Any) -> None:
    down = plain(capabilities.client_down(extras, decoded(v2.ClientCapabilities, value)))
    heard = decoded(v1.ClientCapabilities, down)
    assert capabilities.client_extras(heard) == extras
    assert offered(plain(capabilities.client_up(heard))) == offered(value)


@MANY
@given(st.builds(AgentExtras, *SWITCHES), said("AgentCapabilities"), st.booleans())
def test_an_agent_offers_the_same_through_v1(extras: AgentExtras, value: Any, logs_in: bool) -> None:
    """That it has sessions and starts MCP servers is a matter of course in v1."""
    value = {**value, "session": {**(value.get("session") or {})}}
    value["session"]["mcp"] = {**(value["session"].get("mcp") or {}), "stdio": {}}
    down = plain(capabilities.agent_down(extras, decoded(v2.AgentCapabilities, value), logs_in))
    heard = decoded(v1.AgentCapabilities, down)
    assert capabilities.agent_extras(heard) == AgentExtras(
        **{name: getattr(extras, name) for name in AgentExtras.__struct_fields__ if name != "logout"},
        logout=extras.logout and logs_in,
    )
    assert offered(plain(capabilities.agent_up(heard))) == offered(value)


@MANY
@given(values("v1", "ClientCapabilities"), values("v1", "AgentCapabilities"))
def test_both_offer_the_same_through_v2(client_value: Any, agent_value: Any) -> None:
    there = decoded(v1.ClientCapabilities, client_value)
    back = capabilities.client_down(capabilities.client_extras(there), capabilities.client_up(there))
    assert offered(plain(back)) - {"session"} == offered(plain(there)) - {"session"}
    theirs = decoded(v1.AgentCapabilities, agent_value)
    again = capabilities.agent_down(capabilities.agent_extras(theirs), capabilities.agent_up(theirs), True)
    assert offered(plain(again)) == offered(plain(theirs))


@MANY
@given(said("InitializeRequest"), said("InitializeResponse"))
def test_the_handshake(params: Any, result: Any) -> None:
    road = Road()
    ((_, _, asked),) = road.ask_agent("initialize", params, "i")
    assert {**asked, "capabilities": 0} == {**params, "protocolVersion": 1, "capabilities": 0}
    ((_, _, answered),) = road.answer_client("i", result)
    named = {**answered, "capabilities": 0, "authMethods": 0}
    assert named == {**result, "protocolVersion": 1, "capabilities": 0, "authMethods": 0}


# --- Sessions ---------------------------------------------------------------------------------------------------------

OPENING = {
    "session/new": ("NewSessionRequest", "NewSessionResponse"),
    "session/fork": ("ForkSessionRequest", "ForkSessionResponse"),
    "session/resume": ("ResumeSessionRequest", "ResumeSessionResponse"),
}


def known_options(options: list[Any]) -> list[Any]:
    return [one for one in options if not isinstance(decoded(SessionConfigOption, one), Unknown)]


@pytest.mark.parametrize("replays", [False, True])
@pytest.mark.parametrize("name", OPENING)
def test_a_session_is_opened(name: str, replays: bool) -> None:
    asks, answers = OPENING[name]

    @MANY
    @given(said(asks), said(answers))
    def opens(params: Any, result: Any) -> None:
        params.pop("replayFrom", None)
        if replays and name == "session/resume":
            params["replayFrom"] = {"type": "start"}
        params["mcpServers"] = [one for one in params.get("mcpServers", []) if one["type"] in ("stdio", "http", "acp")]
        road = Road()
        ((_, asked, told),) = road.ask_agent(name, params, "k")
        assert (asked, told) == (name, served(params))
        if isinstance(result.get("configOptions"), list):
            result["configOptions"] = known_options(result["configOptions"])
        assert road.answer_client("k", result) == [["answer", "k", result]]

    opens()


def served(params: Any) -> Any:
    """The params with the lists that v2 may leave out."""
    lists: dict[str, Any] = {"stdio": {"args": [], "env": []}, "http": {"headers": []}}
    servers = [{**lists.get(each["type"], {}), **each} for each in params["mcpServers"]]
    return {**params, "mcpServers": servers}


@MANY
@given(
    st.sampled_from([("how", "id", "code"), ("how", "id", "ask"), ("fast", "boolean", True), ("other", "id", "x")]),
    st.sampled_from(["ask", "code"]),
    st.booleans(),
    said("SetSessionConfigOptionResponse"),
)
def test_an_option_is_set(wanted: tuple[str, str, Any], current: str, on: bool, result: Any) -> None:
    road = Road()
    road.ask_agent("session/new", {"cwd": "/w", "mcpServers": []}, "n")
    road.answer_client("n", {"sessionId": SESSION, "configOptions": [mode("ask"), switch(False)]})
    config_id, kind, value = wanted
    change = {"sessionId": SESSION, "configId": config_id, "type": kind, "value": value}
    assert road.ask_agent("session/set_config_option", change, "s") == [["ask", "session/set_config_option", change]]
    options = [mode(current), switch(on), *known_options(result["configOptions"])]
    result = {**result, "configOptions": options}
    assert road.answer_client("s", result) == [["answer", "s", result]]


# --- Lossy ones settle ------------------------------------------------------------------------------------------------


@MANY
@given(said("RequestPermissionRequest"), said("RequestPermissionResponse"))
def test_permission_requests(params: Any, result: Any) -> None:
    options = [one for one in params["options"] if not one["kind"].startswith("_")]
    assume(options)
    road = Road()
    (once,) = road.ask_client("session/request_permission", params, "k")
    assert once[2]["options"] == options
    assert Road().ask_client("session/request_permission", once[2], "k") == [once]
    ((_, _, told),) = road.client.answer_out("k", result)
    ((_, _, heard),) = road.agent.answer_in("k", told)
    known = result["outcome"]["outcome"] in ("selected", "cancelled")
    assert heard == (result if known else {**result, "outcome": {"outcome": "cancelled"}})


@MANY
@given(said("SuggestNesResponse"), said("RejectNesNotification"))
def test_suggested_edits(result: Any, rejected: Any) -> None:
    asked = {"sessionId": SESSION, "uri": "file:///a", "position": {"line": 1, "character": 2}, "version": 1}
    heard: list[Any] = []
    for shown in range(2):
        line, back = agent(), client()
        line.ask_in("nes/suggest", {**asked, "triggerKind": "manual"}, "s")
        back.ask_out("nes/suggest", {**asked, "triggerKind": "manual"}, "s")
        ((_, _, told),) = line.answer_out("s", result if not shown else heard[0])
        ((_, _, came),) = back.answer_in("s", told)
        heard.append(came)
    assert heard[0] == heard[1]
    kinds = ("edit", "jump", "rename", "searchAndReplace")
    assert heard[0]["suggestions"] == [one for one in result["suggestions"] if one["kind"] in kinds]
    ((_, _, told),) = client().notify_out("nes/reject", rejected)
    ((_, _, came),) = agent().notify_in("nes/reject", told)
    known = not (rejected.get("reason") or "").startswith("_")
    assert came == (rejected if known else {name: one for name, one in rejected.items() if name != "reason"})


def test_each_row_has_its_proof() -> None:
    state = {row.v1.name for row in METHODS if row.kind is Kind.STATE}
    assert state >= {"initialize", *OPENING, "session/set_config_option"}
    assert {row.v1.name for row in METHODS if row.kind is Kind.LOSSY} == {
        "session/request_permission",
        "nes/suggest",
        "nes/reject",
    }
    assert not [row for row in PARTS if row.kind is Kind.STATE]
