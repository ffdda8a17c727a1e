"""An agent as a client holds it: the handshake, its sessions, and the requests it makes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from msgspec import UNSET

from duologue.client.client import Client, refusal
from duologue.client.errors import VersionMismatch
from duologue.client.session import Session
from duologue.jsonrpc.limits import Limits
from duologue.peer import Peer, Scope
from duologue.peer.link import Trace
from duologue.peer.offers import announced
from duologue.protocol.common.capabilities import Implementation
from duologue.protocol.common.permission import CancelledOutcome, RequestPermissionOutcome, RequestPermissionResponse
from duologue.protocol.common.session import ListSessionsRequest, ListSessionsResponse
from duologue.protocol.method import Notification, Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.auth import AuthMethod, LoginAuthRequest
from duologue.protocol.v2.capabilities import AgentCapabilities
from duologue.protocol.v2.initialize import InitializeRequest, InitializeResponse
from duologue.protocol.v2.mcp import McpServer
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.session import (
    NewSessionRequest,
    NewSessionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
    StartReplay,
)
from duologue.protocol.v2.updates import SessionUpdate, UpdateSessionNotification
from duologue.protocol.version import SUPPORTED, V2, Version
from duologue.transports.base import Closed, Transport

log = logging.getLogger("duologue.client")

#: Updates kept while a session is being opened, before the response that names it.
EARLY_UPDATES = 1000


class ClientConnection:
    """A running agent. `info`, `capabilities`, `auth_methods` are what it announced; `sessions` are the open ones."""

    def __init__(self, client: Client, *, limits: Limits | None = None, trace: Trace | None = None) -> None:
        self.client = client
        self.sessions: dict[str, Session] = {}
        self.info: Implementation | None = None
        self.capabilities = AgentCapabilities()
        self.auth_methods: Sequence[AuthMethod] = ()
        listens = type(client).on_update is not Client.on_update
        self._listener: Callable[[Session, SessionUpdate], None] | None = client.on_update if listens else None
        self._opening = 0
        self._early: dict[str, list[SessionUpdate]] = {}
        self._early_count = 0
        # Two replays of one session at once could not be told apart.
        self._reopening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._strangers: set[str] = set()
        self.peer = Peer(Side.CLIENT, inside=V2, limits=limits, trace=trace)
        self.peer.apply(v2.SESSION_UPDATE, self._update)
        self.peer.handle(v2.SESSION_REQUEST_PERMISSION, self._permission)
        self.peer.on_closed(self._closed)

    @property
    def version(self) -> Version:
        """The version that the connection speaks."""
        assert self.peer.version is not None
        return self.peer.version

    def offers(self, method: Request[Any, Any] | Notification[Any]) -> bool:
        """Whether the agent answers a method, by what it announced: ``offers(v2.SESSION_RESUME)``."""
        if method in (v2.AUTH_LOGIN, v2.AUTH_LOGOUT) and not self.auth_methods:
            return False
        return announced(method, self.capabilities, self.peer.said_in_v1)

    async def start(self, transport: Transport, version: Version) -> None:
        """Connect, and initialize for one version.

        Raises `VersionMismatch`, `RpcError`, `ConnectionClosed`, `codec.CodecError` (an answer that does not fit the
        version), `RemoteProtocolError` and `LimitError` (a broken or too large one), `TransportError`.
        """
        self.peer.speak(version)
        self.peer.say_in_v1(self.client.v1_capabilities())
        await self.peer.start(transport)
        client = self.client
        request = InitializeRequest(
            protocol_version=version.number,
            info=Implementation(name=client.name, version=client.version, title=client.title or UNSET),
            capabilities=client.capabilities(),
        )
        response = await self.peer.request(v2.INITIALIZE, request, applied=self._initialized)
        if response.protocol_version != version.number:
            await self.peer.close()
            raise VersionMismatch(version.number, response.protocol_version)

    def _initialized(self, response: InitializeResponse) -> None:
        self.info = response.info
        self.capabilities = response.capabilities or AgentCapabilities()
        self.auth_methods = response.auth_methods or ()

    async def close(self) -> None:
        """End the connection, and the agent with it when it was started here."""
        await self.peer.close()

    async def login(self, method_id: str) -> None:
        """Log in by one of `auth_methods`. Raises `RpcError`."""
        await self.peer.request(v2.AUTH_LOGIN, LoginAuthRequest(method_id=method_id))

    async def new_session(
        self,
        cwd: Path | str,
        *,
        additional_directories: Sequence[Path | str] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> Session:
        """Begin a session in `cwd` (made absolute). Raises `RpcError`; -32000 asks for a login first."""
        where = _absolute(cwd)
        made: list[Session] = []

        def applied(response: NewSessionResponse) -> None:
            session = self._add(Session(self, response.session_id, where))
            session._take_options(response.config_options)
            made.append(session)

        request = NewSessionRequest(
            cwd=str(where),
            additional_directories=[str(_absolute(path)) for path in additional_directories] or UNSET,
            mcp_servers=list(mcp_servers),
        )
        await self._open(lambda: self.peer.request(v2.SESSION_NEW, request, applied=applied))
        return made[0]

    def list_sessions(
        self, *, cwd: Path | str | None = None, cursor: str | None = None
    ) -> Awaitable[ListSessionsResponse]:
        """One page of the agent's sessions; `next_cursor` of the answer leads to the next. Raises `RpcError`."""
        where = UNSET if cwd is None else str(_absolute(cwd))
        request = ListSessionsRequest(cwd=where, cursor=UNSET if cursor is None else cursor)
        return self.peer.request(v2.SESSION_LIST, request)

    async def resume_session(
        self,
        session_id: str,
        cwd: Path | str,
        *,
        replay: bool = True,
        additional_directories: Sequence[Path | str] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> Session:
        """Reopen a session; with `replay` its history is in the transcript when this returns. Raises `RpcError`.

        A session that is open here is the same object afterwards, and its turns go on. With `replay` it has a new
        transcript, and what comes before the answer belongs to the history, not to a turn. Calls for one session wait
        for each other.
        """
        lock = self._reopening.get(session_id)
        if lock is None:
            lock = self._reopening[session_id] = asyncio.Lock()
        async with lock:
            request = ResumeSessionRequest(
                session_id=session_id,
                cwd=str(_absolute(cwd)),
                additional_directories=[str(_absolute(path)) for path in additional_directories] or UNSET,
                mcp_servers=list(mcp_servers),
                replay_from=StartReplay() if replay else UNSET,
            )
            return await self._resume(request)

    async def _resume(self, request: ResumeSessionRequest) -> Session:
        session_id, cwd = request.session_id, Path(request.cwd)
        held = self.sessions.get(session_id)
        session = self.sessions[session_id] = held or Session(self, session_id, cwd)
        before = session.transcript
        if request.replay_from:
            session._begin_replay()

        def applied(response: ResumeSessionResponse) -> None:
            # It may have been closed meanwhile.
            self.sessions[session_id] = session
            session.cwd = cwd
            session._end_replay(session.transcript)
            session._take_options(response.config_options)

        try:
            await self.peer.request(v2.SESSION_RESUME, request, applied=applied)
        except BaseException:
            session._end_replay(before)
            if held is None:
                self.sessions.pop(session_id, None)
            raise
        return session

    async def _open(self, ask: Callable[[], Any]) -> None:
        self._opening += 1
        try:
            await ask()
        finally:
            self._opening -= 1
            if not self._opening:
                self._early.clear()
                self._early_count = 0

    def _add(self, session: Session) -> Session:
        self.sessions[session.id] = session
        for update in self._early.pop(session.id, ()):
            session._receive(update)
        return session

    def _update(self, note: UpdateSessionNotification) -> None:
        session = self.sessions.get(note.session_id)
        if session is not None:
            session._receive(note.update)
        else:
            self._stranger(note)

    def _stranger(self, note: UpdateSessionNotification) -> None:
        """An update for a session that is not known: kept while one is being opened, else dropped, told once."""
        if self._opening:
            if self._early_count < EARLY_UPDATES:
                self._early.setdefault(note.session_id, []).append(note.update)
                self._early_count += 1
        elif note.session_id not in self._strangers and len(self._strangers) < EARLY_UPDATES:
            self._strangers.add(note.session_id)
            log.info("updates for an unknown session are ignored: %s", note.session_id)

    async def _permission(self, params: RequestPermissionRequest, scope: Scope) -> RequestPermissionResponse:
        session = self.sessions.get(params.session_id)
        if session is None or session._cancelling:
            return RequestPermissionResponse(outcome=CancelledOutcome())
        question = asyncio.get_running_loop().create_task(self._ask(session, params), name="permission")
        try:
            outcome: Any = await session._answering(question)
        except asyncio.CancelledError:
            question.cancel()
            outcome = CancelledOutcome()
        return RequestPermissionResponse(outcome=outcome)

    async def _ask(self, session: Session, params: RequestPermissionRequest) -> RequestPermissionOutcome:
        try:
            return await self.client.request_permission(session, params)
        except Exception:
            log.exception("answering a permission request failed; it is refused")
            return refusal(params)

    def _closed(self, reason: Closed) -> None:
        for session in self.sessions.values():
            session._closed(reason)


def version_of(number: int) -> Version:
    """A supported version by its number. Raises `ValueError`."""
    for version in SUPPORTED:
        if version.number == number:
            return version
    raise ValueError(f"there is no protocol version {number}; supported: {[known.number for known in SUPPORTED]}")


def _absolute(path: Path | str) -> Path:
    return Path(path).absolute()
