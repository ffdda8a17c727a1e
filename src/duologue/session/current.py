"""A transcript of what goes on now: for a client that shows updates as they come and reads nothing twice."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentMessageEvent,
    AgentThoughtChunk,
    AgentThoughtEvent,
    PlanUpdateEvent,
    SessionUpdate,
    TerminalOutputChunkEvent,
    TerminalUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
    UserMessageChunk,
    UserMessageEvent,
)
from duologue.session.entries import ToolCallState
from duologue.session.transcript import Transcript

#: Tool calls, unknown updates and plans that are kept, the newest; and pieces of content of one call.
KEPT = 64
KEPT_CONTENT = 1024

_NOT_KEPT = frozenset(
    (
        *(AgentMessageChunk, AgentMessageEvent, AgentThoughtChunk, AgentThoughtEvent),
        *(UserMessageChunk, UserMessageEvent, TerminalOutputChunkEvent, TerminalUpdateEvent),
    )
)


class CurrentTranscript(Transcript):
    """Keeps the latest state and the newest tool calls, of an ended one only how it ended: no messages, no terminals.

    What it holds does not grow with the length of the conversation.
    """

    def __init__(self) -> None:
        super().__init__()
        self._over: ToolCallState | None = None

    def apply(self, update: SessionUpdate) -> None:
        """Fold one update. The content of a call that ends with it can be read until the next one."""
        if update.__class__ in _NOT_KEPT:
            return
        if self._over is not None:
            self._empty(self._over)
            self._over = None
        super().apply(update)
        if isinstance(update, ToolCallUpdateEvent | ToolCallContentChunkEvent):
            call = self.tool_calls[update.tool_call_id]
            if len(call.content) > KEPT_CONTENT:
                call.content = call.content[-KEPT_CONTENT:]
            self._over = call if call.ended else None
        elif isinstance(update, PlanUpdateEvent) and len(self.plans) > KEPT:
            del self.plans[next(iter(self.plans))]
        if len(self.entries) > KEPT:
            self._let_go()

    def _empty(self, call: ToolCallState) -> None:
        if call.frozen is not None:
            self._entries.touch(call)
        call.content = []
        call.raw_input = call.raw_output = UNSET

    def _let_go(self) -> None:
        oldest = self._entries.take_first()
        self.let_go += 1
        if isinstance(oldest, ToolCallState):
            del self.tool_calls[oldest.id]
