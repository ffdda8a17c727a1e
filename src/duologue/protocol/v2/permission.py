"""Permission requests of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from duologue.protocol.base import OPEN, AtLeastOne, Extensible, Maybe, Unknown, Wire
from duologue.protocol.common.ids import SessionId, TerminalId, ToolCallId
from duologue.protocol.common.permission import PermissionOption
from duologue.protocol.v2.ids import AbsolutePath
from duologue.protocol.v2.tools import ToolCallUpdate


class ToolCallPermissionSubject(Wire, kw_only=True):
    """The tool call that needs permission."""

    tool_call: ToolCallUpdate


class CommandPermissionSubject(Extensible, kw_only=True):
    """The command that needs permission."""

    command: str
    cwd: AbsolutePath
    tool_call_id: Maybe[ToolCallId] = UNSET
    terminal_id: Maybe[TerminalId] = UNSET


class ToolCallSubject(ToolCallPermissionSubject, tag_field="type", tag="tool_call", kw_only=True):
    """Permission is asked for a tool call."""


class CommandSubject(CommandPermissionSubject, tag_field="type", tag="command", kw_only=True):
    """Permission is asked for a command."""


#: What the permission is asked for.
if TYPE_CHECKING:
    RequestPermissionSubject = ToolCallSubject | CommandSubject | Unknown
else:
    RequestPermissionSubject = Annotated[ToolCallSubject | CommandSubject, OPEN]


class RequestPermissionRequest(Extensible, kw_only=True):
    """Asks the user a question whose answers are given."""

    session_id: SessionId
    title: str
    options: AtLeastOne[PermissionOption]
    description: Maybe[str] = UNSET
    subject: RequestPermissionSubject | UnsetType | None = UNSET
