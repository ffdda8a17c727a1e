"""Starting, loading and forking sessions of version 1."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Lenient, Maybe, Opt
from duologue.protocol.common.ids import SessionId
from duologue.protocol.v1.config import SessionConfigOption, SessionModeState
from duologue.protocol.v1.mcp import McpServer


class NewSessionRequest(Extensible, kw_only=True):
    """Starts a session in a working directory."""

    cwd: str
    mcp_servers: Lenient[Items[McpServer]]
    additional_directories: Opt[Items[str]] = UNSET


class NewSessionResponse(Extensible, kw_only=True):
    """The session that was started."""

    session_id: SessionId
    modes: Maybe[SessionModeState] = UNSET
    config_options: Maybe[Items[SessionConfigOption]] = UNSET


class LoadSessionRequest(Extensible, kw_only=True):
    """Reopens a session and replays it as updates."""

    mcp_servers: Lenient[Items[McpServer]]
    cwd: str
    session_id: SessionId
    additional_directories: Opt[Items[str]] = UNSET


class LoadSessionResponse(Extensible, kw_only=True):
    """The session is open; all of it has been replayed."""

    modes: Maybe[SessionModeState] = UNSET
    config_options: Maybe[Items[SessionConfigOption]] = UNSET


class ResumeSessionRequest(Extensible, kw_only=True):
    """Reopens a session without a replay."""

    session_id: SessionId
    cwd: str
    additional_directories: Opt[Items[str]] = UNSET
    mcp_servers: Opt[Items[McpServer]] = UNSET


class ResumeSessionResponse(Extensible, kw_only=True):
    """The session is open."""

    modes: Maybe[SessionModeState] = UNSET
    config_options: Maybe[Items[SessionConfigOption]] = UNSET


class ForkSessionRequest(Extensible, kw_only=True):
    """Starts a session from a copy of another one."""

    session_id: SessionId
    cwd: str
    additional_directories: Opt[Items[str]] = UNSET
    mcp_servers: Opt[Items[McpServer]] = UNSET


class ForkSessionResponse(Extensible, kw_only=True):
    """The session that was started."""

    session_id: SessionId
    modes: Maybe[SessionModeState] = UNSET
    config_options: Maybe[Items[SessionConfigOption]] = UNSET
