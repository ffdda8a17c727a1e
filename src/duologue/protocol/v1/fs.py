"""Files that the client reads and writes for the agent."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe, UInt32
from duologue.protocol.common.ids import SessionId


class ReadTextFileRequest(Extensible, kw_only=True):
    """Reads a text file, unsaved changes included; `line` counts from one."""

    session_id: SessionId
    path: str
    line: Maybe[UInt32] = UNSET
    limit: Maybe[UInt32] = UNSET


class ReadTextFileResponse(Extensible, kw_only=True):
    """The text that was read."""

    content: str


class WriteTextFileRequest(Extensible, kw_only=True):
    """Writes a text file, which is created when missing."""

    session_id: SessionId
    path: str
    content: str


class WriteTextFileResponse(Extensible, kw_only=True):
    """The file is written."""
