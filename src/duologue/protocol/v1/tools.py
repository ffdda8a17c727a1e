"""Tool calls of version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET

from duologue.protocol.base import OPEN, Extensible, Items, Maybe, OpenEnum, Opt, Unknown
from duologue.protocol.common.ids import ToolCallId
from duologue.protocol.common.tools import ToolCallLocation, ToolKind, ToolTerminal
from duologue.protocol.v1.content import ContentBlock


class ToolCallStatus(OpenEnum):
    """How far a tool call is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"


class Content(Extensible, kw_only=True):
    """A content block as the result of a tool call."""

    content: ContentBlock


class Diff(Extensible, kw_only=True):
    """The change of one file: its whole text before and after; no old text means a new file."""

    path: str
    new_text: str
    old_text: Maybe[str] = UNSET


class ToolContent(Content, tag_field="type", tag="content", kw_only=True):
    """A block shown in a tool call."""


class ToolDiff(Diff, tag_field="type", tag="diff", kw_only=True):
    """The change of a file shown in a tool call."""


#: One item that a tool call shows.
if TYPE_CHECKING:
    ToolCallContent = ToolContent | ToolDiff | ToolTerminal | Unknown
else:
    ToolCallContent = Annotated[ToolContent | ToolDiff | ToolTerminal, OPEN]


class ToolCall(Extensible, kw_only=True):
    """A tool call when it first appears."""

    tool_call_id: ToolCallId
    title: str
    name: Maybe[str] = UNSET
    kind: Opt[ToolKind] = UNSET
    status: Opt[ToolCallStatus] = UNSET
    content: Opt[Items[ToolCallContent]] = UNSET
    locations: Opt[Items[ToolCallLocation]] = UNSET
    raw_input: Opt[Any] = UNSET
    raw_output: Opt[Any] = UNSET


class ToolCallUpdate(Extensible, kw_only=True):
    """What has changed in a tool call; lists replace the earlier ones."""

    tool_call_id: ToolCallId
    kind: Maybe[ToolKind] = UNSET
    status: Maybe[ToolCallStatus] = UNSET
    title: Maybe[str] = UNSET
    name: Maybe[str] = UNSET
    content: Maybe[Items[ToolCallContent]] = UNSET
    locations: Maybe[Items[ToolCallLocation]] = UNSET
    raw_input: Opt[Any] = UNSET
    raw_output: Opt[Any] = UNSET
