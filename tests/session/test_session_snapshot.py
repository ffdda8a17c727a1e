"""A snapshot stays as it is, and costs what has changed since the last one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcript_kit import UPDATES, base64, output, said, state_of, text

from duologue.protocol.base import Unknown
from duologue.protocol.common.updates import PlanRemovedEvent
from duologue.protocol.v2.terminal import TerminalOutput
from duologue.protocol.v2.tools import ToolCallStatus, ToolContent
from duologue.protocol.v2.updates import (
    TerminalUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
)
from duologue.session import CurrentTranscript, Message, Transcript
from duologue.session.current import KEPT
from duologue.session.shelf import TOGETHER, Rows


@given(st.lists(st.tuples(UPDATES, st.booleans(), st.booleans()), max_size=30))
@settings(max_examples=150)
def test_a_snapshot_stays_as_it_was(steps: list[tuple[Any, bool, bool]]) -> None:
    transcript = Transcript()
    taken = [(transcript.snapshot(), state_of(transcript))]
    for update, takes, reads in steps:
        transcript.apply(update)
        if takes:
            taken.append((transcript.snapshot(), state_of(transcript)))
        if reads:
            state_of(taken[-1][0])  # When someone reads must not show in what is read.
    for snapshot, state in taken:
        assert state_of(snapshot) == state
        again = Transcript()
        for update in snapshot.updates():
            again.apply(update)
        assert state_of(again) == state


def test_everything_of_a_snapshot_can_be_read() -> None:
    transcript = Transcript()
    transcript.apply(said("a"))
    transcript.apply(ToolCallUpdateEvent(tool_call_id="c", title="T", status=ToolCallStatus.PENDING))
    transcript.apply(ToolCallContentChunkEvent(tool_call_id="c", content=ToolContent(content=text("x"))))
    transcript.apply(output(b"out"))
    snapshot = transcript.snapshot()
    transcript.apply(ToolCallContentChunkEvent(tool_call_id="c", content=ToolContent(content=text("y"))))
    transcript.apply(ToolCallUpdateEvent(tool_call_id="c", status=ToolCallStatus.FAILED))
    transcript.apply(output(b"!"))
    transcript.apply(TerminalUpdateEvent(terminal_id="t", output=TerminalOutput(data=base64(b"new"))))
    transcript.apply(PlanRemovedEvent(plan_id="p"))
    call, terminal = snapshot.tool_calls["c"], snapshot.terminals["t"]
    assert (call.title, call.status, len(call.content), call.ended) == ("T", ToolCallStatus.PENDING, 1, False)
    assert (terminal.output, terminal.text, repr(terminal)) == (b"out", "out", "TerminalState('t', 3 bytes, running)")
    assert [message.text for message in snapshot.messages] == ["a"]
    assert (transcript.terminals["t"].text, len(transcript.tool_calls["c"].content)) == ("new", 2)


def test_a_snapshot_copies_what_has_changed_and_shares_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = Transcript()
    count = 10 * TOGETHER + 1
    for number in range(count):
        transcript.apply(said("x", f"m{number}"))
    copied: list[str] = []
    freeze = Message.freeze

    def counted(self: Message) -> Message:
        copied.append(self.id)
        return freeze(self)

    monkeypatch.setattr(Message, "freeze", counted)
    first = transcript.snapshot()
    assert len(copied) == count
    copied.clear()
    for _ in range(3):
        transcript.apply(said("y", "m5"))
    second = transcript.snapshot()
    assert copied == ["m5"]
    assert [one is other for one, other in zip(first.entries, second.entries, strict=True)].count(False) == 1
    rows = [entries._rows for entries in (first.entries, second.entries) if isinstance(entries, Rows)]
    assert [one is other for one, other in zip(*rows, strict=True)].count(False) == 1, "rows are shared too"
    assert (first.messages[5].text, second.messages[5].text) == ("x", "xyyy")
    transcript.apply(said("z", "new"))
    assert copied == ["m5"] and len(transcript.snapshot().entries) == count + 1
    assert copied == ["m5", "new"]


def test_a_copy_of_growing_things_copies_nothing_of_what_they_hold() -> None:
    transcript = Transcript()
    for _ in range(100):
        transcript.apply(said("x"))
        transcript.apply(ToolCallContentChunkEvent(tool_call_id="c", content=ToolContent(content=text("x"))))
        transcript.apply(output(b"x"))
    message, call, terminal = transcript.messages[0], transcript.tool_calls["c"], transcript.terminals["t"]
    snapshot = transcript.snapshot()
    copy = snapshot.messages[0]
    assert copy is not message
    assert copy._parts._list is message._parts  # type: ignore[attr-defined]
    assert snapshot.tool_calls["c"].content._list is call.content  # type: ignore[attr-defined]
    assert snapshot.terminals["t"]._output is terminal._output


def test_the_entries_of_a_snapshot_are_a_sequence() -> None:
    transcript = Transcript()
    for number in range(TOGETHER + 3):
        transcript.apply(Unknown({"sessionUpdate": "_vendor", "n": number}))
    for rows in (transcript.snapshot().entries, transcript.entries):
        assert len(rows) == TOGETHER + 3
        assert [rows[place].raw["n"] for place in (0, TOGETHER, -1)] == [0, TOGETHER, TOGETHER + 2]  # type: ignore[union-attr]
        assert [one.raw["n"] for one in rows[TOGETHER - 1 :: 2]] == [TOGETHER - 1, TOGETHER + 1]  # type: ignore[union-attr]
        with pytest.raises(IndexError):
            rows[TOGETHER + 3]
    assert not Transcript().snapshot().entries


def test_a_snapshot_of_what_goes_on_now() -> None:
    transcript = CurrentTranscript()
    taken = []
    for number in range(3 * KEPT):
        for status in (ToolCallStatus.IN_PROGRESS, ToolCallStatus.COMPLETED):
            transcript.apply(ToolCallUpdateEvent(tool_call_id=f"c{number}", status=status))
            snapshot = transcript.snapshot()
            taken.append((snapshot, state_of(transcript)))
            assert [entry.id for entry in snapshot.entries] == list(transcript.tool_calls)  # type: ignore[union-attr]
    assert all(state_of(snapshot) == state for snapshot, state in taken)


# --- the text of a terminal -------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.binary(max_size=4) | st.text("✓🍸x", max_size=2).map(str.encode), st.integers(0, 2))))
@settings(max_examples=150)
def test_what_is_read_piece_by_piece_is_the_text(pieces: list[tuple[bytes, int]]) -> None:
    transcript, read = Transcript(), ""
    transcript.apply(output(b""))
    terminal = transcript.terminals["t"]
    for data, how in pieces:
        transcript.apply(output(data))
        if how:
            read += terminal.text_from(len(read))
        if how == 2:
            assert terminal.text == read
    assert read + terminal.text_from(len(read)) == terminal.text
    for start in range(len(terminal.text) + 2):
        assert terminal.text_from(start) == terminal.text[start:]


def test_reading_on_joins_only_what_is_new() -> None:
    transcript, read = Transcript(), 0
    for _ in range(1000):
        transcript.apply(output(b"y" * 10))
        terminal = transcript.terminals["t"]
        read += len(terminal.text_from(read))
    assert read == 10_000
    assert len(terminal._pieces) == 1000, "nothing was joined"


def test_text_that_was_read_is_void_when_other_output_takes_its_place() -> None:
    transcript = Transcript()
    transcript.apply(output(b"old"))
    terminal = transcript.terminals["t"]
    assert (terminal.text_from(0), terminal.replaced) == ("old", 0)
    transcript.apply(TerminalUpdateEvent(terminal_id="t", command="make"))
    assert terminal.replaced == 0
    transcript.apply(TerminalUpdateEvent(terminal_id="t", output=TerminalOutput(data=base64(b"n"))))
    assert (terminal.text_from(0), terminal.replaced) == ("n", 1)
