"""What a run prints of tool calls: a line for those that look, the change or command of those that act, their ends."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest

from duologue.agent import file_diff
from duologue.cli.bounds import BRIEF, WHOLE, Bounds
from duologue.cli.calls import KEPT
from duologue.cli.screen import Screen
from duologue.cli.show import Printer
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.terminal import TerminalExitStatus
from duologue.protocol.common.tools import ToolKind, ToolTerminal
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.terminal import TerminalOutput
from duologue.protocol.v2.tools import ToolCallStatus, ToolContent
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    StateUpdateEvent,
    TerminalOutputChunkEvent,
    TerminalUpdateEvent,
    ToolCallUpdateEvent,
)
from duologue.session import CurrentTranscript

PENDING, RUNNING = ToolCallStatus.PENDING, ToolCallStatus.IN_PROGRESS
DONE, FAILED = ToolCallStatus.COMPLETED, ToolCallStatus.FAILED


class Shown:
    """A printer and what it printed."""

    def __init__(self, bounds: Bounds = BRIEF) -> None:
        self.stream = io.StringIO()
        self.printer = Printer(Screen(self.stream, colour=False), bounds)
        self.transcript = CurrentTranscript()

    def show(self, *updates: Any) -> str:
        """Everything that was printed so far."""
        for update in updates:
            self.transcript.apply(update)
            self.printer.show(update, self.transcript)
        return self.stream.getvalue()


def printed(*updates: Any, bounds: Bounds = BRIEF) -> str:
    return Shown(bounds).show(*updates)


def tool(call_id: str = "c", **members: Any) -> ToolCallUpdateEvent:
    return ToolCallUpdateEvent(tool_call_id=call_id, **members)


def text(*lines: str) -> list[ToolContent]:
    return [ToolContent(content=TextBlock(text="\n".join(lines)))]


def read(call_id: str = "c", **members: Any) -> ToolCallUpdateEvent:
    return tool(call_id, title=f"Read {call_id}", kind=ToolKind.READ, **members)


def said(words: str) -> AgentMessageChunk:
    return AgentMessageChunk(message_id="m", content=TextBlock(text=words))


def output(data: str) -> TerminalOutputChunkEvent:
    return TerminalOutputChunkEvent(terminal_id="t", data=base64.b64encode(data.encode()).decode())


def exited(code: int) -> TerminalUpdateEvent:
    return TerminalUpdateEvent(terminal_id="t", exit_status=TerminalExitStatus(exit_code=code))


IDLE = StateUpdateEvent(state=SessionState.IDLE)


def test_the_page_tells_the_numbers_that_hold() -> None:
    page = " ".join((Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8").split())
    assert f"the first {BRIEF.output} lines of its output" in page
    assert f"the last {BRIEF.output_end} lines follow when the command has ended, and {BRIEF.failed_end} when" in page
    assert f"{BRIEF.text} lines, of a diff {BRIEF.diff}, and of each line {BRIEF.characters} characters" in page


# --- Calls that look -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH])
def test_a_call_that_looks_is_one_line_with_how_much_it_found(kind: ToolKind) -> None:
    begin = tool(title="Look", kind=kind, status=PENDING)
    end = tool(content=text("```", "secret 1", "secret 2", "```"), status=DONE)
    assert printed(begin, tool(status=RUNNING), end) == f"● Look [{kind}] · 2 lines\n"


@pytest.mark.parametrize(
    ("content", "found"),
    [(text("no matches"), " · no matches"), (text("x" * 100), " · 1 line"), ([], ""), (text(""), "")],
)
def test_how_much_was_found(content: Any, found: str) -> None:
    assert printed(read(status=RUNNING), tool(content=content, status=DONE)) == f"● Read c [read]{found}\n"


def test_the_content_is_shown_when_it_is_wanted() -> None:
    lines = [f"line {number}" for number in range(50)]
    shown = printed(read(status=RUNNING), tool(content=text(*lines), status=DONE), bounds=WHOLE)
    assert shown == "● Read c [read]\n" + "".join(f"  {line}\n" for line in lines) + "  ✓ completed\n"


def test_a_look_that_failed_says_why() -> None:
    shown = printed(read(status=RUNNING), tool(content=text("no such file"), status=FAILED))
    assert shown == "● Read c [read]\n  no such file\n  ✗ failed\n"


def test_looks_side_by_side_are_a_line_each() -> None:
    shown = printed(
        read("a", status=RUNNING),
        read("b", status=RUNNING),
        tool("b", content=text("1", "2"), status=DONE),
        tool("a", content=text("1", "2", "3"), status=DONE),
    )
    assert shown.splitlines() == ["● Read a [read]", "● Read b [read] · 2 lines"]


def test_the_better_title_of_a_later_update_is_the_one_that_is_shown() -> None:
    """As agents do that know no more than a kind when a call begins."""
    begin = tool(title="Read File", kind=ToolKind.READ, status=PENDING)
    assert printed(begin, tool(title="Read a.txt", raw_input={"path": "a.txt"}), tool(status=DONE)) == (
        "● Read a.txt [read]\n"
    )
    begin = tool(title="read", kind=ToolKind.READ, status=RUNNING)
    assert printed(begin, tool(title="src/a.txt", content=text("x", "y"), status=DONE)) == (
        "● read [read] · src/a.txt · 2 lines\n"
    )


def test_a_call_that_works_stands_before_the_text_that_comes_after_it() -> None:
    shown = Shown()
    shown.show(read("a", status=RUNNING), read("b", status=RUNNING), said("text"))
    before = "● Read a [read]\n● Read b [read]\ntext"
    assert shown.show() == before
    assert shown.show(tool("b", content=text("1", "2"), status=DONE), tool("a", status=DONE)) == before


def test_a_call_that_is_only_announced_breaks_no_sentence() -> None:
    shown = printed(said("I call "), read(status=PENDING), said("it."), tool(content=text("1", "2"), status=DONE))
    assert shown == "I call it.\n● Read c [read] · 2 lines\n"


def test_nothing_is_held_back_at_the_end_of_a_turn() -> None:
    assert printed(read(status=PENDING), IDLE) == "● Read c [read]\n"


def test_a_message_that_goes_on_after_a_call_begins_a_line() -> None:
    assert printed(said("a"), read(status=DONE), said("b")) == "a\n● Read c [read]\nb"


def test_a_reader_that_changes_files_shows_the_change() -> None:
    shown = printed(read(status=RUNNING, content=[file_diff("/a.txt", "x\n", "y\n")]), tool(status=DONE))
    assert "  +y\n" in shown and "✓ completed" in shown


# --- Calls that act --------------------------------------------------------------------------------------------------


def run(**members: Any) -> ToolCallUpdateEvent:
    return tool(kind=ToolKind.EXECUTE, **members)


def test_a_command_that_the_title_does_not_hold_is_shown() -> None:
    begin = run(title="Terminal", status=PENDING)
    end = tool(content=text("out"), status=DONE)
    shown = printed(begin, tool(title="List", raw_input={"command": "ls -l"}), end)
    assert shown == "● List [execute]\n  $ ls -l\n  out\n  ✓ completed\n"
    assert "$ ls" not in printed(run(title="Run ls -l", raw_input={"command": "ls -l"}, status=RUNNING), end)


def test_a_command_is_shown_once_though_its_terminal_tells_it_too() -> None:
    begin = run(title="List", raw_input={"command": "ls"}, status=RUNNING)
    shown = printed(begin, TerminalUpdateEvent(terminal_id="t", command="ls"), output("a\n"))
    assert shown == "● List [execute]\n  $ ls\n  │ a\n"


def test_a_terminal_that_is_told_before_its_call_stands_below_it() -> None:
    call = run(title="List", raw_input={"command": "ls"}, status=RUNNING, content=[ToolTerminal(terminal_id="t")])
    shown = printed(TerminalUpdateEvent(terminal_id="t", command="ls"), call, output("a\n"))
    assert shown == "● List [execute]\n  $ ls\n  │ a\n"
    call = run(title="Run", status=RUNNING, content=[ToolTerminal(terminal_id="t")])
    shown = printed(TerminalUpdateEvent(terminal_id="t", command="ls"), call, output("a\n"))
    assert shown == "● Run [execute]\n  $ ls\n  │ a\n"


def test_a_change_that_is_told_again_with_more_around_it_is_printed_once() -> None:
    """As of agents that know the file only when they have written it. What has no last line feed is no change."""
    short, whole = file_diff("/a.txt", "x", "y"), file_diff("/a.txt", "1\nx\n2", "1\ny\n2")
    shown = printed(tool(title="Edit", content=[short]), tool(content=[whole], status=DONE))
    assert shown.count("+y") == 1 and "No newline" not in shown
    assert "\\ No newline" in printed(tool(title="Edit", content=[file_diff("/a.txt", "x\n", "x")]))
    shown = printed(tool(title="Edit", content=[short]), tool(content=[file_diff("/b.txt", "x", "y")]))
    assert shown.count("+y") == 2


def test_a_title_that_only_repeats_the_command_is_not_told_again() -> None:
    begin = run(title="bash", raw_input={"command": "ls"}, status=RUNNING)
    assert printed(begin, tool(title="ls", status=DONE)) == "● bash [execute]\n  $ ls\n  ✓ completed\n"


def test_a_message_begins_without_empty_lines() -> None:
    assert printed(said("\n\n"), said("\na\n\nb")) == "a\n\nb"


def lines(number: int) -> str:
    return "".join(f"line {each}\n" for each in range(number))


def test_the_first_lines_come_at_once_and_of_a_long_output_the_end() -> None:
    shown = Shown()
    begin = run(title="Run", status=RUNNING, content=[ToolTerminal(terminal_id="t")])
    live = shown.show(begin, output(lines(100)))
    assert live.count("│ line") == BRIEF.output
    told = shown.show(exited(0), tool(status=DONE)).removeprefix(live).splitlines()
    left_out = 100 - BRIEF.output - BRIEF.output_end
    assert told[0] == f"  │ … {left_out} lines left out (--verbose shows them)"
    assert told[1:] == [f"  │ line {each}" for each in range(100 - BRIEF.output_end, 100)] + ["  ✓ completed"]


def test_of_a_failed_command_more_is_shown() -> None:
    begin = run(title="Run", status=RUNNING, content=[ToolTerminal(terminal_id="t")])
    shown = printed(begin, output(lines(100)), exited(3), tool(status=FAILED))
    assert shown.count("│ line") == BRIEF.output + BRIEF.failed_end
    assert shown.endswith("  │ line 99\n  ✗ failed (exit code 3)\n")


def test_a_line_is_left_out_only_where_that_makes_it_shorter() -> None:
    shown = printed(output(lines(BRIEF.output + BRIEF.output_end + 1)), exited(0))
    assert "left out" not in shown and shown.count("│ line") == BRIEF.output + BRIEF.output_end + 1
    most = BRIEF.output + BRIEF.failed_end + 1
    shown = printed(output(lines(most)), exited(1))
    assert "left out" not in shown and shown.count("│ line") == most


def test_all_output_is_shown_when_it_is_wanted() -> None:
    shown = printed(output(lines(1000)), output("x" * 5000), exited(0), bounds=WHOLE)
    assert shown.count("│ line") == 1000 and "x" * 5000 in shown


def test_output_is_shown_without_an_exit_status_too() -> None:
    begin = run(title="Run", status=RUNNING, content=[ToolTerminal(terminal_id="t")])
    assert "│ line 99" in printed(begin, output(lines(100)), tool(status=DONE))
    assert "│ line 99" in printed(output(lines(100)), IDLE)


def test_output_that_is_told_anew_as_a_whole_is_not_printed_twice() -> None:
    def whole(data: str) -> TerminalUpdateEvent:
        return TerminalUpdateEvent(
            terminal_id="t", output=TerminalOutput(data=base64.b64encode(data.encode()).decode())
        )

    assert printed(whole("a\n"), whole("a\nb\n"), whole("a\nb\n"), exited(0)) == "  │ a\n  │ b\n"


def test_characters_and_lines_in_pieces_are_whole() -> None:
    data = "größer\r\nkleiner".encode()
    pieces = [
        TerminalOutputChunkEvent(terminal_id="t", data=base64.b64encode(data[at : at + 1]).decode())
        for at in range(len(data))
    ]
    assert printed(*pieces, exited(0)) == "  │ größer\n  │ kleiner\n"


def test_what_is_meant_for_programs_is_not_shown() -> None:
    assert printed(output('a\n\x1b_result {"x": 1}\x1b\\\nb\n\n'), exited(0)) == "  │ a\n  │ b\n  │ \n"


def test_the_text_of_a_command_is_shown_from_its_end() -> None:
    """As of agents that have no terminals to show."""
    shown = printed(run(title="Run", raw_input={"command": "x"}), tool(content=text(*lines(90).split()), status=DONE))
    assert "lines before\n" in shown and shown.endswith("  89\n  ✓ completed\n")


def test_a_call_that_is_told_only_by_its_end() -> None:
    assert printed(run(title="sleep 1", status=DONE)) == "● sleep 1 [execute]\n  ✓ completed\n"


def test_what_is_told_after_the_end_is_not_printed_again() -> None:
    end = tool(content=text("out"), status=DONE)
    assert printed(run(title="x", raw_input={"command": "x"}), end, end, end).count("out") == 1


def test_what_is_remembered_does_not_grow() -> None:
    shown = Shown()
    for number in range(10 * KEPT):
        shown.show(
            tool(f"c{number}", title="Act", status=RUNNING, content=[file_diff("/a.txt", "x\n", f"{number}\n")]),
            TerminalUpdateEvent(terminal_id=f"t{number}", output=TerminalOutput(data="eA==")),
            read(f"r{number}", status=PENDING),
        )
    printer = shown.printer
    assert len(printer.calls._seen) <= KEPT and len(printer.calls._waiting) <= KEPT
    assert len(printer._outputs._outputs) <= KEPT
