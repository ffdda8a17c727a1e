"""Permission requests of version 1."""

from __future__ import annotations

from duologue.protocol.base import Extensible
from duologue.protocol.common.ids import SessionId
from duologue.protocol.common.permission import PermissionOption
from duologue.protocol.v1.tools import ToolCallUpdate


class RequestPermissionRequest(Extensible, kw_only=True):
    """Asks the user whether a tool call may run."""

    session_id: SessionId
    tool_call: ToolCallUpdate
    options: list[PermissionOption]
