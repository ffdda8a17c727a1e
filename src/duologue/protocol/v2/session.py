"""Starting, resuming and forking sessions of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET

from duologue.protocol.base import OPEN, Extensible, Items, Maybe, Opt, Unknown
from duologue.protocol.common.ids import SessionId
from duologue.protocol.v2.config import SessionConfigOption
from duologue.protocol.v2.ids import AbsolutePath
from duologue.protocol.v2.mcp import McpServer


class ReplayFromStart(Extensible, kw_only=True):
    """A replay of the whole session."""


class StartReplay(ReplayFromStart, tag_field="type", tag="start", kw_only=True):
    """A replay of the whole session."""


#: Where a replay begins.
if TYPE_CHECKING:
    ReplayFrom = StartReplay | Unknown
else:
    ReplayFrom = Annotated[StartReplay, OPEN]


class NewSessionRequest(Extensible, kw_only=True):
    """Starts a session in a working directory."""

    cwd: AbsolutePath
    additional_directories: Opt[Items[AbsolutePath]] = UNSET
    mcp_servers: Opt[Items[McpServer]] = UNSET


class NewSessionResponse(Extensible, kw_only=True):
    """The session that was started."""

    session_id: SessionId
    config_options: Opt[Items[SessionConfigOption]] = UNSET


class ResumeSessionRequest(Extensible, kw_only=True):
    """Reopens a session, with a replay as updates when asked for."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: Opt[Items[AbsolutePath]] = UNSET
    mcp_servers: Opt[Items[McpServer]] = UNSET
    replay_from: Maybe[ReplayFrom] = UNSET


class ResumeSessionResponse(Extensible, kw_only=True):
    """The session is open; what was to be replayed has been."""

    config_options: Opt[Items[SessionConfigOption]] = UNSET


class ForkSessionRequest(Extensible, kw_only=True):
    """Starts a session from a copy of another one."""

    session_id: SessionId
    cwd: AbsolutePath
    additional_directories: Opt[Items[AbsolutePath]] = UNSET
    mcp_servers: Opt[Items[McpServer]] = UNSET


class ForkSessionResponse(Extensible, kw_only=True):
    """The session that was started."""

    session_id: SessionId
    config_options: Opt[Items[SessionConfigOption]] = UNSET
