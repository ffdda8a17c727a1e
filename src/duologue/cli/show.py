"""A turn as it is seen in a terminal: what the agent says, its tool calls, diffs, commands and plan, as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duologue.cli.bounds import BRIEF, Bounds
from duologue.cli.calls import Calls, block_text
from duologue.cli.command_output import CommandOutputs
from duologue.cli.parts import Parts
from duologue.cli.screen import Screen, one_line
from duologue.protocol.v2.plan import ItemsPlan
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.tools import ToolCallContent, ToolDiff
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentMessageEvent,
    AgentThoughtChunk,
    PlanUpdateEvent,
    SessionUpdate,
    StateUpdateEvent,
    TerminalOutputChunkEvent,
    TerminalUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
)
from duologue.session import Transcript

PLAN_MARKS: Mapping[str, str] = {"pending": "☐", "in_progress": "▶", "completed": "☑", "cancelled": "☒"}


class Printer:
    """Prints the updates of one session. What it remembers does not grow with the session."""

    def __init__(self, screen: Screen, bounds: Bounds = BRIEF) -> None:
        self.screen = screen
        self.parts = Parts(screen, bounds)
        self._outputs = CommandOutputs(self.parts)
        self.calls = Calls(self.parts, self._outputs, self._end_message)
        self._message: str | None = None
        self._transcript = Transcript()
        self._plan: list[str] = []

    def show(self, update: SessionUpdate, transcript: Transcript) -> None:
        """Print what an update means to a reader; many mean nothing to one. `transcript` holds it already."""
        self._transcript = transcript
        function = _SHOWS.get(update.__class__)
        if function is not None:
            function(self, update)

    def whole_diffs(self, content: Sequence[ToolCallContent]) -> None:
        """Print the diffs of a tool call to their ends."""
        for item in content:
            if isinstance(item, ToolDiff):
                self.parts.diff(item, sys.maxsize)

    # --- one function a kind ----------------------------------------------------------------------------------------

    def _said(self, update: AgentMessageChunk | AgentThoughtChunk) -> None:
        text = block_text(update.content)
        if self._message != update.message_id:
            text = text.lstrip("\n")
            if not text:
                return
            # A call that is only announced may be so in the middle of a sentence.
            self.calls.announce(begun_only=True)
            self.screen.fresh()
            self._message = update.message_id
        style = ("dim",) if isinstance(update, AgentThoughtChunk) else ()
        self.screen.write(text, *style)

    def _whole(self, update: AgentMessageEvent) -> None:
        if self._message == update.message_id or not update.content:
            return
        self.calls.announce()
        self._message = update.message_id
        self.screen.line("\n".join(block_text(block) for block in update.content))

    def _end_message(self) -> None:
        """Something else is printed: text of the same message that follows it begins on a line of its own."""
        self._message = None

    def _tool(self, update: ToolCallUpdateEvent) -> None:
        call = self._transcript.tool_calls[update.tool_call_id]
        self.calls.show(call, update.content or ())

    def _tool_chunk(self, update: ToolCallContentChunkEvent) -> None:
        self.calls.show(self._transcript.tool_calls[update.tool_call_id], (update.content,))

    def _terminal(self, update: TerminalUpdateEvent) -> None:
        self._outputs.update(update)

    def _terminal_output(self, update: TerminalOutputChunkEvent) -> None:
        self._outputs.chunk(update)

    def _show_plan(self, update: PlanUpdateEvent) -> None:
        if not isinstance(update.plan, ItemsPlan):
            return
        lines = [f"{PLAN_MARKS.get(entry.status, '☐')} {one_line(entry.content)}" for entry in update.plan.entries]
        if lines == self._plan:
            return
        self.calls.announce()
        self._plan, self._message = lines, None
        self.screen.line("Plan", "bold")
        for line in lines:
            self.screen.line(f"  {line}")

    def _state(self, update: StateUpdateEvent) -> None:
        """At the end of a turn nothing is held back any longer."""
        if update.state is SessionState.IDLE:
            self.calls.announce()
            self._outputs.end_all()


_SHOWS: Mapping[type[Any], Callable[[Printer, Any], None]] = {
    AgentMessageChunk: Printer._said,
    AgentThoughtChunk: Printer._said,
    AgentMessageEvent: Printer._whole,
    ToolCallUpdateEvent: Printer._tool,
    ToolCallContentChunkEvent: Printer._tool_chunk,
    TerminalUpdateEvent: Printer._terminal,
    TerminalOutputChunkEvent: Printer._terminal_output,
    PlanUpdateEvent: Printer._show_plan,
    StateUpdateEvent: Printer._state,
}
