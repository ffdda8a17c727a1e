"""What messages, and updates that are broken or not known, make of a session as the client holds it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from client_kit import Host
from client_shown_kit import ENTRY, Json, call, item, piece, plan, shown, spoken, steps, tell, text, told

from duologue import codec
from duologue.protocol.base import Unknown
from duologue.protocol.v2.tools import ToolContent

ROLES = ["user_message", "agent_message", "agent_thought"]

# --- messages of version 2 --------------------------------------------------------------------------------------------

A, B = {"content": text("A")}, {"content": text("B")}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("steps", "left"),
    [
        pytest.param([A, B, [text("C")]], ["C"], marks=pytest.mark.req("v2-updates-04"), id="whole replaces"),
        pytest.param([[text("A")], B], ["AB"], marks=pytest.mark.req("v2-updates-05"), id="chunk appends"),
        pytest.param([[text("A")], {"_meta": {}}], ["A"], marks=pytest.mark.req("v2-updates-06"), id="absent keeps"),
        pytest.param([A, None], [], marks=pytest.mark.req("v2-updates-07"), id="null empties"),
        pytest.param([A, []], [], marks=pytest.mark.req("v2-updates-07"), id="an empty list empties"),
        pytest.param([[text("A")], None, B], ["B"], marks=pytest.mark.req("v2-updates-07"), id="and goes on"),
    ],
)
async def test_pieces_and_whole_messages(role: str, steps: list[Any], left: list[str]) -> None:
    """A step is a chunk, the content of a whole message, or a whole message without content."""
    updates: list[Json] = []
    for step in steps:
        if isinstance(step, dict) and "content" in step:
            updates.append({"sessionUpdate": f"{role}_chunk", "messageId": "1", **step})
        else:
            members = step if isinstance(step, dict) else {"content": step}
            updates.append({"sessionUpdate": role, "messageId": "1", **members})
    transcript = await told(2, *updates)
    (message,) = [message for message in transcript.messages if message.id == "1"]
    assert [block.text for block in message.content] == left  # type: ignore[union-attr]


@pytest.mark.req("v2-updates-08")
async def test_notes_are_patched_like_other_members_and_those_of_a_piece_are_its_own() -> None:
    host = await Host.begin(2)
    whole = {"sessionUpdate": "agent_message", "messageId": "1"}
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "1", **A, "_meta": {"piece": 1}}
    for kind, first, more in (("message", whole, chunk), ("call", call(), {**piece("x"), "_meta": {"piece": 1}})):
        seen = []
        for update in ({**first, "_meta": {"k": 1}}, first, more, {**first, "_meta": None}):
            transcript = await tell(host, update)
            state: Any = transcript.messages[0] if kind == "message" else transcript.tool_calls["c"]
            seen.append(state.meta)
        assert seen == [{"k": 1}, {"k": 1}, {"k": 1}, None]


# --- who said it ------------------------------------------------------------------------------------------------------


async def test_field_bug_111_without_ids_a_message_goes_on_until_something_comes_between() -> None:
    def say(kind: str, value: str, **more: Any) -> Json:
        return {"sessionUpdate": f"agent_{kind}_chunk", "content": text(value), **more}

    host = await Host.begin(1)
    between = call("tool_call", title="t")
    transcript = await tell(
        host,
        *(say("thought", "th"), say("thought", "ink"), say("message", "sa"), say("message", "y"), between),
        *(say("thought", "again"), say("message", "more")),
    )
    assert spoken(transcript) == [
        *(("thought", "think"), ("agent", "say"), ("call", "t"), ("thought", "again"), ("agent", "more")),
    ]
    host = await Host.begin(1)
    transcript = await tell(
        host,
        *(say("message", "a", messageId="1"), say("message", "b", messageId="2"), between),
        say("message", "c", messageId="1"),
    )
    assert spoken(transcript) == [("agent", "ac"), ("agent", "b"), ("call", "t")]


# --- what is broken or not known --------------------------------------------------------------------------------------


@pytest.mark.req("v1-updates-02", "v2-updates-09")
@pytest.mark.parametrize("name", ["future_thing", "_vendor_note", "", "AGENT_MESSAGE_CHUNK"])
async def test_field_bug_90_an_unknown_update_is_kept_and_not_replied_to(version: int, name: str) -> None:
    update = {"sessionUpdate": name, "x": {"y": [1]}}
    transcript = await told(version, update)
    assert [entry.raw for entry in transcript.entries if isinstance(entry, Unknown)] == [update]


@pytest.mark.req("v1-updates-06")
@pytest.mark.parametrize("wrong", [5, None, {}, ["m"], True])
@pytest.mark.parametrize("role", ["user", "agent", "thought"])
async def test_an_optional_member_of_another_type_costs_no_text(role: str, wrong: Any) -> None:
    host = await Host.begin(1)
    kind = {"user": "user_message_chunk", "agent": "agent_message_chunk", "thought": "agent_thought_chunk"}[role]
    transcript = await tell(host, {"sessionUpdate": kind, "content": text("kept"), "messageId": wrong})
    assert spoken(transcript) == [(role, "kept")]


BLOCKS = {
    "image": {"type": "image", "data": "eA==", "mimeType": "image/png"},
    "audio": {"type": "audio", "data": "eA==", "mimeType": "audio/wav"},
    "link": {"type": "resource_link", "uri": "file:///a", "name": "a"},
    "text resource": {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}},
    "binary resource": {"type": "resource", "resource": {"uri": "file:///a", "blob": "eA=="}},
}


@pytest.mark.req("all-content-07")
@pytest.mark.parametrize("name", BLOCKS)
async def test_what_the_agent_may_not_be_prompted_with_it_may_still_say(version: int, name: str) -> None:
    """The agent of these tests offers to take none of these blocks."""
    said = {"sessionUpdate": "agent_message_chunk", "messageId": "1", "content": BLOCKS[name]}
    begin = call("tool_call" if version == 1 else "tool_call_update", title="t")
    transcript = await told(version, said, begin, call(content=[{"type": "content", "content": BLOCKS[name]}]))
    (held,) = transcript.tool_calls["c"].content
    assert isinstance(held, ToolContent)
    assert held.content in [block for message in transcript.messages for block in message.content]
    assert json.loads(codec.encode(held.content)) == BLOCKS[name]


@pytest.mark.req("all-tools-07")
@pytest.mark.parametrize("broken", [5, None, {"type": "content"}, {"type": "content", "content": {"type": "text"}}])
async def test_a_broken_item_of_a_tool_call_costs_no_other(version: int, broken: Any) -> None:
    begin = call("tool_call" if version == 1 else "tool_call_update", title="t")
    places = [{"path": "/a"}, {"line": 1}, {"path": "/b"}]
    transcript = await told(version, begin, call(content=[item("one"), broken, item("two")], locations=places))
    state = transcript.tool_calls["c"]
    assert shown(state) == ["one", "two"]
    assert [place.path for place in state.locations] == ["/a", "/b"]


@pytest.mark.req("all-plan-02")
@pytest.mark.parametrize("broken", [{"content": "x", "priority": "high"}, 5, None, {}])
async def test_a_broken_entry_of_a_plan_costs_no_other(version: int, broken: Any) -> None:
    transcript = await told(version, plan(version, [ENTRY, broken, {**ENTRY, "content": "two"}]))
    (left,) = steps(transcript).values()
    assert left == ["one", "two"]
