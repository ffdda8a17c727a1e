"""The transcript: every update folds into it, at a cost that does not grow, and replays out of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from transcript_kit import UPDATES, base64, output, said, state_of, text

from duologue.protocol.base import Unknown
from duologue.protocol.common.content import ImageBlock, TextBlock
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.common.tools import ToolCallLocation, ToolKind
from duologue.protocol.common.updates import PlanRemovedEvent, SessionInfoUpdateEvent, UsageUpdateEvent
from duologue.protocol.v2.plan import ItemsPlan
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.tools import ToolCallStatus, ToolContent
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentMessageEvent,
    AgentThoughtChunk,
    AvailableCommandsUpdateEvent,
    ConfigOptionUpdateEvent,
    PlanUpdateEvent,
    StateUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
    UserMessageChunk,
    UserMessageEvent,
)
from duologue.session import Message, Role, ToolCallState, Transcript


def folded(*updates: Any) -> Transcript:
    transcript = Transcript()
    for update in updates:
        transcript.apply(update)
    return transcript


def call(**members: Any) -> ToolCallUpdateEvent:
    return ToolCallUpdateEvent(tool_call_id="c", **members)


# --- replay -----------------------------------------------------------------------------------------------------------


@given(st.lists(UPDATES, max_size=25))
@settings(max_examples=150)
def test_a_transcript_replays_into_an_equal_one(updates: list[Any]) -> None:
    transcript = folded(*updates)
    assert state_of(folded(*transcript.updates())) == state_of(transcript)


@given(st.lists(UPDATES, max_size=20), st.lists(UPDATES, max_size=10))
@settings(max_examples=100)
def test_a_replayed_transcript_goes_on_like_the_first(before: list[Any], after: list[Any]) -> None:
    first = folded(*before)
    second = folded(*first.updates())
    for update in after:
        first.apply(update)
        second.apply(update)
    assert state_of(first) == state_of(second)


@given(st.lists(UPDATES, max_size=25), st.data())
@settings(max_examples=100)
def test_reading_changes_nothing(updates: list[Any], data: st.DataObject) -> None:
    """Whether and when someone looks must not show in what is there."""
    unread, read = folded(*updates), Transcript()
    for update in updates:
        read.apply(update)
        if data.draw(st.booleans()):
            state_of(read)
    assert state_of(read) == state_of(unread)


def test_reading_between_two_pieces_does_not_part_them() -> None:
    transcript = folded(said("a"))
    for letter in "bcd":
        assert transcript.messages[0].text
        transcript.apply(said(letter))
    assert transcript.messages[0].content == (text("abcd"),)
    transcript.apply(AgentMessageEvent(message_id="m", content=[text("x"), text("y")]))
    transcript.apply(said("z"))
    assert [block.text for block in transcript.messages[0].content] == ["x", "yz"]


# --- messages ---------------------------------------------------------------------------------------------------------


def test_chunks_join_and_other_blocks_stand_between_them() -> None:
    image = ImageBlock(data="aGk=", mime_type="image/png")
    transcript = folded(said("a"), said("b"), AgentMessageChunk(message_id="m", content=image), said("c"))
    (message,) = transcript.messages
    assert message.content == (text("ab"), image, text("c"))
    assert message.text == "abc"


def test_field_bug_110_white_space_is_kept() -> None:
    table = "| a | b |\n|---|---|\n\n```py\nx =  1\n```\n"
    assert folded(*[said(letter) for letter in table]).messages[0].text == table


def test_field_bug_112_a_message_that_is_known_goes_on_behind_other_entries() -> None:
    transcript = folded(said("```py\nx"), call(title="Run"), said("=1\n```"))
    message, tool_call = transcript.entries
    assert isinstance(message, Message) and isinstance(tool_call, ToolCallState)
    assert message.text == "```py\nx=1\n```"


def test_who_speaks_is_part_of_what_a_message_is() -> None:
    """A thought and an answer under one id are two messages."""
    transcript = folded(
        AgentThoughtChunk(message_id="m", content=text("hm")),
        said("so"),
        UserMessageChunk(message_id="m", content=text("hi")),
        said("!"),
    )
    assert [(message.role, message.text) for message in transcript.messages] == [
        (Role.THOUGHT, "hm"),
        (Role.AGENT, "so!"),
        (Role.USER, "hi"),
    ]


def test_a_whole_message_replaces_and_null_clears_and_absence_keeps() -> None:
    transcript = folded(said("draft"), AgentMessageEvent(message_id="m", content=[text("final")]), said("."))
    assert transcript.messages[0].text == "final."
    transcript.apply(AgentMessageEvent(message_id="m", meta={"k": 1}))
    assert transcript.messages[0].text == "final."
    assert transcript.messages[0].meta == {"k": 1}
    transcript.apply(AgentMessageEvent(message_id="m", content=None))
    assert transcript.messages[0].content == ()


def test_text_with_notes_of_its_own_is_not_joined() -> None:
    noted = TextBlock(text="b", meta={"k": 1})
    transcript = folded(said("a"), AgentMessageChunk(message_id="m", content=noted), said("c"))
    assert transcript.messages[0].content == (text("a"), noted, text("c"))


def test_messages_stand_in_the_order_they_began() -> None:
    transcript = folded(
        UserMessageEvent(message_id="u", content=[text("q")]),
        said("1", "m1"),
        said("2", "m2"),
        said("1", "m1"),
    )
    assert [(message.id, message.text) for message in transcript.messages] == [("u", "q"), ("m1", "11"), ("m2", "2")]


# --- tool calls -------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-tools-01", "v2-tools-03")
def test_field_bugs_99_101_a_tool_call_is_merged_by_what_is_present() -> None:
    shown = ToolContent(content=text("diff"))
    place = ToolCallLocation(path="/a")
    transcript = folded(
        call(title="Edit", kind=ToolKind.EDIT, status=ToolCallStatus.PENDING, raw_input={"path": "/a"}),
        call(content=[shown], locations=[place]),
        call(title="Edit a", status=ToolCallStatus.IN_PROGRESS),
    )
    (state,) = transcript.entries
    assert isinstance(state, ToolCallState)
    assert (state.title, state.kind, state.status) == ("Edit a", ToolKind.EDIT, ToolCallStatus.IN_PROGRESS)
    assert (state.content, state.locations, state.raw_input) == ([shown], [place], {"path": "/a"})
    assert not state.ended
    transcript.apply(call(content=[], locations=None, kind=None, status=ToolCallStatus.FAILED))
    assert (state.content, state.locations, state.kind) == ([], None, None)
    assert state.ended


@pytest.mark.parametrize("update", [call(status=ToolCallStatus.COMPLETED), ToolCallContentChunkEvent])
def test_field_bug_100_an_update_of_an_unknown_call_begins_one(update: Any) -> None:
    if update is ToolCallContentChunkEvent:
        update = ToolCallContentChunkEvent(tool_call_id="c", content=ToolContent(content=text("x")))
    transcript = folded(update)
    assert list(transcript.tool_calls) == ["c"]
    assert transcript.tool_calls["c"].title is UNSET


def test_field_bug_106_all_items_of_a_tool_call_are_kept() -> None:
    items = [ToolContent(content=text(str(number))) for number in range(4)]
    chunks = [ToolCallContentChunkEvent(tool_call_id="c", content=item) for item in items[2:]]
    assert folded(call(content=items[:2]), *chunks).tool_calls["c"].content == items


@pytest.mark.parametrize(
    ("status", "ended"),
    [("pending", False), ("in_progress", False), ("completed", True), ("failed", True), ("cancelled", True)],
)
def test_which_statuses_are_an_end(status: str, ended: bool) -> None:
    assert folded(call(status=ToolCallStatus(status))).tool_calls["c"].ended is ended


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_plans_are_kept_by_id() -> None:
    first, second = ItemsPlan(plan_id="1", entries=[]), ItemsPlan(plan_id="2", entries=[])
    unknown = Unknown({"type": "tree", "planId": "3"})
    transcript = folded(*[PlanUpdateEvent(plan=plan) for plan in (first, second, unknown)])
    assert transcript.plans == {"1": first, "2": second, "3": unknown}
    transcript.apply(PlanRemovedEvent(plan_id="1"))
    transcript.apply(PlanRemovedEvent(plan_id="never there"))
    assert list(transcript.plans) == ["2", "3"]


def test_title_and_date_are_patched() -> None:
    transcript = folded(SessionInfoUpdateEvent(title="a", updated_at="2026-01-01T00:00:00Z"))
    transcript.apply(SessionInfoUpdateEvent(title="b"))
    assert (transcript.title, transcript.updated_at) == ("b", "2026-01-01T00:00:00Z")
    transcript.apply(SessionInfoUpdateEvent(title=None))
    assert (transcript.title, transcript.updated_at) == (None, "2026-01-01T00:00:00Z")


def test_usage_commands_and_options_are_the_last_ones() -> None:
    usage = [UsageUpdateEvent(used=number, size=9) for number in range(2)]
    transcript = folded(
        *usage, AvailableCommandsUpdateEvent(available_commands=[]), ConfigOptionUpdateEvent(config_options=[])
    )
    assert transcript.usage is usage[1]
    assert (list(transcript.commands), list(transcript.config_options)) == ([], [])


def test_the_state_and_why_it_is_idle() -> None:
    transcript = folded(StateUpdateEvent(state=SessionState.RUNNING))
    assert (transcript.state, transcript.stop_reason) == (SessionState.RUNNING, None)
    transcript.apply(StateUpdateEvent(state=SessionState.IDLE, stop_reason=StopReason.CANCELLED))
    assert (transcript.state, transcript.stop_reason) == (SessionState.IDLE, StopReason.CANCELLED)


def test_field_bug_90_what_is_not_known_is_kept_as_it_is() -> None:
    strange = Unknown({"sessionUpdate": "sparkle_update", "x": 1})
    transcript = folded(said("a"), strange, said("b"))
    assert transcript.entries[1] is strange
    assert strange in list(transcript.updates())


# --- terminals --------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-terminal-11")
def test_text_that_is_cut_inside_a_character_comes_out_whole() -> None:
    whole = "ok ✓ 🍸\n".encode()
    transcript = folded(*[output(whole[index : index + 1]) for index in range(len(whole))])
    assert transcript.terminals["t"].text == whole.decode()
    assert transcript.terminals["t"].output == whole


def test_a_character_that_is_not_whole_yet_is_left_out_and_bad_bytes_are_marked() -> None:
    transcript = folded(output("✓".encode()[:2]))
    terminal = transcript.terminals["t"]
    assert terminal.text == ""
    transcript.apply(output("✓".encode()[2:]))
    assert terminal.text == "✓"
    transcript.apply(output(b"\xff!"))
    assert terminal.text == "✓\ufffd!"


def test_output_that_is_no_base64_is_left_out() -> None:
    from duologue.protocol.v2.updates import TerminalOutputChunkEvent

    transcript = folded(output(b"a"), TerminalOutputChunkEvent(terminal_id="t", data="%"), output(b"b"))
    assert transcript.terminals["t"].text == "ab"


@pytest.mark.req("v2-terminal-09")
def test_a_terminal_is_patched() -> None:
    from duologue.protocol.common.terminal import TerminalExitStatus
    from duologue.protocol.v2.terminal import TerminalOutput
    from duologue.protocol.v2.updates import TerminalUpdateEvent

    transcript = folded(TerminalUpdateEvent(terminal_id="t", command="make", cwd="/w"), output(b"old"))
    terminal = transcript.terminals["t"]
    assert terminal.text == "old"
    status = TerminalExitStatus(exit_code=2)
    transcript.apply(
        TerminalUpdateEvent(terminal_id="t", output=TerminalOutput(data=base64(b"new")), exit_status=status)
    )
    assert (terminal.text, terminal.command, terminal.exit_status) == ("new", "make", status)
    transcript.apply(TerminalUpdateEvent(terminal_id="t", output=None, command=None))
    assert (terminal.text, terminal.output, terminal.command, terminal.cwd) == ("", b"", None, "/w")


# --- the cost ---------------------------------------------------------------------------------------------------------


def test_field_bug_182_a_call_that_is_updated_ten_thousand_times_holds_the_last_only() -> None:
    transcript = Transcript()
    for number in range(10_000):
        last = [ToolContent(content=text(str(number)))]
        transcript.apply(call(content=last, raw_output=number))
    assert len(transcript.entries) == 1
    state = transcript.tool_calls["c"]
    assert [item is other for item, other in zip(state.content, last, strict=True)] == [True]
    assert state.raw_output == 9_999


def test_folding_copies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk is kept as it came: no text is joined, and no list is made anew, until someone reads."""
    joins = 0

    def count(self: Message) -> None:
        nonlocal joins
        joins += 1

    monkeypatch.setattr(Message, "_join", count)
    transcript = folded(said("first"))
    entries, message = transcript.entries, transcript.entries[0]
    content_of_call = folded(call()).tool_calls["c"].content
    items = [ToolContent(content=text(str(number))) for number in range(100)]
    for number, item in enumerate(items):
        transcript.apply(said(str(number)))
        transcript.apply(ToolCallContentChunkEvent(tool_call_id="c", content=item))
    assert joins == 0
    assert transcript.entries is entries
    assert transcript.entries[0] is message
    assert content_of_call == []
    assert all(kept is given for kept, given in zip(transcript.tool_calls["c"].content, items, strict=True))


def test_reading_twice_joins_once() -> None:
    transcript = folded(*[said("x") for _ in range(100)])
    message = transcript.messages[0]
    assert message.content[0] is message.content[0]


def test_reading_a_terminal_decodes_only_what_is_new() -> None:
    transcript = folded(output(b"x" * 1000))
    terminal = transcript.terminals["t"]
    decoded: list[int] = []
    decoder = terminal._decoder

    class Counting:
        def decode(self, data: bytes) -> str:
            decoded.append(len(data))
            return decoder.decode(data)

    terminal._decoder = Counting()  # type: ignore[assignment]
    for _ in range(50):
        transcript.apply(output(b"y" * 10))
        assert terminal.text.endswith("y" * 10)
    assert decoded == [1010] + [10] * 49
    assert len(terminal.text) == 1500


def test_field_bug_183_fifty_thousand_updates_make_as_many_entries_as_there_are() -> None:
    transcript = Transcript()
    for number in range(50_000):
        transcript.apply(said("word ", f"m{number // 100}"))
    assert len(transcript.entries) == 500
    assert sum(len(message.text) for message in transcript.messages) == 250_000
