"""Listing and ending sessions, as far as both versions agree."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from duologue.protocol.base import Extensible, Items, Lenient, Maybe, Opt
from duologue.protocol.common.ids import SessionId


class SessionInfo(Extensible, kw_only=True):
    """A session in a listing."""

    session_id: SessionId
    cwd: str
    additional_directories: Opt[Items[str]] = UNSET
    title: Maybe[str] = UNSET
    updated_at: Maybe[str] = UNSET


class ListSessionsRequest(Extensible, kw_only=True):
    """Asks for a page of the sessions that the agent keeps."""

    cwd: str | UnsetType | None = UNSET
    cursor: str | UnsetType | None = UNSET


class ListSessionsResponse(Extensible, kw_only=True):
    """A page of sessions; a cursor when there are more."""

    sessions: Lenient[Items[SessionInfo]]
    next_cursor: Maybe[str] = UNSET


class DeleteSessionRequest(Extensible, kw_only=True):
    """Removes a session from the agent's store."""

    session_id: SessionId


class DeleteSessionResponse(Extensible, kw_only=True):
    """The session is gone."""


class CloseSessionRequest(Extensible, kw_only=True):
    """Stops a session's work and frees it."""

    session_id: SessionId


class CloseSessionResponse(Extensible, kw_only=True):
    """The session is closed."""
