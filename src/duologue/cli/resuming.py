"""Going on with a session that an agent has kept: finding it, and opening it without showing what was said before."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from duologue.cli.failing import reason_of
from duologue.client import ClientConnection, Session
from duologue.errors import DuologueError
from duologue.jsonrpc.errors import RpcError
from duologue.local.folders import real_folder
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.session import SessionInfo
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.mcp import McpServer

#: Sessions that are asked for at most: an agent may list them without an end.
MOST_LISTED = 1000
NEVER = datetime.fromtimestamp(0, UTC)


class NoSession(DuologueError):
    """There is no session to go on with, or the agent does not offer to; the text says which."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Which session to go on with: the one of this id, or without one the last of the folder."""

    session_id: str | None = None


async def reopened(
    connection: ClientConnection, resume: Resume, cwd: Path, servers: Sequence[McpServer] = ()
) -> tuple[Session, SessionInfo | None]:
    """The session, and what the agent tells of it in its list. Raises `NoSession`, `NotOffered`, `RpcError`."""
    if not connection.offers(v2.SESSION_RESUME):
        raise NoSession("this agent does not offer to go on with a session (session/resume, session/load)")
    info: SessionInfo | None
    if resume.session_id is None:
        info = await _last(connection, cwd)
        session_id = info.session_id
    else:
        info, session_id = await _named(connection, resume.session_id), resume.session_id
    replay = not _without_replay(connection)
    try:
        session = await connection.resume_session(session_id, cwd, replay=replay, mcp_servers=servers)
    except RpcError as error:
        if error.code != ErrorCode.RESOURCE_NOT_FOUND:
            raise
        raise NoSession(f"{reason_of(error)}; `duologue sessions` lists those that there are") from error
    return session, info


def _without_replay(connection: ClientConnection) -> bool:
    """Whether a session can be opened without its history, which is not shown; some of version 1 can only load."""
    said = connection.peer.said_in_v1
    return said is None or bool(getattr(said, "resume", True))


async def _named(connection: ClientConnection, session_id: str) -> SessionInfo | None:
    """What is listed of a session, where anything is listed."""
    if not connection.offers(v2.SESSION_LIST):
        return None
    async for info in listed(connection, None):
        if info.session_id == session_id:
            return info
    return None


async def _last(connection: ClientConnection, cwd: Path) -> SessionInfo:
    if not connection.offers(v2.SESSION_LIST):
        raise NoSession("this agent does not list its sessions (session/list): name one by --resume ID")
    last: SessionInfo | None = None
    async for info in listed(connection, cwd):
        # The first of several that are as old: agents list what was used last first.
        if last is None or used(info) > used(last):
            last = info
    if last is None:
        raise NoSession(f"there is no session of {cwd} to go on with; without --continue a new one is begun")
    return last


async def listed(connection: ClientConnection, cwd: Path | None) -> AsyncIterator[SessionInfo]:
    """The sessions of a folder, or of all. An agent may list others than it was asked for."""
    count = 0
    async for info in connection.stored_sessions(cwd=cwd):
        count += 1
        if cwd is None or is_folder(info, cwd):
            yield info
        if count == MOST_LISTED:
            return


def is_folder(info: SessionInfo, cwd: Path) -> bool:
    """Whether a session is one of this folder."""
    return real_folder(info.cwd) == real_folder(cwd)


def used(info: SessionInfo) -> datetime:
    """When a session was last used, as far as it is told."""
    try:
        at = datetime.fromisoformat(str(info.updated_at))
    except ValueError:
        return NEVER
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def when(info: SessionInfo) -> str:
    """The same for people, in their own time."""
    at = used(info)
    return "-" if at == NEVER else f"{at.astimezone():%Y-%m-%d %H:%M}"
