"""A turn as it is seen in a terminal: what the agent says, its tool calls, diffs, terminals and plan, as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duologue.cli.patches import compact
from duologue.cli.screen import Screen, one_line, printable, visible
from duologue.protocol.base import Unknown
from duologue.protocol.common.content import TextBlock
from duologue.protocol.v2.diff import DiffPatch
from duologue.protocol.v2.plan import ItemsPlan
from duologue.protocol.v2.tools import ToolCallContent, ToolCallStatus, ToolContent, ToolDiff
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentMessageEvent,
    AgentThoughtChunk,
    PlanUpdateEvent,
    SessionUpdate,
    TerminalOutputChunkEvent,
    TerminalUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
)
from duologue.session import TerminalState, ToolCallState, Transcript

#: Lines of a tool's text, of a command and of one diff that are shown.
TEXT_LINES = 12
COMMAND_LINES = 6
DIFF_LINES = 400
#: How far above a question its diffs may stand, in lines.
NEAR_LINES = 20
#: Characters of one line that are shown.
LINE_CHARACTERS = 2000

ENDS: Mapping[str, tuple[str, str]] = {
    ToolCallStatus.COMPLETED: ("✓ completed", "green"),
    ToolCallStatus.FAILED: ("✗ failed", "red"),
    ToolCallStatus.CANCELLED: ("✗ cancelled", "yellow"),
}
PLAN_MARKS: Mapping[str, str] = {"pending": "☐", "in_progress": "▶", "completed": "☑", "cancelled": "☒"}


class Printer:
    """Prints the updates of one session."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self._message: str | None = None
        self._transcript = Transcript()
        self._commands: dict[str, str] = {}
        self._printed: dict[str, int] = {}
        self._diffs: dict[tuple[str, str], tuple[bool, int]] = {}
        self._status: dict[str, str] = {}
        self._plan: list[str] = []
        self._asked: str | None = None

    def show(self, update: SessionUpdate, transcript: Transcript) -> None:
        """Print what an update means to a reader; many mean nothing to one. `transcript` holds it already."""
        self._transcript = transcript
        function = _SHOWS.get(update.__class__)
        if function is not None:
            function(self, update)

    # --- messages ---------------------------------------------------------------------------------------------------

    def _said(self, update: AgentMessageChunk | AgentThoughtChunk) -> None:
        if self._message != update.message_id:
            self.screen.fresh()
            self._message = update.message_id
        style = ("dim",) if isinstance(update, AgentThoughtChunk) else ()
        self.screen.write(_block_text(update.content), *style)

    def _whole(self, update: AgentMessageEvent) -> None:
        if self._message == update.message_id or not update.content:
            return
        self._message = update.message_id
        self.screen.line("\n".join(_block_text(block) for block in update.content))

    # --- tool calls -------------------------------------------------------------------------------------------------

    def _tool(self, update: ToolCallUpdateEvent | ToolCallContentChunkEvent) -> None:
        call = self._transcript.tool_calls[update.tool_call_id]
        if call.id not in self._status:
            self._status[call.id] = ""
            self._message = None
            kind = f" [{one_line(str(call.kind))}]" if isinstance(call.kind, str) else ""
            title = one_line(call.title) if isinstance(call.title, str) else "tool call"
            self.screen.line(f"{self.screen.paint('●', 'cyan')} {title}{self.screen.paint(kind, 'dim')}")
        self.show_diffs(call.id, call.content)
        if call.ended and self._status[call.id] != call.status:
            self._status[call.id] = call.status
            self._texts(call)
            text, style = ENDS[call.status]
            self.screen.line(f"  {text}", style)

    def show_diffs(self, call_id: str, content: Sequence[ToolCallContent], *, near: bool = False) -> bool:
        """Print the diffs of a tool call that were not printed before; whether they are printed to their ends.

        Where they must be `near`, those that much was printed after are printed again.
        """
        diffs = [item for item in content if isinstance(item, ToolDiff)]
        whole = [self._diff(call_id, item, sys.maxsize if not near else NEAR_LINES) for item in diffs]
        return all(whole)

    def _diff(self, call_id: str, item: ToolDiff, near: int) -> bool:
        patch = item.patch.text if isinstance(item.patch, DiffPatch) else ""
        key = (call_id, patch or repr(item.changes))
        known = self._diffs.get(key)
        if known is None or self.screen.lines - known[1] > near:
            whole = self._diff_lines(_diff_lines(item), DIFF_LINES)
            known = self._diffs[key] = whole, self.screen.lines
        return known[0]

    def whole_diffs(self, content: Sequence[ToolCallContent]) -> None:
        """Print the diffs of a tool call to their ends."""
        for item in content:
            if isinstance(item, ToolDiff):
                self._diff_lines(_diff_lines(item), sys.maxsize)

    def _diff_lines(self, lines: Sequence[str], most: int) -> bool:
        return self.lines([visible(line) for line in lines], most, by_line=_diff_style)

    def _texts(self, call: ToolCallState) -> None:
        texts = [_unfenced(_block_text(item.content)) for item in call.content if isinstance(item, ToolContent)]
        lines = "\n".join(texts).strip("\n").split("\n") if texts else []
        self.lines(lines, TEXT_LINES, "dim")

    def lines(
        self, lines: Sequence[str], most: int, *styles: str, by_line: Callable[[str], tuple[str, ...]] | None = None
    ) -> bool:
        """Print lines under a tool call, `most` of them and not all of a very long one; whether that was all."""
        for line in lines[:most]:
            cut = "" if most == sys.maxsize or len(line) <= LINE_CHARACTERS else _more(len(line) - LINE_CHARACTERS)
            shown = line[:LINE_CHARACTERS] + cut if cut else line
            self.screen.line(f"  {self.screen.paint(shown, *(by_line(line) if by_line else styles))}")
        self._left_out(len(lines) - most)
        return is_short(lines, most)

    def _left_out(self, lines: int) -> None:
        if lines > 0:
            self.screen.line(f"  … {lines} more lines", "dim")

    # --- terminals and plans ----------------------------------------------------------------------------------------

    def _terminal(self, update: TerminalUpdateEvent) -> None:
        terminal = self._transcript.terminals[update.terminal_id]
        command = terminal.command
        if command and command != self._commands.get(terminal.id):
            self._commands[terminal.id] = command
            if command != self._asked:
                self.command(command, COMMAND_LINES)
        self._output(terminal, ended=bool(update.exit_status))

    def command(self, command: str, most: int) -> bool:
        """Print a command; whether all of it was printed."""
        self.note_command(command)
        first, *more = visible(command).split("\n")
        return self.lines([f"$ {first}", *(f"> {line}" for line in more)], most, "bold")

    def note_command(self, command: str) -> None:
        """A question has shown this command: it is not printed again when it starts."""
        self._asked = command

    def _terminal_output(self, update: TerminalOutputChunkEvent) -> None:
        self._output(self._transcript.terminals[update.terminal_id], ended=False)

    def _output(self, terminal: TerminalState, *, ended: bool) -> None:
        """Print the lines that have become whole, and at the end the rest."""
        text = terminal.text
        begin = self._printed.get(terminal.id, 0)
        end = len(text) if ended else text.rfind("\n") + 1
        if end <= begin:
            return
        self._printed[terminal.id] = end
        for line in printable(text[begin:end]).removesuffix("\n").split("\n"):
            self.screen.line(f"  │ {line}", "dim")

    def _show_plan(self, update: PlanUpdateEvent) -> None:
        if not isinstance(update.plan, ItemsPlan):
            return
        lines = [f"{PLAN_MARKS.get(entry.status, '☐')} {one_line(entry.content)}" for entry in update.plan.entries]
        if lines == self._plan:
            return
        self._plan, self._message = lines, None
        self.screen.line("Plan", "bold")
        for line in lines:
            self.screen.line(f"  {line}")


