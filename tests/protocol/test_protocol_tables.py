"""The tables of methods against the facts of the schemas, and what is said about versions."""

from __future__ import annotations

import subprocess
import sys
from functools import reduce
from typing import Any

import msgspec
import pytest
from protocol_facts import VERSIONS, facts, unmarked, variants

from duologue.protocol import find_type
from duologue.protocol.method import AGENT, BOTH, Key, Method, Notification, Request, Side
from duologue.protocol.version import SUPPORTED, V1, V2, Version, added, changed, negotiate, removed

BY_NAME = {"v1": V1, "v2": V2}
SIDES = {"agent": [Side.AGENT], "client": [Side.CLIENT], "both": list(Side), "protocol": list(Side)}


def rows(version: str) -> dict[Key, Any]:
    """The methods of a schema by key, each with its types and whether it is stable."""
    return {
        Key(side, row["name"], row["answered"]): (row["params"], row.get("result"), row["stable"])
        for row in facts(version)["methods"]
        for side in SIDES[row["side"]]
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_a_table_has_the_methods_of_the_schema(version: str) -> None:
    assert BY_NAME[version].methods.keys() == rows(version).keys()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_method_has_the_types_of_the_schema(version: str) -> None:
    for key, (params, result, stable) in rows(version).items():
        method = BY_NAME[version].methods[key]
        assert method.params is find_type(version, params) or method.params == find_type(version, params)
        assert method.stable is stable
        if isinstance(method, Request):
            assert method.result == find_type(version, result)


# What each envelope carries: the methods by who receives them. A response goes the other way than its request.
CARRIERS = {
    "AgentRequest": (Side.CLIENT, True, "params"),
    "ClientRequest": (Side.AGENT, True, "params"),
    "AgentNotification": (Side.CLIENT, False, "params"),
    "ClientNotification": (Side.AGENT, False, "params"),
    "AgentResponse": (Side.AGENT, True, "result"),
    "ClientResponse": (Side.CLIENT, True, "result"),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("envelope", CARRIERS)
def test_an_envelope_carries_what_the_table_says(version: str, envelope: str) -> None:
    receiver, answered, member = CARRIERS[envelope]
    said = facts(version)["types"][envelope]
    carrier = said["alternatives"][0]["members"] if "alternatives" in said else said["members"]
    carried = {each["ref"] for each in carrier[member]["type"]["any_of"]} - {"ExtRequest", "ExtResponse"}
    carried -= {"ExtNotification"}
    expected = {
        row["result" if member == "result" else "params"]
        for row in facts(version)["methods"]
        if receiver in SIDES[row["side"]] and row["answered"] is answered and row["side"] != "protocol"
    }
    assert carried == expected
    methods = [
        m for key, m in BY_NAME[version].methods.items() if key.receiver is receiver and key.answered is answered
    ]
    table = [getattr(method, member) for method in methods if method.name != "$/cancel_request"]
    assert len(table) == len(expected)
    assert all(find_type(version, name) in table for name in carried)


def capability_types(version: Version, side: Side) -> Any:
    ours = "agent" if side is Side.AGENT else "client"
    initialize = version.methods[Key(Side.AGENT, "initialize", True)]
    assert isinstance(initialize, Request)
    holder = initialize.result if side is Side.AGENT else initialize.params
    return _member(holder, f"{ours}_capabilities" if version is V1 else "capabilities")


def _member(struct: Any, name: str) -> Any:
    """The type of a member: the struct within its optional union, or what stands there."""
    hint = {field.name: field.type for field in msgspec.structs.fields(struct)}[name]
    inner = unmarked(hint)[0]
    return next(iter(variants(inner)), inner)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_method_needs_is_a_capability_of_its_receiver(version: str) -> None:
    needy = [(key, method) for key, method in BY_NAME[version].methods.items() if method.needs]
    assert needy
    for key, method in needy:
        path = (method.needs or "").split(".")
        reduce(_member, path, capability_types(BY_NAME[version], key.receiver))


@pytest.mark.parametrize(
    ("version", "receiver", "method", "needs"),
    [
        pytest.param(*row[:4], marks=pytest.mark.req(*row[4:]))
        for row in [
            (V1, Side.AGENT, "session/load", "load_session", "v1-session-03"),
            (V1, Side.AGENT, "session/resume", "session_capabilities.resume", "v1-session-10"),
            (V1, Side.AGENT, "session/close", "session_capabilities.close", "v1-session-15"),
            (V1, Side.AGENT, "session/list", "session_capabilities.list", "v1-session-16"),
            (V1, Side.AGENT, "session/delete", "session_capabilities.delete", "all-session-21"),
            (V2, Side.AGENT, "session/delete", "session.delete", "all-session-21"),
            (V1, Side.AGENT, "session/fork", "session_capabilities.fork", "v1u-session-01"),
            (V2, Side.AGENT, "session/fork", "session.fork", "v2u-session-01"),
            (V1, Side.AGENT, "logout", "auth.logout", "v1-auth-07"),
            (V1, Side.AGENT, "session/new", None, "v1-initialize-13"),
            (V1, Side.AGENT, "session/prompt", None, "v1-initialize-13"),
            (V2, Side.AGENT, "session/new", "session", "v2-initialize-07"),
            (V2, Side.AGENT, "session/list", "session", "v2-session-03"),
            (V2, Side.AGENT, "session/resume", "session", "v2-session-04"),
            (V2, Side.AGENT, "session/close", "session", "v2-session-04"),
            (V2, Side.AGENT, "auth/login", None, "v2-auth-07"),
            (V2, Side.AGENT, "auth/logout", None, "v2-auth-07"),
            (V1, Side.CLIENT, "session/request_permission", None, "v1-initialize-14"),
            (V1, Side.CLIENT, "terminal/create", "terminal", "v1-terminal-01"),
            (V1, Side.CLIENT, "fs/read_text_file", "fs.read_text_file", "v1-fs-10"),
            (V1, Side.CLIENT, "fs/write_text_file", "fs.write_text_file", "v1-fs-10"),
            (V2, Side.CLIENT, "elicitation/create", "elicitation", "all-elicitation-01"),
            (V2, Side.AGENT, "nes/start", "nes", "v2u-nes-01"),
            (V2, Side.AGENT, "providers/list", "providers", "allu-providers-01"),
        ]
    ],
)
def test_a_method_is_opened_by(version: Version, receiver: Side, method: str, needs: str | None) -> None:
    found = version.request(receiver, method)
    assert found
    assert found.needs == needs


@pytest.mark.req("allu-documents-01")
@pytest.mark.parametrize("version", SUPPORTED)
def test_each_document_event_has_its_own_capability(version: Version) -> None:
    events = {key.name: method.needs for key, method in version.methods.items() if key.name.startswith("document/")}
    assert events == {
        "document/didOpen": "nes.events.document.did_open",
        "document/didChange": "nes.events.document.did_change",
        "document/didClose": "nes.events.document.did_close",
        "document/didSave": "nes.events.document.did_save",
        "document/didFocus": "nes.events.document.did_focus",
    }


@pytest.mark.req("v2-versioning-03")
@pytest.mark.parametrize("version", SUPPORTED)
def test_no_unstable_method_is_there_by_the_version_alone(version: Version) -> None:
    """Each has a capability, except for the MCP tunnel, which a client opens by what it puts into a session."""
    free = {method.name for method in version.unstable if method.needs is None}
    assert free == {"mcp/connect", "mcp/message", "mcp/disconnect"}


def test_what_changed_is_an_expression() -> None:
    assert {key.name for key in added(V1, V2)} == {"auth/login", "auth/logout"}
    assert {key.name for key in removed(V1, V2)} == {
        *("authenticate", "logout", "session/load", "session/set_mode", "fs/read_text_file", "fs/write_text_file"),
        *(f"terminal/{verb}" for verb in ("create", "output", "wait_for_exit", "kill", "release")),
    }
    assert {key.name for key in changed(V1, V2)} >= {"initialize", "session/prompt", "session/update"}
    assert not changed(V1, V1)


def test_an_unchanged_method_is_one_value() -> None:
    """A row that differs in nothing is written once."""

    def said(method: Method) -> tuple[Any, ...]:
        result = method.result if isinstance(method, Request) else None
        return method.params, result, method.receivers, method.needs, method.stable

    for key in changed(V1, V2):
        assert said(V1.methods[key]) != said(V2.methods[key])


def test_a_method_is_found_by_receiver_and_name() -> None:
    assert V2.request(Side.AGENT, "session/new") is V2.methods[Key(Side.AGENT, "session/new", True)]
    assert V2.request(Side.CLIENT, "session/new") is None
    assert V2.notification(Side.AGENT, "session/new") is None
    assert V2.notification(Side.AGENT, "mcp/message") is V2.methods[Key(Side.AGENT, "mcp/message", False)]


def test_a_method_outside_of_the_specification_takes_anything() -> None:
    method = Request.untyped("_example.com/ping")
    assert (method.params, method.result, method.receivers) == (Any, Any, BOTH)
    assert Notification.untyped("_example.com/pinged", AGENT).params is Any


@pytest.mark.parametrize(("proposed", "answered"), [(1, V1), (2, V2), (0, V2), (3, V2), (65535, V2)])
def test_an_agent_answers_with_the_proposed_version_or_its_newest(proposed: int, answered: Version) -> None:
    assert negotiate(proposed) is answered


def test_an_agent_with_one_version_answers_with_it() -> None:
    assert negotiate(2, [V1]) is V1
    assert negotiate(1, [V2]) is V2


def test_a_version_has_a_name() -> None:
    assert [version.name for version in SUPPORTED] == ["v1", "v2"]
    assert repr(V2) == "Version(2)"


def test_a_table_loads_no_topic_before_a_type_is_asked_for() -> None:
    code = """
import sys
from duologue.protocol.version import V1, V2
assert V1.methods and V2.methods
print(*sorted(name for name in sys.modules if name.startswith("duologue.protocol.")))
from duologue.protocol.v2.table import SESSION_CANCEL
SESSION_CANCEL.params
print(*sorted(name for name in sys.modules if name.startswith("duologue.protocol.v2.")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = (set(line.split()) for line in done.stdout.splitlines())
    rooms = {f"duologue.protocol.{room}{table}" for room in ("common", "v1", "v2") for table in ("", ".table")}
    assert before == rooms | {f"duologue.protocol.{name}" for name in ("method", "topics", "version")}
    assert "duologue.protocol.v2.prompt" in after
    assert "duologue.protocol.v2.updates" not in after
