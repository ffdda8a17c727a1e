"""Opening sessions: new ones, copies of others, and those that the agent has kept."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from msgspec import UNSET

from duologue.client.gates import check_replay, further_roots, sent_servers
from duologue.client.paths import sent_path
from duologue.client.session import Session
from duologue.protocol.method import Request
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.mcp import McpServer
from duologue.protocol.v2.session import (
    ForkSessionRequest,
    ForkSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    StartReplay,
)

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection
    from duologue.client.file_server import FileServers

log = logging.getLogger("duologue.client")

Opening = TypeVar("Opening", bound=NewSessionRequest | ForkSessionRequest | ResumeSessionRequest)


class Openings:
    """Opens the sessions of one connection. Each function raises `NotOffered`, `ValueError` and `RpcError`."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._reopening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def new(self, cwd: Path | str, folders: Sequence[Path | str], servers: Sequence[McpServer]) -> Session:
        """See `ClientConnection.new_session`."""
        self._connection.need(v2.SESSION_NEW)
        return await self._opened(v2.SESSION_NEW, NewSessionRequest(**self._place(cwd, folders, servers)))

    async def fork(
        self, session_id: str, cwd: Path | str, folders: Sequence[Path | str], servers: Sequence[McpServer]
    ) -> Session:
        """See `ClientConnection.fork_session`."""
        self._connection.need(v2.SESSION_FORK)
        place = self._place(cwd, folders, servers)
        place["mcp_servers"] = place["mcp_servers"] or UNSET
        return await self._opened(v2.SESSION_FORK, ForkSessionRequest(session_id=session_id, **place))

    async def _opened(self, method: Request[Any, Any], request: NewSessionRequest | ForkSessionRequest) -> Session:
        connection = self._connection
        made: list[Session] = []
        ends: list[asyncio.Future[None]] = []
        request, lent = self._lend(request)

        def applied(response: NewSessionResponse | ForkSessionResponse) -> None:
            session = Session(connection, response.session_id, *_roots(request))
            lent(session)
            before = connection.sessions.get(session.id)
            connection.arrivals.add(session)
            session.take_options(response.config_options)
            made.append(session)
            if before is not None:
                # What comes under the id belongs to the new one: the turns of the other would wait for ever.
                log.warning("the agent gave the id of an open session to another one; that is over: %s", session.id)
                ends.append(before.end())

        with connection.arrivals.opening():
            await connection.peer.request(method, request, applied=applied)
        for end in ends:
            await end
        return made[0]

    def one_at_a_time(self, session_id: str) -> asyncio.Lock:
        """Held while a session is reopened: two replays of one at once could not be told apart."""
        lock = self._reopening.get(session_id)
        if lock is None:
            lock = self._reopening[session_id] = asyncio.Lock()
        return lock

    async def resume(
        self,
        session_id: str,
        cwd: Path | str,
        replay: bool,
        folders: Sequence[Path | str],
        servers: Sequence[McpServer],
    ) -> Session:
        """See `ClientConnection.resume_session`."""
        self._connection.need(v2.SESSION_RESUME)
        if replay:
            check_replay(self._connection)
        request = ResumeSessionRequest(
            session_id=session_id,
            replay_from=StartReplay() if replay else UNSET,
            **self._place(cwd, folders, servers),
        )
        return await self._reopened(request)

    async def _reopened(self, request: ResumeSessionRequest) -> Session:
        connection = self._connection
        request, lent = self._lend(request)
        session_id = request.session_id
        held = connection.sessions.get(session_id)
        session = connection.sessions[session_id] = held or Session(connection, session_id, *_roots(request))
        before = session.transcript
        if request.replay_from:
            session.begin_replay()

        def applied(response: ResumeSessionResponse) -> None:
            # It may have been closed meanwhile.
            connection.sessions[session_id] = session
            session.move(*_roots(request))
            lent(session)
            session.end_replay(session.transcript)
            session.take_options(response.config_options)

        try:
            await connection.peer.request(v2.SESSION_RESUME, request, applied=applied)
        except BaseException:
            session.end_replay(before)
            if held is None:
                connection.sessions.pop(session_id, None)
            raise
        return session

    def _place(self, cwd: Path | str, folders: Sequence[Path | str], servers: Sequence[McpServer]) -> dict[str, Any]:
        """Where a session works and what with, as it is sent. Raises `NotOffered`, `ValueError`."""
        where = sent_path(cwd)
        return {
            "cwd": str(where),
            "additional_directories": [str(path) for path in further_roots(self._connection, where, folders)] or UNSET,
            "mcp_servers": sent_servers(self._connection, servers),
        }

    def _lend(self, request: Opening) -> tuple[Opening, Callable[[Session], None]]:
        """A request that opens a session, with a server of the client's files where the agent reaches it like that, and
        what is to be called when the session is open."""
        return (request, lambda _: None) if self._connection.client.files is None else self._file_servers.lend(request)

    @cached_property
    def _file_servers(self) -> FileServers:
        from duologue.client.file_server import FileServers

        return FileServers(self._connection)


def _roots(request: NewSessionRequest | ForkSessionRequest | ResumeSessionRequest) -> tuple[Path, tuple[Path, ...]]:
    return Path(request.cwd), tuple(Path(folder) for folder in request.additional_directories or ())
