"""An agent on a connection: negotiation, sessions, and the requests about them."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from duologue.agent.agent import Agent, absolute, is_folder, unknown_session
from duologue.agent.blocks import check_prompt
from duologue.agent.companions import Companions
from duologue.agent.handshake import introduce, read_initialize
from duologue.agent.options import check_option
from duologue.agent.session import Place, Session
from duologue.agent.turn import Turn
from duologue.jsonrpc.errors import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from duologue.jsonrpc.limits import Limits
from duologue.peer import Peer, Scope
from duologue.peer.link import Trace
from duologue.peer.offers import announced
from duologue.protocol.base import Unknown
from duologue.protocol.common.capabilities import Implementation
from duologue.protocol.common.session import (
    CloseSessionRequest,
    CloseSessionResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    SessionInfo,
)
from duologue.protocol.method import Notification, Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.auth import (
    AuthMethod,
    LoginAuthRequest,
    LoginAuthResponse,
    LogoutAuthRequest,
    LogoutAuthResponse,
)
from duologue.protocol.v2.config import (
    SetBooleanConfigOption,
    SetIdConfigOption,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
)
from duologue.protocol.v2.initialize import InitializeRequest, InitializeResponse
from duologue.protocol.v2.prompt import CancelSessionNotification, PromptRequest, PromptResponse
from duologue.protocol.v2.session import (
    NewSessionRequest,
    NewSessionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
)
from duologue.protocol.version import V2
from duologue.transports.base import Closed, Transport

if TYPE_CHECKING:
    from duologue.agent.mcp import McpConnector

log = logging.getLogger("duologue.agent")

CANCEL_AS_REQUEST = Request.untyped(v2.SESSION_CANCEL.name)

#: How long turns may take to end when the connection does, and then sessions to be closed, in seconds.
END_SECONDS = 3.0


class AgentConnection:
    """Serves one agent to one client. `client_info` and `client_capabilities` are known once it has initialized."""

    def __init__(self, agent: Agent, *, limits: Limits | None = None, trace: Trace | None = None) -> None:
        if getattr(agent, "connection", None) is not None:
            raise RuntimeError(f"this {type(agent).__name__} serves a connection already: make one for each connection")
        self.agent = agent
        agent.connection = self
        self.sessions: dict[str, Session] = {}
        self.client_info: Implementation | None = None
        self.client_capabilities: Any = None
        # Sessions that are being reopened, which take prompts already, and the open requests for each.
        self._opening: dict[str, Session] = {}
        self._resumes: Counter[str] = Counter()
        # The turns of prompts that are not accepted yet.
        self._admitted: dict[Scope, Turn] = {}
        # The unfinished request that changes a session, by session id: the session's next request waits for it.
        self._barriers: dict[str, asyncio.Future[None]] = {}
        self._ended: asyncio.Task[None] | None = None
        self.peer = Peer(Side.AGENT, inside=V2, limits=limits, trace=trace)
        self._companions = Companions(agent, self.peer)
        self._register()

    def _register(self) -> None:
        peer = self.peer
        peer.on_initialize(self._negotiate)
        peer.on_closed(self._closed)
        peer.handle(v2.INITIALIZE, self._initialize)
        peer.handle(v2.SESSION_NEW, self._new)
        peer.handle(v2.SESSION_LIST, self._list)
        peer.handle(v2.SESSION_RESUME, self._resume, admit=self._admit_resume)
        peer.handle(v2.SESSION_CLOSE, self._close, admit=self._admit_change)
        peer.handle(v2.SESSION_SET_CONFIG_OPTION, self._set_config_option, admit=self._admit_change)
        peer.handle(v2.SESSION_PROMPT, self._prompt, admit=self._admit_prompt)
        peer.apply(v2.SESSION_CANCEL, self._cancel)
        peer.handle(CANCEL_AS_REQUEST, self._answer_cancel, admit=self._admit_cancel)
        peer.handle(v2.AUTH_LOGIN, self._login)
        peer.handle(v2.AUTH_LOGOUT, self._logout)

    def offers(self, method: Request[Any, Any] | Notification[Any]) -> bool:
        """Whether the client answers a method, by what it announced: ``offers(v1.FS_READ_TEXT_FILE)``."""
        return announced(method, self.client_capabilities, self.peer.said_in_v1)

    @cached_property
    def mcp(self) -> McpConnector:
        """Connects to MCP servers that the client lends over this connection."""
        from duologue.agent.mcp import McpConnector

        return McpConnector(self.peer)

    async def start(self, transport: Transport) -> None:
        """Begin to serve. Raises `TransportError`."""
        await self.peer.start(transport)

    async def wait_ended(self) -> Closed:
        """Wait until the connection is closed and every turn and session of it has ended (bounded)."""
        reason = await self.peer.wait_closed()
        if self._ended is not None:
            await asyncio.wait({self._ended})
        return reason

    async def close(self) -> None:
        """End the connection from this side."""
        await self.peer.close()
        await self.wait_ended()

    # --- handshake --------------------------------------------------------------------------------------------------

    def _negotiate(self, raw: Any, scope: Scope) -> None:
        version, method, params = read_initialize(raw)
        self.peer.speak(version)
        self.peer.answer(method, params, scope)

    async def _initialize(self, params: InitializeRequest, scope: Scope) -> InitializeResponse:
        self.client_info = params.info
        self.client_capabilities = params.capabilities
        assert self.peer.version is not None
        self.peer.say_in_v1(self.agent.v1_capabilities())
        return self._companions.introduce(introduce(self.agent, self.peer.version), params.capabilities)

    async def _login(self, params: LoginAuthRequest, scope: Scope) -> LoginAuthResponse:
        methods = self._auth_methods(scope)
        if not any(getattr(method, "method_id", None) == params.method_id for method in methods):
            raise RpcError(INVALID_PARAMS, f"no such auth method: {params.method_id}", {"methodId": params.method_id})
        await self.agent.login(params.method_id)
        return LoginAuthResponse()

    async def _logout(self, params: LogoutAuthRequest, scope: Scope) -> LogoutAuthResponse:
        self._auth_methods(scope)
        await self.agent.logout()
        return LogoutAuthResponse()

    def _auth_methods(self, scope: Scope) -> Sequence[AuthMethod]:
        methods = self.agent.auth_methods()
        if not methods:
            name = scope.wire.name
            raise RpcError(METHOD_NOT_FOUND, f"{name}: this agent has nothing to log in to", {"method": name})
        return methods

    # --- sessions ---------------------------------------------------------------------------------------------------

    def _make_session(self, session_id: str, params: NewSessionRequest | ResumeSessionRequest) -> Session:
        cwd = absolute(params.cwd, "cwd")
        if not is_folder(cwd):
            raise RpcError(INVALID_PARAMS, f"cwd is not a directory: {params.cwd}", {"path": "$.cwd"})
        more = [absolute(path, "additionalDirectories") for path in params.additional_directories or ()]
        place = Place(cwd, tuple(more), tuple(params.mcp_servers or ()))
        return Session(self, session_id, place, self.agent.prompt)

    async def _new(self, params: NewSessionRequest, scope: Scope) -> NewSessionResponse:
        session = self._make_session(str(uuid.uuid4()), params)
        session._hold()
        self.sessions[session.id] = session
        try:
            await self.agent.new_session(session)
        except BaseException:
            # The end of the connection may have been quicker.
            self.sessions.pop(session.id, None)
            raise
        # The id of a session is first seen in this response: what was said before it goes out behind it.
        scope.then.append(session._release)
        return NewSessionResponse(session_id=session.id, config_options=self._options(session))

    async def _list(self, params: ListSessionsRequest, scope: Scope) -> ListSessionsResponse:
        if params.cursor is not UNSET and params.cursor is not None:
            raise RpcError(INVALID_PARAMS, "unknown cursor: this list has one page", {"path": "$.cursor"})
        found = [session for session in self.sessions.values() if not params.cwd or str(session.cwd) == params.cwd]
        return ListSessionsResponse(
            sessions=[
                SessionInfo(session_id=session.id, cwd=str(session.cwd), title=session.title or UNSET)
                for session in found
            ]
        )

    async def _resume(self, params: ResumeSessionRequest, scope: Scope) -> ResumeSessionResponse:
        asked = self._make_session(params.session_id, params)
        session = self.sessions.get(asked.id) or self._opening.setdefault(asked.id, asked)
        before, session._place = session._place, asked._place
        try:
            await self.agent.resume_session(session, replay=bool(params.replay_from))
        except BaseException:
            session._place = before
            raise
        self.sessions[session.id] = session
        return ResumeSessionResponse(config_options=self._options(session))

    def _admit_resume(self, params: ResumeSessionRequest, scope: Scope) -> None:
        made = self._make_session(params.session_id, params)
        self._admit_change(params, scope)
        if made.id not in self.sessions:
            self._opening.setdefault(made.id, made)
        self._resumes[made.id] += 1
        scope.then.append(lambda: self._resumed(made.id))

    def _resumed(self, session_id: str) -> None:
        """A request that reopens a session is answered; with the last one the session is open, or there is none."""
        self._resumes[session_id] -= 1
        if not self._resumes[session_id]:
            del self._resumes[session_id]
            self._opening.pop(session_id, None)

    async def _close(self, params: CloseSessionRequest, scope: Scope) -> CloseSessionResponse:
        session = self._session(params.session_id)
        session._turns.cancel()
        await session._turns.settle()
        self.sessions.pop(session.id, None)
        await self.agent.close_session(session)
        return CloseSessionResponse()

    async def _set_config_option(
        self, params: SetSessionConfigOptionRequest, scope: Scope
    ) -> SetSessionConfigOptionResponse:
        if not isinstance(params, SetIdConfigOption | SetBooleanConfigOption):
            raise RpcError(INVALID_PARAMS, "unknown type of config option value", {"path": "$.type"})
        session = self._session(params.session_id)
        check_option(self.agent.config_options(session), params)
        await self.agent.set_config_option(session, params.config_id, params.value)
        return SetSessionConfigOptionResponse(config_options=list(self.agent.config_options(session)))

    def _options(self, session: Session) -> Any:
        return list(self.agent.config_options(session)) or UNSET

    def _session(self, session_id: str) -> Session:
        session = self.sessions.get(session_id)
        if session is None:
            raise unknown_session(session_id)
        return session

    # --- prompts ----------------------------------------------------------------------------------------------------

    def _admit_prompt(self, params: PromptRequest, scope: Scope) -> None:
        session = self._opening.get(params.session_id) or self._session(params.session_id)
        check_prompt(params.prompt, self.agent.prompt_capabilities())
        turn = self._admitted[scope] = Turn(session, params.prompt)
        session._turns.admit(turn)
        scope.on_cancel = turn.cancel
        scope.after = self._barriers.get(session.id)

    async def _prompt(self, params: PromptRequest, scope: Scope) -> PromptResponse:
        turn = self._admitted.pop(scope)
        turns = turn.session._turns
        if self.sessions.get(params.session_id) is not turn.session:
            # It was closed, or could not be reopened, before the prompt's place came.
            turns.withdraw(turn)
            raise unknown_session(params.session_id)
        turn._ready = True
        # Behind the answer: the acceptance comes before what the turn has to say.
        asyncio.get_running_loop().call_soon(turns.start)
        return PromptResponse()

    def _cancel(self, params: CancelSessionNotification) -> None:
        session = self.sessions.get(params.session_id) or self._opening.get(params.session_id)
        if session is not None:
            session._turns.cancel()

    def _admit_cancel(self, params: Any, scope: Scope) -> None:
        """`session/cancel` as a request, which some clients make of it: it cancels as well, and is answered."""
        if not isinstance(params, dict) or not isinstance(params.get("sessionId"), str):
            raise RpcError(INVALID_PARAMS, "sessionId must be a string", {"path": "$.params.sessionId"})
        self._cancel(CancelSessionNotification(session_id=params["sessionId"]))

    async def _answer_cancel(self, params: Any, scope: Scope) -> dict[str, Any]:
        return {}

    def _admit_change(self, params: Any, scope: Scope) -> None:
        """Let the request wait for the last one that changes its session, and the session's next one wait for it."""
        if isinstance(params, Unknown):
            # It is refused, and may name no session.
            return
        session_id = params.session_id
        barrier: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        scope.after = self._barriers.get(session_id)
        self._barriers[session_id] = barrier

        def lift() -> None:
            if not barrier.done():
                barrier.set_result(None)
            if self._barriers.get(session_id) is barrier:
                del self._barriers[session_id]

        scope.then.append(lift)

    # --- the end ----------------------------------------------------------------------------------------------------

    def _closed(self, reason: Closed) -> None:
        self._ended = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        sessions = list(self.sessions.values())
        self.sessions.clear()
        for session in sessions:
            session._turns.cancel()
        await asyncio.gather(*map(self._end_session, sessions), self._companions.end())

    async def _end_session(self, session: Session) -> None:
        try:
            async with asyncio.timeout(END_SECONDS):
                await session._turns.settle()
        except TimeoutError:
            log.warning("a turn did not end within %s seconds and was left behind", END_SECONDS)
        try:
            async with asyncio.timeout(END_SECONDS):
                await self.agent.close_session(session)
        except Exception:
            log.exception("closing a session failed")