_SHOWS: Mapping[type[Any], Callable[[Printer, Any], None]] = {
    AgentMessageChunk: Printer._said,
    AgentThoughtChunk: Printer._said,
    AgentMessageEvent: Printer._whole,
    ToolCallUpdateEvent: Printer._tool,
    ToolCallContentChunkEvent: Printer._tool,
    TerminalUpdateEvent: Printer._terminal,
    TerminalOutputChunkEvent: Printer._terminal_output,
    PlanUpdateEvent: Printer._show_plan,
}


def _block_text(block: Any) -> str:
    if isinstance(block, TextBlock):
        return printable(block.text)
    kind = block.raw.get("type") if isinstance(block, Unknown) else block.__struct_config__.tag
    return f"[{printable(str(kind))}]"


def is_short(lines: Sequence[str], most: int) -> bool:
    """Whether lines are shown to their ends where only `most` of them are."""
    return len(lines) <= most and (most == sys.maxsize or all(len(line) <= LINE_CHARACTERS for line in lines))


def _more(characters: int) -> str:
    return f" … {characters} more characters"


def _diff_lines(item: ToolDiff) -> list[str]:
    if isinstance(item.patch, DiffPatch) and item.patch.text:
        return _without_git_line(compact(item.patch.text))
    return [f"changes {_change(change)}" for change in item.changes]


def _unfenced(text: str) -> str:
    """A code block of Markdown without its fence: everything here is shown as it is."""
    lines = text.strip("\n").split("\n")
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].startswith("```"):
        return "\n".join(lines[1:-1])
    return text


def _change(change: Any) -> str:
    named = [getattr(change, member, None) for member in ("old_path", "path")]
    return one_line(" -> ".join(path for path in named if isinstance(path, str)) or str(change))


def _without_git_line(lines: list[str]) -> list[str]:
    """Without the lines that only repeat the path."""
    if not any(line.startswith("--- ") for line in lines):
        return lines
    return [line for line in lines if not line.startswith("diff --git ")]


def _diff_style(line: str) -> tuple[str, ...]:
    if line.startswith(("+++", "---", "diff ")):
        return ("bold",)
    match line[:1]:
        case "+":
            return ("green",)
        case "-":
            return ("red",)
        case "@":
            return ("cyan",)
    return ()
