"""Rows of docs/readings.md that are about the shape of one message."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from duologue import codec
from duologue.protocol import v1, v2
from duologue.protocol.base import Unknown


def read(type: Any, value: Any) -> Any:
    return codec.decode(type, msgspec.json.encode(value))


def update_v1(**members: Any) -> Any:
    return read(v1.SessionNotification, {"sessionId": "1", "update": members}).update


def update_v2(**members: Any) -> Any:
    return read(v2.UpdateSessionNotification, {"sessionId": "1", "update": members}).update


def test_required_lists_may_be_absent_and_are_sent() -> None:
    request = read(v1.NewSessionRequest, {"cwd": "/"})
    assert request.mcp_servers == []
    assert msgspec.json.decode(codec.encode(request)) == {"cwd": "/", "mcpServers": []}
    assert read(v2.ListSessionsResponse, {}).sessions == []


def test_a_v1_tool_call_needs_its_title() -> None:
    with pytest.raises(codec.DoesNotFit, match="title"):
        update_v1(sessionUpdate="tool_call", toolCallId="1")


def test_the_mode_is_current_mode_id() -> None:
    assert update_v1(sessionUpdate="current_mode_update", currentModeId="ask").current_mode_id == "ask"
    with pytest.raises(codec.DoesNotFit, match="currentModeId"):
        update_v1(sessionUpdate="current_mode_update", modeId="ask")


def test_a_bare_text_block_in_a_tool_call_is_unknown_content() -> None:
    bare = {"type": "text", "text": "hi"}
    call = update_v1(sessionUpdate="tool_call", toolCallId="1", title="a", content=[bare])
    (item,) = call.content
    assert isinstance(item, Unknown)
    assert item.raw == bare


@pytest.mark.parametrize("kind", ["plan", "tool_call", "current_mode_update"])
def test_what_v2_has_dropped_is_unknown(kind: str) -> None:
    assert isinstance(update_v2(sessionUpdate=kind, entries=[], toolCallId="1", title="a"), Unknown)


def test_plans_of_the_unstable_types_are_taken() -> None:
    plan = update_v2(sessionUpdate="plan_update", plan={"type": "markdown", "planId": "1", "content": "x"}).plan
    assert isinstance(plan, v2.MarkdownPlan)
    plan = update_v2(sessionUpdate="plan_update", plan={"type": "file", "planId": "1", "uri": "file:///p"}).plan
    assert isinstance(plan, v2.FilePlan)


def test_an_unknown_format_is_kept() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": "zip"}}}
    assert msgspec.json.decode(codec.encode(read(v2.ElicitationSchema, schema))) == schema


def test_null_clears_in_v2_only() -> None:
    call = update_v2(sessionUpdate="tool_call_update", toolCallId="1", title=None)
    assert call.title is None
    assert call.kind is msgspec.UNSET


def test_fork_needs_a_folder() -> None:
    for version in (v1, v2):
        with pytest.raises(codec.DoesNotFit, match="cwd"):
            read(version.ForkSessionRequest, {"sessionId": "1"})
