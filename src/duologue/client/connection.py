"""An agent as a client holds it: the handshake, its sessions, and the requests it makes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET

from duologue.client.arriving import Arrivals
from duologue.client.client import Client
from duologue.client.errors import LoginFailed, VersionMismatch
from duologue.client.introduction import introduction
from duologue.client.login import Login, Logins, TerminalLogin
from duologue.client.opening import Openings
from duologue.client.paths import sent_path
from duologue.client.serving import Serving
from duologue.client.session import Session
from duologue.jsonrpc.limits import Limits
from duologue.peer import Peer
from duologue.peer.errors import NotOffered
from duologue.peer.link import Trace
from duologue.peer.offers import is_offered
from duologue.peer.overriding import check_instance
from duologue.protocol.common.capabilities import Implementation
from duologue.protocol.common.session import (
    DeleteSessionRequest,
    ListSessionsRequest,
    ListSessionsResponse,
    SessionInfo,
)
from duologue.protocol.method import Notification, Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.auth import AuthMethod
from duologue.protocol.v2.capabilities import AgentCapabilities, ClientCapabilities
from duologue.protocol.v2.initialize import InitializeRequest, InitializeResponse
from duologue.protocol.v2.mcp import McpServer
from duologue.protocol.version import V2, Version
from duologue.transports.base import Closed, Transport

if TYPE_CHECKING:
    from duologue.client.mcp import McpServers
    from duologue.client.nes import ClientNesSession, ReadFile
    from duologue.client.providers import AgentProviders
    from duologue.protocol.common.nes import StartNesRequest

#: Pages without a session that may follow each other in a list of sessions.
EMPTY_PAGES = 100

P = TypeVar("P")
R = TypeVar("R")


class ClientConnection:
    """A running agent. `info`, `capabilities`, `auth_methods` are what it announced; `sessions` are the open ones.

    `announced` is what was told to it of the client, and `command` what it was started with, if it was. After a login
    that starts the agent anew, `peer` is another one, and the sessions that were open are over.
    """

    peer: Peer

    def __init__(self, client: Client, *, limits: Limits | None = None, trace: Trace | None = None) -> None:
        check_instance(client, Client, "connect(client=...)")
        self.client = client
        self.command: Sequence[str] | None = None
        #: Set by `connect`: starts the agent again, with these further variables, and shakes hands.
        self.restart: Callable[[Mapping[str, str]], Awaitable[None]] | None = None
        self._limits = limits
        self._trace = trace
        self.listener = client.on_update if client.announces("on_update") else None
        self.logins = Logins(self)
        self._openings = Openings(self)
        self._begin()

    def _begin(self) -> None:
        """Prepare a peer that is not connected yet, and forget what was told over the one before."""
        self.sessions: dict[str, Session] = {}
        self.info: Implementation | None = None
        self.capabilities = AgentCapabilities()
        self.auth_methods: Sequence[AuthMethod] = ()
        # What `offers` has answered; each call asks.
        self._offered: dict[Request[Any, Any] | Notification[Any], bool] = {}
        self.announced = ClientCapabilities()
        self.arrivals = Arrivals(self.sessions)
        self._ending: asyncio.Future[Any] | None = None
        self.peer = Peer(Side.CLIENT, inside=V2, limits=self._limits, trace=self._trace)
        self.peer.apply(v2.SESSION_UPDATE, self.arrivals.update)
        Serving(self).register(self.peer)
        if "mcp" in vars(self):
            self.mcp.register(self.peer)
        self.peer.on_closed(self._closed)

    @property
    def version(self) -> Version:
        """The version that the connection speaks."""
        assert self.peer.version is not None
        return self.peer.version

    def offers(self, method: Request[Any, Any] | Notification[Any]) -> bool:
        """Whether the agent answers a method, by what it announced: ``offers(v2.SESSION_RESUME)``."""
        offered = self._offered.get(method)
        if offered is None:
            login = method in (v2.AUTH_LOGIN, v2.AUTH_LOGOUT)
            offered = not (login and not self.auth_methods) and is_offered(
                method, self.capabilities, self.peer.said_in_v1
            )
            self._offered[method] = offered
        return offered

    def need(self, method: Request[Any, Any] | Notification[Any]) -> None:
        """Raises `NotOffered` unless the agent answers a method."""
        if not (self._offered.get(method) or self.offers(method)):
            raise NotOffered(f"the agent does not offer {method.name}")

    # --- life ---------------------------------------------------------------------------------------------------------

    async def start(self, transport: Transport, version: Version) -> None:
        """Connect, and initialize for one version.

        Raises `VersionMismatch`, `RpcError`, `ConnectionClosed`, `codec.CodecError` (an answer that does not fit the
        version), `RemoteProtocolError` and `LimitError` (a broken or too large one), `TransportError`.
        """
        self.peer.speak(version)
        self.peer.say_in_v1(self.client.v1_capabilities())
        await self.peer.start(transport)
        self.announced = introduction(self.client, self.command)
        client = self.client
        request = InitializeRequest(
            protocol_version=version.number,
            info=Implementation(name=client.name, version=client.version, title=client.title or UNSET),
            capabilities=self.announced,
        )
        response = await self.peer.request(v2.INITIALIZE, request, applied=self._initialized)
        if response.protocol_version != version.number:
            await self.peer.close()
            raise VersionMismatch(version.number, response.protocol_version)

    def _initialized(self, response: InitializeResponse) -> None:
        self.info = response.info
        self.capabilities = response.capabilities or AgentCapabilities()
        self.auth_methods = response.auth_methods or ()
        self._offered.clear()

    async def close(self) -> None:
        """End the connection, and the agent with it when it was started here."""
        await self.peer.close()
        if self._ending is not None:
            await self._ending

    async def reconnect(self, variables: Mapping[str, str]) -> None:
        """Start the agent anew, with further variables in its environment. Raises `LoginFailed`, and what `connect`
        raises; the connection is closed then."""
        if self.restart is None:
            raise LoginFailed("this connection was not made by connect(), which could make it again")
        await self.close()
        self._begin()
        await self.restart(variables)

    def _closed(self, reason: Closed) -> None:
        ends = [session.closed(reason) for session in self.sessions.values()]
        self._ending = asyncio.gather(*ends) if ends else None

    # --- logging in ---------------------------------------------------------------------------------------------------

    async def login(self, method_id: str, variables: Mapping[str, str] | None = None) -> None:
        """Log in by one of `auth_methods`. One that takes variables, or runs in a terminal, starts the agent anew.

        Raises `NotOffered`, `LoginFailed`, `RpcError`, `ValueError` (variables that are missing or not asked for).
        """
        await self.logins.log_in(Login(method_id, variables or {}))

    async def logout(self) -> None:
        """Log out. Open sessions may ask for a login from then on. Raises `NotOffered`, `RpcError`."""
        await self.logins.log_out()

    def terminal_login(self, method: AuthMethod) -> TerminalLogin:
        """What to run for a login in a terminal. Raises `NotOffered` for any other."""
        return self.logins.terminal_login(method)

    # --- sessions -----------------------------------------------------------------------------------------------------

    async def new_session(
        self,
        cwd: Path | str,
        *,
        additional_directories: Sequence[Path | str] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> Session:
        """Begin a session in `cwd` (made absolute).

        Raises `NotOffered`, `RpcError` (-32000 asks for a login first), `ValueError` (an MCP server that cannot be
        sent).
        """
        return await self.logins.retried(lambda: self._openings.new(cwd, additional_directories, mcp_servers))

    async def fork_session(
        self,
        session_id: str,
        cwd: Path | str,
        *,
        additional_directories: Sequence[Path | str] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> Session:
        """Begin a session with a copy of another one's conversation, which it does not show.

        Raises `NotOffered`, `RpcError`, `ValueError`.
        """
        return await self.logins.retried(
            lambda: self._openings.fork(session_id, cwd, additional_directories, mcp_servers)
        )

    def list_sessions(
        self, *, cwd: Path | str | None = None, cursor: str | None = None
    ) -> Coroutine[Any, Any, ListSessionsResponse]:
        """One page of the agent's sessions; `next_cursor` of the answer leads to the next. Raises `NotOffered`,
        `RpcError`."""

        # Neither is `async`, which spares a short request two coroutines around it.
        def call() -> Awaitable[ListSessionsResponse]:
            self.need(v2.SESSION_LIST)
            where = UNSET if cwd is None else str(sent_path(cwd))
            request = ListSessionsRequest(cwd=where, cursor=UNSET if cursor is None else cursor)
            return self.peer.request(v2.SESSION_LIST, request)

        return self.logins.retried(call)

    async def stored_sessions(self, *, cwd: Path | str | None = None) -> AsyncIterator[SessionInfo]:
        """All of the agent's sessions; each page is asked for when the one before has been gone through.

        A cursor that was there before ends the list, and so do `EMPTY_PAGES` pages without a session.
        """
        cursor: str | None = None
        # Of what an agent lists for ever, its reader may stop at any session; where none comes, nobody else could.
        seen: set[str] = set()
        empty = 0
        while empty < EMPTY_PAGES:
            page = await self.list_sessions(cwd=cwd, cursor=cursor)
            for entry in page.sessions:
                yield entry
            empty = 0 if page.sessions else empty + 1
            cursor = page.next_cursor or None
            if cursor is None or cursor in seen:
                return
            seen.add(cursor)

    async def delete_session(self, session_id: str) -> None:
        """Remove a session from those that the agent lists; one that is open here is over. Raises `NotOffered`,
        `RpcError`."""

        async def call() -> None:
            self.need(v2.SESSION_DELETE)
            await self.peer.request(v2.SESSION_DELETE, DeleteSessionRequest(session_id=session_id))

        await self.logins.retried(call)
        held = self.sessions.pop(session_id, None)
        if held is not None:
            await held.end()

    async def resume_session(
        self,
        session_id: str,
        cwd: Path | str,
        *,
        replay: bool = True,
        additional_directories: Sequence[Path | str] = (),
        mcp_servers: Sequence[McpServer] = (),
    ) -> Session:
        """Reopen a session; with `replay` its history is in the transcript when this returns.

        A session that is open here is the same object afterwards, and its turns go on. With `replay` it has a new
        transcript, and what comes before the answer belongs to the history, not to a turn. Calls for one session wait
        for each other. Raises `NotOffered`, `RpcError`, `ValueError`.
        """
        async with self._openings.one_at_a_time(session_id):
            return await self.logins.retried(
                lambda: self._openings.resume(session_id, cwd, replay, additional_directories, mcp_servers)
            )

    # --- beside the sessions ------------------------------------------------------------------------------------------

    @cached_property
    def mcp(self) -> McpServers:
        """The MCP servers that the client lends to the agent over this connection."""
        from duologue.client.mcp import McpServers

        servers = McpServers()
        servers.register(self.peer)
        return servers

    @cached_property
    def providers(self) -> AgentProviders:
        """The model providers of the agent."""
        from duologue.client.providers import AgentProviders

        return AgentProviders(self)

    async def start_nes(
        self, request: StartNesRequest | None = None, *, read_file: ReadFile | None = None
    ) -> ClientNesSession:
        """Begin a session for suggested edits. `read_file` gives the text of a file that is not open; without it no
        suggestion about such a file is shown. Raises `NotOffered`, `RpcError`, and `RuntimeError` unless the client has
        announced suggested edits (``ClientCapabilities(nes=...)``)."""
        from duologue.client.nes import start

        return await self.logins.retried(lambda: start(self, request, read_file))

    # --- methods of one's own -----------------------------------------------------------------------------------------

    async def request(self, method: Request[P, R], params: P) -> R:
        """Make a request of one's own (`Request.extension`), or any other. Raises `RpcError`, see `Peer.request`."""
        return await self.peer.request(method, params)

    async def notify(self, method: Notification[P], params: P) -> None:
        """Send a notification of one's own (`Notification.extension`), or any other."""
        await self.peer.notify(method, params)
