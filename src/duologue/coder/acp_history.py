"""What the client was told in a session, kept so that it can be told again."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Awaitable, Iterator
from typing import TYPE_CHECKING

from duologue.agent import Voice
from duologue.protocol.common.content import TextBlock
from duologue.protocol.v2.terminal import TerminalOutput, output_bytes
from duologue.protocol.v2.tools import ToolCallStatus, ToolContent
from duologue.protocol.v2.updates import (
    SessionUpdate,
    TerminalOutputChunkEvent,
    TerminalUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
)
from duologue.session.transcript import Transcript

if TYPE_CHECKING:
    from duologue.coder.store.log import SessionLog

#: Bytes of one command's output that are kept; the end of it is what is shown again.
KEPT_OUTPUT = 256 * 1024


class History:
    """The updates of a session, folded; `log` writes them down as they come."""

    def __init__(self, log: SessionLog, transcript: Transcript | None = None) -> None:
        self.transcript = transcript or Transcript()
        self._log = log
        self._sizes: Counter[str] = Counter()
        # The end of each output that is longer than what is kept, until it is complete.
        self._ends: dict[str, bytearray] = {}

    def add(self, update: SessionUpdate) -> None:
        """The client is told this."""
        if isinstance(update, TerminalOutputChunkEvent):
            if self._is_long(update):
                return
        elif isinstance(update, TerminalUpdateEvent) and update.terminal_id in self._ends:
            self._show_end(update.terminal_id)
        self._keep(update)

    def _keep(self, update: SessionUpdate) -> None:
        self.transcript.apply(update)
        self._log.update(update)

    def _is_long(self, update: TerminalOutputChunkEvent) -> bool:
        """Whether this makes the output longer than what is kept: then only the end of it is, once that has come."""
        data = output_bytes(update.data)
        self._sizes[update.terminal_id] += len(data)
        if self._sizes[update.terminal_id] <= KEPT_OUTPUT:
            return False
        if update.terminal_id not in self._ends:
            self._ends[update.terminal_id] = bytearray(self.transcript.terminals[update.terminal_id].output)
        end = self._ends[update.terminal_id]
        end += data
        del end[:-KEPT_OUTPUT]
        return True

    def _show_end(self, terminal_id: str) -> None:
        output = TerminalOutput(data=b64encode(self._ends.pop(terminal_id)).decode())
        self._keep(TerminalUpdateEvent(terminal_id=terminal_id, output=output))

    def close_calls(self, reason: str) -> None:
        """End what was under way when the process of an earlier run ended."""
        for call in [call for call in self.transcript.tool_calls.values() if not call.ended]:
            self.add(
                ToolCallContentChunkEvent(tool_call_id=call.id, content=ToolContent(content=TextBlock(text=reason)))
            )
            self.add(ToolCallUpdateEvent(tool_call_id=call.id, status=ToolCallStatus.FAILED))

    def replay(self, voice: Voice) -> Iterator[Awaitable[None]]:
        """Tell everything again, one update a step; a call that still runs is left open."""
        for terminal_id in [*self._ends]:
            self._show_end(terminal_id)
        for update in self.transcript.updates():
            yield voice.update(update)
