"""An agent on a connection: negotiation, sessions, and the requests about them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from duologue import codec
from duologue.agent.agent import Agent
from duologue.agent.asked import answering
from duologue.agent.blocks import check_prompt
from duologue.agent.companions import Companions
from duologue.agent.handshake import introduce, read_initialize, said_on_wire
from duologue.agent.lifecycle import Lifecycle
from duologue.agent.login import Logins
from duologue.agent.session import Session
from duologue.agent.turn import Turn
from duologue.jsonrpc.limits import Limits
from duologue.peer import Peer, Scope
from duologue.peer.errors import unknown_session, wrong_params
from duologue.peer.extensions import as_request_handler, handlers_of
from duologue.peer.link import Trace
from duologue.peer.offers import is_offered
from duologue.peer.overriding import check_instance
from duologue.protocol.common.capabilities import Implementation
from duologue.protocol.method import Notification, Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.capabilities import ClientCapabilities
from duologue.protocol.v2.initialize import InitializeRequest, InitializeResponse
from duologue.protocol.v2.prompt import CancelSessionNotification, PromptRequest, PromptResponse
from duologue.protocol.version import V2
from duologue.transports.base import Closed, Transport

if TYPE_CHECKING:
    from duologue.agent.elicitation import Elicitor
    from duologue.agent.mcp import McpConnector

P = TypeVar("P")
R = TypeVar("R")

log = logging.getLogger("duologue.agent")

CANCEL_AS_REQUEST = Request.untyped(v2.SESSION_CANCEL.name)

#: How long turns may take to end when the connection does, and then sessions to be closed, in seconds.
END_SECONDS = 3.0


class AgentConnection:
    """Serves one agent to one client. `client_info` and `client_capabilities` are known once it has initialized."""

    def __init__(self, agent: Agent, *, limits: Limits | None = None, trace: Trace | None = None) -> None:
        check_instance(agent, Agent, "serve")
        if getattr(agent, "connection", None) is not None:
            raise RuntimeError(f"this {type(agent).__name__} serves a connection already: make one for each connection")
        self.agent = agent
        self.peer = Peer(Side.AGENT, inside=V2, limits=limits, trace=trace)
        agent.connection = self
        self.sessions: dict[str, Session] = {}
        self.client_info: Implementation | None = None
        self.client_capabilities = ClientCapabilities()
        # The turns of prompts that are not accepted yet.
        self._admitted: dict[Scope, Turn] = {}
        self._ended: asyncio.Task[None] | None = None
        self._companions = Companions(agent, self.peer)
        self._lifecycle = Lifecycle(self)
        self._register()

    def _register(self) -> None:
        peer = self.peer
        peer.on_initialize(self._negotiate)
        peer.on_closed(self._closed)
        peer.handle(v2.INITIALIZE, self._initialize)
        peer.handle(v2.SESSION_PROMPT, self._prompt, admit=self._admit_prompt)
        peer.apply(v2.SESSION_CANCEL, self._cancel)
        peer.handle(CANCEL_AS_REQUEST, self._answer_cancel, admit=self._admit_cancel)
        logins, sessions = Logins(self.agent), self._lifecycle
        self._handle(v2.AUTH_LOGIN, logins.login)
        self._handle(v2.AUTH_LOGOUT, logins.logout)
        self._handle(v2.SESSION_NEW, sessions.new)
        self._handle(v2.SESSION_LIST, sessions.list)
        self._handle(v2.SESSION_RESUME, sessions.resume, sessions.admit_resume)
        self._handle(v2.SESSION_FORK, sessions.fork, sessions.admit_change)
        self._handle(v2.SESSION_CLOSE, sessions.close, sessions.admit_end)
        self._handle(v2.SESSION_DELETE, sessions.delete, sessions.admit_end)
        self._handle(v2.SESSION_SET_CONFIG_OPTION, sessions.set_config_option, sessions.admit_change)
        for method, handler in handlers_of(self.agent):
            if isinstance(method, Request):
                self._handle(method, as_request_handler(handler))
            else:
                peer.listen(method, handler)

    def _handle(
        self,
        method: Request[P, R],
        handler: Callable[[P, Scope], Awaitable[R]],
        admit: Callable[[P, Scope], None] | None = None,
    ) -> None:
        """Register a handler whose requests to the client may name the request that it answers."""

        async def answer(params: P, scope: Scope) -> R:
            answering(scope, params)
            return await handler(params, scope)

        self.peer.handle(method, answer, admit=admit)

    def offers(self, method: Request[Any, Any] | Notification[Any]) -> bool:
        """Whether the client answers a method, by what it announced: ``offers(v1.FS_READ_TEXT_FILE)``."""
        return is_offered(method, self.client_capabilities, self.peer.said_in_v1)

    @property
    def elicitor(self) -> Elicitor:
        """Asks the user by a form or a page, outside of any session, for the request that is being answered."""
        # Late: most agents ask nothing but permission.
        from duologue.agent.elicitation import Elicitor

        return Elicitor(self)

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
        self.client_capabilities = params.capabilities or ClientCapabilities()
        version = self.peer.version
        assert version is not None
        extras = self.agent.v1_capabilities()
        self.peer.say_in_v1(extras)
        answer = self._companions.introduce(introduce(self.agent, version, params), self.client_capabilities)
        # As the client reads it: what is served goes by it, and it may be an author's.
        checked: InitializeResponse = codec.sendable(InitializeResponse, answer)
        said = said_on_wire(checked, extras, version)
        self.peer.serves = lambda method: is_offered(method, said, None)
        return checked

    # --- prompts ----------------------------------------------------------------------------------------------------

    def _admit_prompt(self, params: PromptRequest, scope: Scope) -> None:
        session = self._lifecycle.for_prompt(params.session_id)
        check_prompt(params.prompt, self.agent.prompt_capabilities())
        turn = self._admitted[scope] = Turn(session, params.prompt, params.meta or {})
        session.turns.admit(turn)
        scope.on_cancel = turn.cancel
        scope.after = self._lifecycle.barrier(session.id)

    async def _prompt(self, params: PromptRequest, scope: Scope) -> PromptResponse:
        turn = self._admitted.pop(scope)
        turns = turn.session.turns
        # The acceptance comes before what the turn has to say, so there must be room for it before the turn may start.
        await self.peer.room()
        if self.sessions.get(params.session_id) is not turn.session:
            # It was closed, or could not be reopened, before the prompt's place came.
            turns.withdraw(turn)
            raise unknown_session(params.session_id)
        turn.ready = True
        # Behind the answer, which follows at once (in a batch, when all of it is answered: no turn waits for that).
        asyncio.get_running_loop().call_soon(turns.start)
        return PromptResponse()

    def _cancel(self, params: CancelSessionNotification) -> None:
        self._lifecycle.cancel(params.session_id)

    def _admit_cancel(self, params: Any, scope: Scope) -> None:
        """`session/cancel` as a request, which some clients make of it: it cancels as well, and is answered."""
        if not isinstance(params, dict) or not isinstance(params.get("sessionId"), str):
            raise wrong_params("sessionId must be a string", "sessionId")
        self._lifecycle.cancel(params["sessionId"])

    async def _answer_cancel(self, params: Any, scope: Scope) -> dict[str, Any]:
        return {}

    # --- the end ----------------------------------------------------------------------------------------------------

    def _closed(self, reason: Closed) -> None:
        self._ended = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        sessions = list(self.sessions.values())
        self.sessions.clear()
        for session in sessions:
            session.turns.cancel()
        await asyncio.gather(*map(self._end_session, sessions), self._companions.end())

    async def _end_session(self, session: Session) -> None:
        try:
            async with asyncio.timeout(END_SECONDS):
                await session.turns.settle()
        except TimeoutError:
            log.warning("a turn did not end within %s seconds and was left behind", END_SECONDS)
        try:
            async with asyncio.timeout(END_SECONDS):
                await self.agent.close_session(session)
        except Exception:
            log.exception("closing a session failed")
