"""What stands in a transcript: messages and tool calls, each growing at constant cost per update."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import groupby
from typing import Any

from msgspec import UNSET

from duologue.protocol.common.content import TextBlock
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.tools import ENDED, ToolCallContent
from duologue.protocol.v2.updates import (
    AgentMessageEvent,
    AgentThoughtEvent,
    SessionUpdate,
    ToolCallUpdateEvent,
    UserMessageEvent,
)
from duologue.session.shelf import Head, Kept


class Role(Enum):
    """Who speaks in a message."""

    USER = "user"
    AGENT = "agent"
    THOUGHT = "thought"


_EVENTS: dict[Role, type[UserMessageEvent | AgentMessageEvent | AgentThoughtEvent]] = {
    Role.USER: UserMessageEvent,
    Role.AGENT: AgentMessageEvent,
    Role.THOUGHT: AgentThoughtEvent,
}


class Message(Kept):
    """A message of the user, of the agent, or a thought. Plain text that follows plain text is joined when read."""

    __slots__ = ("_base", "_blocks", "_parts", "_read", "id", "meta", "role")

    def __init__(self, role: Role, message_id: str) -> None:
        self.role = role
        self.id = message_id
        self.meta: Any = UNSET
        # What replaced all that was there before, and what came since: plain text as strings.
        self._base: Sequence[ContentBlock] = ()
        self._parts: list[ContentBlock | str] = []
        # Both joined, so far as it was read.
        self._blocks: list[ContentBlock] = []
        self._read = 0

    def add(self, content: ContentBlock) -> None:
        """Append one piece."""
        if content.__class__ is TextBlock and _is_plain(content):
            self._parts.append(content.text)
        else:
            self._parts.append(content)

    def replace(self, content: list[ContentBlock]) -> None:
        """Take `content` in place of everything so far."""
        self._base, self._parts = tuple(content), []
        self._blocks, self._read = list(content), 0

    @property
    def content(self) -> tuple[ContentBlock, ...]:
        """The blocks, text joined."""
        if self._read < len(self._parts):
            self._join()
        return tuple(self._blocks)

    @property
    def text(self) -> str:
        """The text of the text blocks."""
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))

    def updates(self) -> Iterator[SessionUpdate]:
        """The update that gives this message anew."""
        yield _EVENTS[self.role](message_id=self.id, content=list(self.content), meta=self.meta)

    def freeze(self) -> Message:
        """See `Kept`."""
        twin = Message(self.role, self.id)
        twin.meta = self.meta
        twin._base, twin._blocks = self._base, list(self._base)
        twin._parts = Head(self._parts)  # type: ignore[assignment]
        return twin

    def __repr__(self) -> str:
        return f"Message({self.role.value}, {shown(self.id)}, {shown(self.text)})"

    def _join(self) -> None:
        fresh = self._parts[self._read :]
        self._read += len(fresh)
        for is_text, run in groupby(fresh, lambda part: isinstance(part, str)):
            if not is_text:
                self._blocks += run  # type: ignore[arg-type]
                continue
            last = self._blocks[-1] if self._blocks else None
            # Joined to what was read earlier: when someone reads must not show in what is read.
            before = [self._blocks.pop().text] if isinstance(last, TextBlock) and _is_plain(last) else []  # type: ignore[union-attr]
            self._blocks.append(TextBlock(text="".join([*before, *run])))  # type: ignore[list-item]


def _is_plain(block: Any) -> bool:
    return block.annotations is UNSET and block.meta is UNSET


#: The most characters of a text in a `repr`.
SHOWN = 60


def shown(text: object) -> str:
    """A value as a `repr` shows it: short, on one line; an absent one as it is."""
    if not isinstance(text, str):
        return repr(text)
    return repr(str(text)) if len(text) <= SHOWN else repr(text[: SHOWN - 1] + "…")


_MEMBERS = ("name", "title", "kind", "status", "locations", "raw_input", "raw_output", "meta")


class ToolCallState(Kept):
    """A tool call as all its updates leave it. A member is UNSET when it was never given, None when it was cleared."""

    __slots__ = ("content", "id", *_MEMBERS)

    def __init__(self, tool_call_id: str) -> None:
        self.id = tool_call_id
        self.content: list[ToolCallContent] = []
        for member in _MEMBERS:
            setattr(self, member, UNSET)

    name: Any
    title: Any
    kind: Any
    status: Any
    locations: Any
    raw_input: Any
    raw_output: Any
    meta: Any

    def patch(self, update: ToolCallUpdateEvent) -> None:
        """Absent members stay, null clears, a value replaces."""
        for member in _MEMBERS:
            value = getattr(update, member)
            if value is not UNSET:
                setattr(self, member, value)
        if update.content is not UNSET:
            self.content = list(update.content or ())

    @property
    def ended(self) -> bool:
        """Whether the call has come to an end."""
        return self.status in ENDED

    def freeze(self) -> ToolCallState:
        """See `Kept`."""
        twin = ToolCallState(self.id)
        for member in _MEMBERS:
            setattr(twin, member, getattr(self, member))
        twin.content = Head(self.content)  # type: ignore[assignment]
        return twin

    def __repr__(self) -> str:
        # Neither input nor output: they may hold what is meant for no log.
        words = ", ".join(f"{name}={shown(getattr(self, name))}" for name in ("title", "kind", "status"))
        return f"ToolCallState({shown(self.id)}, {words}, {len(self.content)} items)"

    def updates(self) -> Iterator[SessionUpdate]:
        """The update that gives this call anew."""
        members = {member: getattr(self, member) for member in _MEMBERS}
        yield ToolCallUpdateEvent(tool_call_id=self.id, content=list(self.content) or UNSET, **members)
