"""Messages that broke real programs. Tests are named after their rows in the catalogue of field bugs."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from duologue.codec import DoesNotFit, Dropped, decode, encode
from duologue.protocol.base import Unknown
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.permission import RequestPermissionResponse
from duologue.protocol.v1.auth import AuthenticateRequest
from duologue.protocol.v1.config import SelectConfigOption
from duologue.protocol.v1.initialize import InitializeRequest
from duologue.protocol.v1.mcp import StdioMcpServer
from duologue.protocol.v1.prompt import PromptRequest, PromptResponse
from duologue.protocol.v1.session import NewSessionRequest, NewSessionResponse
from duologue.protocol.v1.tools import ToolDiff
from duologue.protocol.v1.updates import AgentMessageChunk, SessionNotification
from duologue.protocol.v2.auth import AgentAuthMethod
from duologue.protocol.v2.auth import AuthMethod as AuthMethod2
from duologue.protocol.v2.initialize import InitializeResponse as InitializeResponse2
from duologue.protocol.v2.updates import UpdateSessionNotification


def text_of(value: Any) -> bytes:
    return json.dumps(value).encode()


def update(**members: Any) -> bytes:
    return text_of({"sessionId": "s", "update": members})


def chunk(text: str) -> bytes:
    return update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def test_field_bug_15_text_of_any_width_is_exact() -> None:
    text = "aé漢🍸" * 100
    raw = json.dumps(json.loads(chunk(text)), ensure_ascii=False).encode()
    for wire in (chunk(text), raw):
        value = decode(SessionNotification, wire)
        assert isinstance(value.update, AgentMessageChunk)
        assert value.update.content == TextBlock(text=text)
        assert text.encode() in encode(value)


def test_field_bug_16_an_escaped_pair_is_one_character() -> None:
    value = decode(PromptRequest, rb'{"sessionId":"s","prompt":[{"type":"text","text":"\ud83c\udf78 ok"}]}')
    assert value.prompt == [TextBlock(text="🍸 ok")]


def test_field_bug_16_halves_that_were_parted_in_our_own_text_are_joined() -> None:
    assert encode(TextBlock(text="\ud83c\udf78 ok")) == '{"type":"text","text":"🍸 ok"}'.encode()


def test_field_bug_17_a_lone_half_neither_comes_in_nor_goes_out() -> None:
    told: list[Dropped] = []
    value = decode(SessionNotification, chunk("a\ud800b"), told.append)
    assert isinstance(value.update, AgentMessageChunk)
    assert value.update.content == TextBlock(text="a�b")
    assert told
    assert encode(TextBlock(text="a\ud800b")).decode("utf-8") == '{"type":"text","text":"a�b"}'


def test_field_bug_89_an_invalid_update_is_an_error_of_that_message_alone() -> None:
    with pytest.raises(DoesNotFit, match=r"^\$\.update\.used: expected integer >= 0, found null$"):
        decode(SessionNotification, update(sessionUpdate="usage_update", used=None, size=9))
    assert decode(SessionNotification, chunk("after")).session_id == "s"


@pytest.mark.parametrize("wanted", [SessionNotification, UpdateSessionNotification])
def test_field_bug_90_an_unknown_update_is_kept_raw(wanted: Any) -> None:
    raw = {"sessionUpdate": "sparkle_update", "x": 1, "_meta": {"y": [None]}}
    value = decode(wanted, update(**raw))
    assert value.update == Unknown(raw)
    assert json.loads(encode(value)) == {"sessionId": "s", "update": raw}


@pytest.mark.parametrize("reason", ["error", "paused"])
def test_field_bug_91_an_unknown_stop_reason_is_kept_and_can_be_told(reason: str) -> None:
    value = decode(PromptResponse, text_of({"stopReason": reason}))
    assert not value.stop_reason.known
    assert encode(value) == text_of({"stopReason": reason}).replace(b" ", b"")


def test_field_bug_91_an_outcome_that_is_not_understood_is_unknown() -> None:
    value = decode(RequestPermissionResponse, text_of({"outcome": {"outcome": "maybe"}}))
    assert value.outcome == Unknown({"outcome": "maybe"})


def test_field_bug_92_null_equals_absent_for_optional_members() -> None:
    option = {
        "id": "o",
        "name": "O",
        "type": "select",
        "description": None,
        "category": None,
        "_meta": None,
        "currentValue": "a",
        "options": [{"value": "a", "name": "A", "description": None, "_meta": None}],
    }
    wire = {"sessionId": "s", "modes": None, "configOptions": [option], "_meta": None, "nextCursor": None}
    told: list[Dropped] = []
    value = decode(NewSessionResponse, text_of(wire), told.append)
    assert not told
    (decoded,) = value.config_options or []
    assert isinstance(decoded, SelectConfigOption)
    assert (value.session_id, value.modes, decoded.id, decoded.description) == ("s", None, "o", None)


def test_field_bug_92_also_where_the_schema_knows_no_null() -> None:
    wire = {
        "protocolVersion": 1,
        "clientCapabilities": {"fs": None, "terminal": None, "_meta": None},
        "clientInfo": None,
    }
    value = decode(InitializeRequest, text_of(wire))
    assert value.client_capabilities
    assert (value.client_capabilities.fs, value.client_capabilities.terminal) == (UNSET, UNSET)
    assert decode(InitializeRequest, text_of({**wire, "clientCapabilities": None})).client_capabilities is UNSET
    new = decode(NewSessionRequest, text_of({"cwd": "/p", "mcpServers": None, "additionalDirectories": None}))
    assert (new.mcp_servers, new.additional_directories) == ([], UNSET)


def test_field_bug_93_required_lists_are_written_when_empty_and_missed_when_read() -> None:
    assert json.loads(encode(NewSessionRequest(cwd="/p", mcp_servers=[]))) == {"cwd": "/p", "mcpServers": []}
    assert json.loads(encode(PromptRequest(session_id="s", prompt=[]))) == {"sessionId": "s", "prompt": []}
    server = StdioMcpServer(name="n", command="c", args=[], env=[])
    assert json.loads(encode(server)) == {"name": "n", "command": "c", "args": [], "env": []}
    assert decode(NewSessionRequest, b'{"cwd":"/p"}') == NewSessionRequest(cwd="/p", mcp_servers=[])


@pytest.mark.req("all-extensibility-03")
def test_field_bug_94_unknown_members_are_ignored_at_each_level() -> None:
    extra = {"future": {"a": [1]}, "x-y": None}
    wire = {
        "protocolVersion": 1,
        "clientCapabilities": {"fs": {"readTextFile": True, **extra}, "terminal": True, **extra},
        "clientInfo": {"name": "n", "version": "1", **extra},
        **extra,
    }
    value = decode(InitializeRequest, text_of(wire))
    assert json.loads(encode(value)) == {
        "protocolVersion": 1,
        "clientCapabilities": {"fs": {"readTextFile": True}, "terminal": True},
        "clientInfo": {"name": "n", "version": "1"},
    }


@pytest.mark.parametrize("wire", [{}, {"id": "x"}, {"authMethodId": "x"}, {"method_id": "x"}])
def test_field_bug_95_the_missing_member_is_named(wire: dict[str, str]) -> None:
    assert decode(AuthenticateRequest, b'{"methodId":"x"}').method_id == "x"
    with pytest.raises(DoesNotFit, match=r"^\$\.params\.methodId: required member is missing$"):
        decode(AuthenticateRequest, text_of(wire), at="$.params")


@pytest.mark.parametrize(
    ("members", "old"), [({}, UNSET), ({"oldText": None}, None), ({"oldText": "o"}, "o"), ({"oldText": 3}, UNSET)]
)
def test_field_bug_104_old_text_may_be_missing_null_or_a_text(members: Any, old: Any) -> None:
    diff = {"type": "diff", "path": "/p", "newText": "n", **members}
    value: Any = decode(SessionNotification, update(sessionUpdate="tool_call_update", toolCallId="t", content=[diff]))
    assert value.update.content == [ToolDiff(path="/p", new_text="n", old_text=old)]


# --- Neighbours: the same kinds of damage, as the matrix of requirements names them ----------------------------------


@pytest.mark.req("v2-auth-09")
def test_an_entry_of_a_known_type_that_lacks_a_member_is_dropped_and_not_unknown() -> None:
    methods = [{"type": "agent", "name": "n"}, {"type": "agent", "methodId": "m", "name": "n"}]
    wire = {"protocolVersion": 2, "capabilities": {}, "info": {"name": "a", "version": "1"}, "authMethods": methods}
    told: list[Dropped] = []
    value = decode(InitializeResponse2, text_of(wire), told.append)
    assert value.auth_methods == [AgentAuthMethod(method_id="m", name="n")]
    assert [loss.path for loss in told] == ["$.authMethods[0]"]
    vendor = {"type": "_x", "methodId": "m", "name": "n", "k": 1}
    assert decode(AuthMethod2, text_of(vendor)) == Unknown(vendor)
    with pytest.raises(DoesNotFit, match="methodId"):
        decode(AuthMethod2, text_of({"type": "_x", "name": "n"}))


@pytest.mark.req("v1-content-01")
def test_bad_annotations_do_not_spoil_their_block() -> None:
    for annotations, audience in [(3, None), ({"audience": ["robot", "user", 4]}, ["robot", "user"])]:
        block = {"type": "text", "text": "x", "annotations": annotations}
        (value,) = decode(PromptRequest, text_of({"sessionId": "s", "prompt": [block]})).prompt
        assert isinstance(value, TextBlock)
        assert value.text == "x"
        assert (value.annotations.audience if value.annotations else None) == audience


@pytest.mark.req("v1-tools-04")
def test_an_unknown_kind_or_status_does_not_cost_the_rest_of_the_update() -> None:
    wire = update(sessionUpdate="tool_call_update", toolCallId="t", kind="paint", status="paused", title="new")
    value: Any = decode(SessionNotification, wire)
    assert (value.update.title, value.update.kind.known, value.update.status.known) == ("new", False, False)
    broken: Any = decode(
        SessionNotification, update(sessionUpdate="tool_call_update", toolCallId="t", kind=4, title="new")
    )
    assert (broken.update.title, broken.update.kind) == ("new", UNSET)


@pytest.mark.req("v2-updates-12")
def test_an_unknown_state_is_kept_and_later_ones_are_read() -> None:
    paused = {"sessionUpdate": "state_update", "state": "_paused", "since": 1}
    assert decode(UpdateSessionNotification, update(**paused)).update == Unknown(paused)
    value: Any = decode(
        UpdateSessionNotification, update(sessionUpdate="state_update", state="idle", stopReason="end_turn")
    )
    assert (value.update.state, value.update.stop_reason) == ("idle", "end_turn")


@pytest.mark.req("v2-content-02", "v2-tools-09")
def test_unknown_blocks_keep_their_place_between_their_neighbours() -> None:
    text, chart = {"type": "text", "text": "x"}, {"type": "_vendor_chart", "points": [1]}
    message = {"sessionUpdate": "agent_message", "messageId": "m", "content": [text, chart, text]}
    value: Any = decode(UpdateSessionNotification, update(**message))
    assert value.update.content == [TextBlock(text="x"), Unknown(chart), TextBlock(text="x")]
    tool = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "kind": "future", "status": "_queued"}
    content = [{"type": "_table", "rows": []}]
    call: Any = decode(UpdateSessionNotification, update(**tool, content=content))
    assert json.loads(encode(call))["update"] == {**tool, "content": content}


@pytest.mark.req("v2-updates-10")
def test_a_plan_update_without_its_plan_is_an_error() -> None:
    with pytest.raises(DoesNotFit, match=r"^\$\.update\.plan: required member is missing$"):
        decode(UpdateSessionNotification, update(sessionUpdate="plan_update"))
    kanban = {"type": "_kanban", "planId": "p", "lanes": 2}
    value: Any = decode(UpdateSessionNotification, update(sessionUpdate="plan_update", plan=kanban))
    assert value.update.plan == Unknown(kanban)
