"""What happened in a session, kept so that it can be shown again by the very table that showed it first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from duologue.coder.acp_events import Stage
from duologue.coder.events import (
    Event,
    PlanChanged,
    Text,
    Thought,
    TitleChanged,
    ToolFinished,
    ToolOutput,
    TurnEnded,
    UsageChanged,
)
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.updates import UserMessageEvent

#: Bytes of one command's output that are kept; the end of it is what is shown again.
KEPT_OUTPUT = 256 * 1024

#: Of these only the last one means anything.
LATEST = (PlanChanged, TitleChanged, UsageChanged)


@dataclass(slots=True)
class Joined:
    """Pieces of one message, or of one command's output."""

    first: Text | Thought | ToolOutput
    texts: list[str] = field(default_factory=list)
    data: bytearray = field(default_factory=bytearray)

    def takes(self, event: Event) -> bool:
        """Whether an event goes on with this one."""
        match self.first, event:
            case (Text(message=one), Text(message=other)) | (Thought(message=one), Thought(message=other)):
                return one == other
            case ToolOutput(call=one), ToolOutput(call=other):
                return one == other
        return False

    def add(self, event: Text | Thought | ToolOutput) -> None:
        if isinstance(event, ToolOutput):
            self.data += event.data
            del self.data[:-KEPT_OUTPUT]
        else:
            self.texts.append(event.text)

    def event(self) -> Event:
        if isinstance(self.first, ToolOutput):
            return replace(self.first, data=bytes(self.data))
        return replace(self.first, text="".join(self.texts))


class History:
    """Prompts and events in order."""

    def __init__(self) -> None:
        self._entries: list[Event | Joined | tuple[ContentBlock, ...]] = []

    def add_prompt(self, prompt: Sequence[ContentBlock]) -> None:
        """A turn began with this."""
        self._entries.append(tuple(prompt))

    def add(self, event: Event) -> None:
        """Something happened in the turn."""
        if isinstance(event, TurnEnded):
            return
        if isinstance(event, ToolFinished):
            # What its start told already: whole texts of files.
            event = replace(event, diffs=(), locations=())
        if isinstance(event, LATEST):
            self._entries = [entry for entry in self._entries if not isinstance(entry, type(event))]
        if not isinstance(event, Text | Thought | ToolOutput):
            self._entries.append(event)
            return
        last = self._entries[-1] if self._entries else None
        if not isinstance(last, Joined) or not last.takes(event):
            last = Joined(event)
            self._entries.append(last)
        last.add(event)

    def replay(self, stage: Stage) -> None:
        """Show everything again; a call that still runs is left open."""
        prompts = 0
        for entry in self._entries:
            if isinstance(entry, tuple):
                prompts += 1
                stage.voice.update(UserMessageEvent(message_id=f"prompt-{prompts}", content=list(entry)))
            else:
                stage.show(entry.event() if isinstance(entry, Joined) else entry)
