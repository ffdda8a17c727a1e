"""Tool calls of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from msgspec import UNSET

from duologue.protocol.base import OPEN, Extensible, Items, Maybe, OpenEnum, Opt, Unknown
from duologue.protocol.common.ids import ToolCallId
from duologue.protocol.common.tools import ToolCallLocation, ToolKind, ToolTerminal
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.diff import Diff


class ToolCallStatus(OpenEnum):
    """How far a tool call is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


#: The statuses after which nothing more is done.
ENDED: Final = frozenset({ToolCallStatus.COMPLETED, ToolCallStatus.FAILED, ToolCallStatus.CANCELLED})


class Content(Extensible, kw_only=True):
    """A content block as the result of a tool call."""

    content: ContentBlock


class ToolContent(Content, tag_field="type", tag="content", kw_only=True):
    """A block shown in a tool call."""


class ToolDiff(Diff, tag_field="type", tag="diff", kw_only=True):
    """Changes of files shown in a tool call."""


#: One item that a tool call shows.
if TYPE_CHECKING:
    ToolCallContent = ToolContent | ToolDiff | ToolTerminal | Unknown
else:
    ToolCallContent = Annotated[ToolContent | ToolDiff | ToolTerminal, OPEN]


class ToolCallUpdate(Extensible, kw_only=True):
    """A tool call, or what has changed in it; an absent member stays as it was, null clears it."""

    tool_call_id: ToolCallId
    name: Maybe[str] = UNSET
    title: Maybe[str] = UNSET
    kind: Maybe[ToolKind] = UNSET
    status: Maybe[ToolCallStatus] = UNSET
    content: Maybe[Items[ToolCallContent]] = UNSET
    locations: Maybe[Items[ToolCallLocation]] = UNSET
    raw_input: Opt[Any] = UNSET
    raw_output: Opt[Any] = UNSET


class ToolCallContentChunk(Extensible, kw_only=True):
    """One more item of a tool call's content."""

    tool_call_id: ToolCallId
    content: ToolCallContent
