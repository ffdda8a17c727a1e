"""What a run prints: patches cut to what changed, and text that cannot touch the terminal."""

from __future__ import annotations

import difflib
import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.agent import file_diff, plan_entry
from duologue.cli.patches import CONTEXT, compact
from duologue.cli.screen import Screen, one_line, plain_json, printable, visible, wants_colour
from duologue.cli.show import Printer
from duologue.protocol.base import Unknown
from duologue.protocol.common.content import TextBlock
from duologue.protocol.v2.diff import DiffPatch, ModifyChange
from duologue.protocol.v2.plan import ItemsPlan
from duologue.protocol.v2.tools import ToolCallStatus, ToolContent, ToolDiff
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentMessageEvent,
    AgentThoughtChunk,
    PlanUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
)
from duologue.session import Transcript

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "-- d\n", "++ e\n", "\n"]), max_size=40)


def patch_of(old: str, new: str) -> str:
    patch = file_diff("/a.txt", old, new).patch
    assert isinstance(patch, DiffPatch)
    return patch.text


def hunks(lines: list[str]) -> list[str]:
    start = next((index for index, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return lines[start:]


@given(LINES, LINES)
def test_a_compact_patch_still_leads_from_the_one_text_to_the_other(old: list[str], new: list[str]) -> None:
    shown = hunks(compact(patch_of("".join(old), "".join(new))))
    rebuilt: list[str] = []
    at = 0
    for line in shown:
        if line.startswith("@@"):
            first, count = (int(number) for number in line.split()[1][1:].split(","))
            begin = first - 1 if count else first
            rebuilt += old[at:begin]
            at = begin
        elif line[:1] == "-":
            assert old[at] == line[1:] + "\n"
            at += 1
        else:
            if line[:1] == " ":
                assert old[at] == line[1:] + "\n"
                at += 1
            rebuilt.append(line[1:] + "\n")
    assert [*rebuilt, *old[at:]] == new


def test_a_compact_patch_is_what_diff_shows() -> None:
    old = [f"line {number}\n" for number in range(60)]
    new = [*old[:10], "changed\n", *old[11:40], "added\n", *old[40:]]
    expected = list(difflib.unified_diff(old, new, n=CONTEXT))[2:]
    assert hunks(compact(patch_of("".join(old), "".join(new)))) == [line.rstrip("\n") for line in expected]


def test_a_hunk_of_no_file_is_shown_as_it_is() -> None:
    lines = [f"@@ -{'9' * 5000} +1 @@", "-x", "+y"]
    assert compact("\n".join(lines)) == lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("a\rb\r\nc", "a\nb\nc"),
        ("bell\x07\x00", "bell␇␀"),
        ("\x9b2J", "\ufffd2J"),
        ("abc\u202egnp.exe", "abc\ufffdgnp.exe"),
        ("cut \x1b[", "cut ␛["),
        ("a\x1b_from program to program\x1b\\b\x1bPdevice\x1b\\c", "abc"),
    ],
)
def test_control_characters_of_an_agent_are_not_obeyed(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 字 👍 \ttext\n", "plain é 字 👍 \ttext\n"),
        ("echo safe \x1b]; touch pwned #\x07", "echo safe ␛]; touch pwned #␇"),
        ("\x1b[8mhidden\x1b[0m", "␛[8mhidden␛[0m"),
        ("a\rb\x7f\x00", "a␍b␡␀"),
        ("\x9b8m\x85", "<U+009B>8m<U+0085>"),
        ("abc\u202egnp\u2066\u200e", "abc<U+202E>gnp<U+2066><U+200E>"),
        ("a\u200bb\ufeff\u2028\u2029", "a<U+200B>b<U+FEFF><U+2028><U+2029>"),
        ("a\u00a0b\u3164\u2800\U000e0041", "a<U+00A0>b<U+3164><U+2800><U+E0041>"),
    ],
)
def test_nothing_of_what_is_asked_about_is_left_out_or_unseen(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_what_is_shown_holds_every_character_that_shows(text: str) -> None:
    shown = one_line(text)
    assert shown.replace("\u3000", "").isprintable()
    rest = iter(shown)
    assert all(character in rest for character in text if " " <= character <= "~")


def test_a_line_stays_one() -> None:
    assert one_line("Read\n  [y] Allow\r\n\tx") == "Read␊  [y] Allow␍␊␉x"


@given(st.text())
def test_json_on_a_terminal_is_the_same_json_and_only_text(text: str) -> None:
    line = plain_json(json.dumps({"text": text}, ensure_ascii=False))
    assert line.isprintable() and json.loads(line) == {"text": text}


class Fake(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals() -> None:
    assert wants_colour(Fake(), {"TERM": "xterm"})
    assert not wants_colour(Fake(), {"TERM": "xterm", "NO_COLOR": "1"})
    assert not wants_colour(Fake(), {"TERM": "dumb"})
    assert not wants_colour(io.StringIO(), {"TERM": "xterm"})


def printed(*updates: object) -> str:
    stream = io.StringIO()
    printer, transcript = Printer(Screen(stream, colour=False)), Transcript()
    for update in updates:
        transcript.apply(update)  # type: ignore[arg-type]
        printer.show(update, transcript)  # type: ignore[arg-type]
    return stream.getvalue()


def said(message: str, text: str) -> AgentMessageChunk:
    return AgentMessageChunk(message_id=message, content=TextBlock(text=text))


def tool(**members: object) -> ToolCallUpdateEvent:
    return ToolCallUpdateEvent(tool_call_id="c", **members)  # type: ignore[arg-type]


def test_messages_begin_on_lines_of_their_own() -> None:
    thought = AgentThoughtChunk(message_id="t", content=TextBlock(text="hm"))
    whole = AgentMessageEvent(message_id="m3", content=[TextBlock(text="whole")])
    assert printed(thought, said("m1", "a"), said("m1", "b\n"), said("m2", "c"), whole) == "hm\nab\nc\nwhole\n"


def test_a_diff_is_printed_once_though_it_is_told_again() -> None:
    diff = file_diff("/a.txt", "x\n", "y\n")
    text = printed(
        tool(title="Edit", content=[diff]),
        tool(content=[diff], status=ToolCallStatus.IN_PROGRESS),
        tool(content=[diff], status=ToolCallStatus.COMPLETED),
        tool(status=ToolCallStatus.COMPLETED),
    )
    assert text == "● Edit\n  --- /a.txt\n  +++ /a.txt\n  @@ -1,1 +1,1 @@\n  -x\n  +y\n  ✓ completed\n"


@pytest.mark.req("v2-tools-16", "v2-tools-17")
def test_a_diff_without_a_patch_names_the_files() -> None:
    change = ModifyChange(path="/b.bin")
    assert "changes /b.bin" in printed(tool(content=[ToolDiff(changes=[change])]))
    assert "changes /b.bin" in printed(tool(content=[ToolDiff(changes=[change], patch=None)]))
    unknown = Unknown({"operation": "_fold", "path": "/c"})
    assert "changes /b.bin" in printed(tool(content=[ToolDiff(changes=[unknown, change])]))


def test_texts_of_a_tool_are_shown_at_its_end_and_cut() -> None:
    lines = "\n".join(f"line {number}" for number in range(30))
    chunk = ToolCallContentChunkEvent(
        tool_call_id="c", content=ToolContent(content=TextBlock(text=f"```\n{lines}\n```"))
    )
    text = printed(chunk, tool(status=ToolCallStatus.FAILED))
    assert text.startswith("● tool call\n  line 0\n") and "  … 18 more lines\n  ✗ failed\n" in text


def test_a_plan_is_printed_when_it_changes() -> None:
    plan = PlanUpdateEvent(plan=ItemsPlan(plan_id="p", entries=[plan_entry("look"), plan_entry("act", "in_progress")]))
    assert printed(plan, plan) == "Plan\n  ☐ look\n  ▶ act\n"


def test_what_is_unknown_is_passed_over() -> None:
    assert printed(Unknown({"sessionUpdate": "sparkle"})) == ""
    assert printed(AgentMessageChunk(message_id="m", content=Unknown({"type": "hologram\x1b[2J"}))) == "[hologram]"


def test_a_title_cannot_be_more_than_a_line_and_a_diff_hides_nothing() -> None:
    diff = file_diff("/a.txt", "a\n", "import os  # \x1b]hidden\x07\n")
    text = printed(tool(title="Edit\n? Read [y]\x1b[2K", content=[diff]))
    assert text.startswith("● Edit␊? Read [y]␛[2K\n") and "  +import os  # ␛]hidden␇\n" in text


def test_a_very_long_line_is_cut_and_said_to_be() -> None:
    stream = io.StringIO()
    parts = Printer(Screen(stream, colour=False)).parts
    command = "rm -rf x #" + " " * 5000 + "echo"
    assert not parts.command(command, 6)
    assert "more characters" in stream.getvalue()
    assert parts.command(command, sys.maxsize) and command in stream.getvalue()


def test_a_diff_that_much_stands_after_is_printed_again_with_its_question() -> None:
    stream = io.StringIO()
    printer = Printer(Screen(stream, colour=False))
    diff = [file_diff("/a.txt", "x\n", "y\n")]
    for _ in range(2):
        assert printer.calls.show_diffs("c", diff, near=True)
    assert stream.getvalue().count("+y") == 1
    printer.screen.write("all is well\n" * 50)
    printer.calls.show_diffs("c", diff)
    assert stream.getvalue().count("+y") == 1
    printer.calls.show_diffs("c", diff, near=True)
    assert stream.getvalue().count("+y") == 2
