"""Shapes that need more than a struct: untagged unions, second tags, open unions, three states, things left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET

from duologue.codec import DoesNotFit, decode, encode
from duologue.protocol import find_type, v1, v2
from duologue.protocol.base import Unknown

OPTIONS = [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]


def read(version: str, name: str, value: Any) -> Any:
    return decode(find_type(version, name), json.dumps(value).encode())


def written(value: Any) -> Any:
    return json.loads(encode(value))


def update(version: str, **members: Any) -> Any:
    name = {"v1": "SessionNotification", "v2": "UpdateSessionNotification"}[version]
    return read(version, name, {"sessionId": "s", "update": members}).update


# --- Shapes without a tag ---------------------------------------------------------------------------------------------


@pytest.mark.req("v1-mcp-02")
def test_field_bug_161_a_v1_server_without_a_type_is_a_process() -> None:
    said = {"name": "n", "command": "/bin/n", "args": [], "env": []}
    server = read("v1", "McpServer", said)
    assert server == v1.StdioMcpServer(name="n", command="/bin/n", args=[], env=[])
    assert written(server) == said


def test_field_bug_161_a_v1_server_may_say_that_it_is_a_process() -> None:
    """Some clients send the tag of version 2; we never do."""
    server = read("v1", "McpServer", {"type": "stdio", "name": "n", "command": "/bin/n", "args": []})
    assert written(server) == {"name": "n", "command": "/bin/n", "args": [], "env": []}


@pytest.mark.req("v1-mcp-03", "v1u-mcp-01")
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"type": "http", "name": "n", "url": "http://a", "headers": []}, v1.HttpMcpServer),
        ({"type": "sse", "name": "n", "url": "http://a", "headers": []}, v1.SseMcpServer),
        ({"type": "acp", "name": "n", "serverId": "1"}, v1.AcpMcpServer),
    ],
)
def test_other_v1_servers_have_their_type(said: Any, expected: type) -> None:
    server = read("v1", "McpServer", said)
    assert type(server) is expected
    assert written(server) == said


@pytest.mark.req("v2-mcp-04")
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_server_of_unknown_type_is_not_taken_for_a_process(version: str) -> None:
    said = {"type": "_pipe", "name": "n", "command": "/bin/n", "args": [], "env": []}
    assert read(version, "McpServer", said) == Unknown(said)


@pytest.mark.req("v2-mcp-01")
def test_a_v2_server_without_a_type_is_refused() -> None:
    with pytest.raises(DoesNotFit, match=r"\$\.type"):
        read("v2", "McpServer", {"name": "n", "command": "/bin/n"})


@pytest.mark.req("v1-auth-01", "v1-auth-02")
def test_a_v1_login_without_a_type_is_the_agents_own() -> None:
    bare = read("v1", "AuthMethod", {"id": "a", "name": "A"})
    assert bare == read("v1", "AuthMethod", {"type": "agent", "id": "a", "name": "A"})
    assert bare == v1.AgentAuthMethod(id="a", name="A")
    assert written(bare) == {"id": "a", "name": "A"}


@pytest.mark.req("v1-initialize-12", "all-auth-02", "v2-auth-01", "v2-auth-09")
def test_one_bad_login_hides_no_other() -> None:
    bad, unknown = {"type": "agent", "id": "a"}, {"type": "_card", "id": "b", "name": "B"}
    methods = [bad, unknown, {"id": "c", "name": "C"}]
    answer = read("v1", "InitializeResponse", {"protocolVersion": 1, "authMethods": methods})
    assert answer.auth_methods == [Unknown(unknown), v1.AgentAuthMethod(id="c", name="C")]
    unknown = {"type": "_card", "methodId": "b", "name": "B"}
    methods = [{"type": "agent", "id": "a", "name": "A"}, unknown, {"type": "_card"}]
    answer = read("v2", "InitializeResponse", {"protocolVersion": 2, "info": INFO, "authMethods": methods})
    assert answer.auth_methods == [Unknown(unknown)]


INFO = {"name": "n", "version": "1"}


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_resource_is_text_or_bytes(version: str) -> None:
    def block(**resource: Any) -> Any:
        return read(version, "ContentBlock", {"type": "resource", "resource": {"uri": "a:", **resource}})

    assert block(text="t").resource == v2.TextResourceContents(uri="a:", text="t")
    assert block(blob="AA==").resource == v2.BlobResourceContents(uri="a:", blob="AA==")
    assert block(blob="AA==", text=None).resource == v2.BlobResourceContents(uri="a:", blob="AA==")
    with pytest.raises(DoesNotFit, match=r"\$\.resource\.text"):
        block()


@pytest.mark.req("all-config-01", "v2-config-01")
@pytest.mark.parametrize(("version", "option", "group"), [("v1", "id", "group"), ("v2", "configId", "groupId")])
def test_values_are_all_grouped_or_all_flat(version: str, option: str, group: str) -> None:
    def select(options: list[Any]) -> Any:
        said = {"type": "select", option: "o", "name": "O", "currentValue": "a", "options": options}
        found = read(version, "ConfigOptionUpdate", {"configOptions": [said]})
        assert not found.config_options or written(found.config_options) == [said]
        return found.config_options[0].options if found.config_options else None

    flat = [v2.SessionConfigSelectOption(value="a", name="A"), v2.SessionConfigSelectOption(value="b", name="B")]
    grouped = {group: "g", "name": "G", "options": OPTIONS}
    assert select([]) == []
    assert select(OPTIONS) == flat
    assert select([grouped])[0].options == flat
    assert select([*OPTIONS, grouped]) is None
    assert select([grouped, *OPTIONS]) is None


@pytest.mark.req("v1-config-04")
def test_a_v1_value_is_an_id_unless_it_is_a_boolean() -> None:
    def setting(**members: Any) -> Any:
        said = {"sessionId": "s", "configId": "c", **members}
        request = read("v1", "SetSessionConfigOptionRequest", said)
        assert written(request) == said
        return request.value

    assert setting(value="a") == "a"
    assert setting(value="a", type="id") == "a"
    assert setting(value=True, type="boolean") is True
    with pytest.raises(DoesNotFit, match=r"\$\.value"):
        setting(value=1)


@pytest.mark.req("v2-config-02")
def test_a_v2_value_has_a_type() -> None:
    def setting(**members: Any) -> Any:
        return read("v2", "SetSessionConfigOptionRequest", {"sessionId": "s", "configId": "c", **members})

    assert setting(type="id", value="a") == v2.SetIdConfigOption(session_id="s", config_id="c", value="a")
    assert setting(type="boolean", value=False) == v2.SetBooleanConfigOption(session_id="s", config_id="c", value=False)
    assert isinstance(setting(type="_number", value=3), Unknown)
    wrongs: list[dict[str, Any]] = [{"value": "a"}, {"type": "id", "value": True}, {"type": "_number"}]
    for wrong in wrongs:
        with pytest.raises(DoesNotFit):
            setting(**wrong)


# --- Open unions and enums --------------------------------------------------------------------------------------------


@pytest.mark.req("v2-extensibility-03")
@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("tag", ["_vendor_note", "future_note"])
def test_an_unknown_update_is_kept(version: str, tag: str) -> None:
    found = update(version, sessionUpdate=tag, content={"any": [1, None]})
    assert found == Unknown({"sessionUpdate": tag, "content": {"any": [1, None]}})
    assert written(found) == found.raw


@pytest.mark.req("v2-updates-10")
def test_a_known_update_that_is_bad_is_an_error() -> None:
    with pytest.raises(DoesNotFit, match=r"\$\.update\.plan"):
        update("v2", sessionUpdate="plan_update")


@pytest.mark.req("v2-updates-12", "v2-updates-13")
def test_an_unknown_state_is_kept_whole() -> None:
    assert update("v2", sessionUpdate="state_update", state="idle", stopReason="end_turn") == v2.StateUpdateEvent(
        state=v2.SessionState.IDLE, stop_reason=v2.StopReason.END_TURN
    )
    raw = {"sessionUpdate": "state_update", "state": "_paused", "until": 5}
    assert update("v2", **raw) == Unknown(raw)
    with pytest.raises(DoesNotFit, match=r"\$\.update\.state"):
        update("v2", sessionUpdate="state_update", state=3)


@pytest.mark.req("v1-tools-04", "v2-tools-09")
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_unknown_kinds_and_states_of_a_tool_call_are_kept(version: str) -> None:
    table = {"type": "_table", "rows": []}
    said = {"toolCallId": "1", "kind": "paint", "status": "_queued", "title": "T", "content": [table]}
    found = update(version, sessionUpdate="tool_call_update", **said)
    assert (found.kind, found.kind.known) == ("paint", False)
    assert (found.status, found.status.known) == ("_queued", False)
    assert found.content == [Unknown(table)]
    assert written(found) == {"sessionUpdate": "tool_call_update", **said}
    assert v2.ToolKind.READ.known


@pytest.mark.req("v2-tools-17", "v2-tools-11")
def test_unknown_changes_of_files_are_kept() -> None:
    changes: list[dict[str, Any]] = [
        {"operation": "_chmod", "mode": 3},
        {"operation": "add", "path": "/a", "fileType": "socket"},
        {"operation": "move", "oldPath": "/a", "path": "/b"},
        {"operation": "copy", "path": "/b"},
    ]
    said = {"changes": changes, "patch": {"format": "_html", "text": ""}}
    found = read("v2", "Diff", said)
    assert found.changes == [
        Unknown(changes[0]),
        v2.AddChange(path="/a", file_type=v2.DiffFileType("socket")),
        v2.MoveChange(old_path="/a", path="/b"),
    ]
    assert written(found) == {**said, "changes": changes[:3]}
    assert read("v2", "Diff", {"changes": [], "patch": None}).patch is None


@pytest.mark.req("v2-plan-05")
def test_unknown_plans_are_kept() -> None:
    raw = {"type": "_board", "planId": "1"}
    assert update("v2", sessionUpdate="plan_update", plan=raw).plan == Unknown(raw)
    with pytest.raises(DoesNotFit, match="planId"):
        update("v2", sessionUpdate="plan_update", plan={"type": "_board"})


@pytest.mark.req("v2-content-02", "v2-content-04", "v1-content-01")
def test_an_unknown_block_leaves_its_neighbours_alone() -> None:
    chart = {"type": "_vendor_chart", "data": [1]}
    icons = [{"src": "a:", "theme": "_sepia"}, {"theme": "dark"}]
    link = {"type": "resource_link", "name": "n", "uri": "a:", "icons": icons}
    text = {"type": "text", "text": "t", "annotations": 3}
    found = update("v2", sessionUpdate="agent_message", messageId="1", content=[text, chart, link])
    assert found.content == [
        v2.TextBlock(text="t"),
        Unknown(chart),
        v2.ResourceLinkBlock(name="n", uri="a:", icons=[v2.Icon(src="a:", theme=v2.IconTheme("_sepia"))]),
    ]
    audience = read("v1", "TextContent", {"text": "t", "annotations": {"audience": ["robot", "user"]}})
    assert written(audience.annotations) == {"audience": ["robot", "user"]}


@pytest.mark.req("all-config-07", "all-config-11")
@pytest.mark.parametrize(("version", "option"), [("v1", "id"), ("v2", "configId")])
def test_an_unknown_config_option_leaves_its_neighbours_alone(version: str, option: str) -> None:
    slider = {"type": "slider", option: "s", "name": "S"}
    switch = {"type": "boolean", option: "b", "name": "B", "currentValue": True, "category": "nebula"}
    found = read(version, "ConfigOptionUpdate", {"configOptions": [switch, slider, switch, {"type": "boolean"}]})
    assert written(found) == {"configOptions": [switch, slider, switch]}
    assert found.config_options[1] == Unknown(slider)


@pytest.mark.req("v2-commands-02", "v2-commands-01")
def test_an_unknown_command_input_is_kept() -> None:
    picker = {"type": "_picker", "values": []}
    found = read("v2", "AvailableCommand", {"name": "n", "description": "d", "input": picker})
    assert found.input == Unknown(picker)
    bare = read("v2", "AvailableCommand", {"name": "n", "description": "d", "input": {"type": "text"}})
    assert bare.input is UNSET


@pytest.mark.req("all-elicitation-05")
def test_an_unknown_elicitation_is_none_that_we_know() -> None:
    raw = {"mode": "_voice", "message": "m", "sessionId": "s"}
    assert read("v1", "CreateElicitationRequest", raw) == Unknown(raw)
    with pytest.raises(DoesNotFit, match=r"\$\.mode"):
        read("v1", "CreateElicitationRequest", {"message": "m", "sessionId": "s"})
    assert read("v2", "CreateElicitationResponse", {"action": "_later"}) == Unknown({"action": "_later"})


@pytest.mark.req("all-elicitation-10", "all-elicitation-12", "all-elicitation-44")
def test_a_form_keeps_fields_of_unknown_kinds() -> None:
    assert read("v1", "ElicitationSchema", {}) == v1.ElicitationSchema()
    titled = {"anyOf": [{"const": "a", "title": "A"}]}
    properties = {
        "colour": {"type": "_color"},
        "host": {"type": "string", "format": "hostname"},
        "many": {"type": "array", "items": {"type": "_color"}},
        "named": {"type": "array", "items": titled},
        "plain": {"type": "array", "items": {"type": "string", "enum": ["a"]}},
    }
    found = read("v2", "ElicitationSchema", {"properties": properties}).properties
    assert found["colour"] == Unknown({"type": "_color"})
    assert found["host"].format == "hostname"
    assert found["many"].items == Unknown({"type": "_color"})
    assert found["named"].items == v2.TitledMultiSelectItems(any_of=[v2.EnumOption(const="a", title="A")])
    assert found["plain"].items == v2.StringItems(enum=["a"])
    assert written(found) == properties


@pytest.mark.req("v2-permissions-01")
def test_a_v2_permission_may_be_about_anything() -> None:
    option = {"optionId": "1", "name": "n", "kind": "_allow_today"}
    raw = {"type": "_door"}
    said = {"sessionId": "s", "title": "t", "subject": raw, "options": [option]}
    found = read("v2", "RequestPermissionRequest", said)
    assert found.subject == Unknown(raw)
    assert written(found) == said
    with pytest.raises(DoesNotFit, match=r"\$\.options"):
        read("v2", "RequestPermissionRequest", {**said, "options": []})


@pytest.mark.req("v2u-nes-02", "v1u-nes-02")
def test_suggestions_have_ids_even_when_unknown() -> None:
    raw = {"kind": "_fold", "suggestionId": "1"}
    assert read("v2", "NesSuggestion", raw) == Unknown(raw)
    edit: dict[str, Any] = {"kind": "edit", "uri": "a:", "edits": []}
    assert read("v1", "NesSuggestion", {**edit, "id": "1"}).id == "1"
    for wrong in [{"kind": "_fold"}, {**edit, "suggestionId": "1"}]:
        with pytest.raises(DoesNotFit):
            read("v2", "NesSuggestion", wrong)


@pytest.mark.req("allu-providers-15")
def test_unknown_provider_protocols_are_kept() -> None:
    said = {"providerId": "p", "supported": ["_mine", "anthropic"], "required": False, "current": None}
    assert written(read("v2", "ProviderInfo", said)) == said


# --- What is absent, null or bad --------------------------------------------------------------------------------------


@pytest.mark.req("v2-tools-03", "all-tools-06")
@pytest.mark.parametrize("value", [{"a": 1}, [1], "s", 0, False, None])
def test_absent_null_and_a_value_are_three_things(value: Any) -> None:
    absent = update("v2", sessionUpdate="tool_call_update", toolCallId="1")
    assert (absent.title, absent.raw_input, absent.meta) == (UNSET, UNSET, UNSET)
    null = update("v2", sessionUpdate="tool_call_update", toolCallId="1", title=None, rawInput=value, content=None)
    assert (null.title, null.raw_input, null.content) == (None, value, None)
    assert written(null) == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "1",
        "title": None,
        "rawInput": value,
        "content": None,
    }


@pytest.mark.req("v1-initialize-07", "v1-initialize-08", "v1-initialize-11", "v2-initialize-05", "v2-initialize-06")
def test_a_bad_capability_is_none() -> None:
    capabilities = {"fs": {"readTextFile": "yes", "writeTextFile": True}, "terminal": 1}
    found = read("v1", "InitializeRequest", {"protocolVersion": 1, "clientCapabilities": capabilities})
    assert (found.client_capabilities.fs.read_text_file, found.client_capabilities.fs.write_text_file) == (UNSET, True)
    assert not found.client_capabilities.terminal
    assert (
        read("v1", "InitializeRequest", {"protocolVersion": 1, "clientCapabilities": False}).client_capabilities
        is UNSET
    )
    said = {"protocolVersion": 2, "info": INFO, "capabilities": {"elicitation": {"form": True, "url": {}}}}
    elicitation = read("v2", "InitializeRequest", said).capabilities.elicitation
    assert (elicitation.form, elicitation.url) == (UNSET, v2.ElicitationUrlCapabilities())
    assert read("v2", "InitializeRequest", {**said, "capabilities": 3}).capabilities is UNSET


@pytest.mark.req("all-versioning-06", "v2-initialize-03")
@pytest.mark.parametrize("number", ["2025-01-01", 1.5, -1, 65536, None, True])
def test_a_protocol_version_is_a_small_number(number: Any) -> None:
    with pytest.raises(DoesNotFit, match=r"\$\.protocolVersion"):
        read("v1", "InitializeRequest", {"protocolVersion": number})
    with pytest.raises(DoesNotFit, match=r"\$\.info"):
        read("v2", "InitializeRequest", {"protocolVersion": 2})


@pytest.mark.req("all-extensibility-01", "all-extensibility-03", "all-extensibility-04")
@pytest.mark.parametrize("meta", [{}, {"a": {"b": [1]}}, None])
def test_meta_is_carried_and_other_members_are_ignored(meta: Any) -> None:
    said = {"sessionId": "s", "prompt": [{"type": "text", "text": "t", "_meta": meta}], "_meta": meta}
    found = read("v1", "PromptRequest", {**said, "future": 1})
    assert (found.meta, found.prompt[0].meta) == (meta, meta)
    assert written(found) == said


def test_lists_that_must_be_sent_may_be_missing() -> None:
    assert read("v1", "NewSessionRequest", {"cwd": "/"}).mcp_servers == []
    assert read("v1", "ListSessionsResponse", {}).sessions == []
    with pytest.raises(DoesNotFit, match=r"\$\.cwd"):
        read("v1", "NewSessionRequest", {"mcpServers": []})


def test_an_error_code_may_be_any_number() -> None:
    assert read("v1", "Error", {"code": -32000, "message": ""}).code is v1.ErrorCode.AUTH_REQUIRED
    assert read("v1", "Error", {"code": -1, "message": ""}).code == -1
    assert repr(v1.ErrorCode(-1)) == "<ErrorCode.-1: -1>"


def test_unknowns_are_compared_by_what_they_hold() -> None:
    assert Unknown({"a": 1}) == Unknown({"a": 1})
    assert Unknown({"a": 1}) != Unknown({"a": 2})
    assert Unknown({"a": 1}) != {"a": 1}
    assert repr(Unknown({"a": 1})) == "Unknown({'a': 1})"


def test_an_untagged_union_knows_its_variants() -> None:
    assert isinstance(v1.StdioMcpServer(name="n", command="/bin/n", args=[], env=[]), find_type("v1", "McpServer"))
    assert isinstance(Unknown({}), find_type("v1", "McpServer"))
    assert isinstance([], find_type("v1", "SessionConfigSelectOptions"))
    assert not isinstance({}, find_type("v1", "McpServer"))


SECRET = "hunter2"
SECRETIVE = [
    v2.EnvVariable(name="KEY", value=SECRET),
    v2.HttpHeader(name="Authorization", value=SECRET),
    v2.SetProviderRequest(provider_id="p", api_type=v2.LlmProtocol.OPENAI, base_url="http://a", headers={"a": SECRET}),
    v1.TerminalAuthMethod(id="a", name="A", env={"KEY": SECRET}),
]


@pytest.mark.parametrize("value", SECRETIVE, ids=lambda value: type(value).__name__)
def test_a_secret_goes_over_the_wire_and_into_no_log(value: Any) -> None:
    server = v1.StdioMcpServer(name="n", command="/bin/n", args=[], env=[value])
    assert SECRET in encode(value).decode()
    for text in (repr(value), str(value), repr(server), str(value.__rich_repr__())):
        assert SECRET not in text
        assert "***" in text
