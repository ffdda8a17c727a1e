"""Requests about sessions: new, list, resume (and load), fork, close, delete, and their config options.

One that changes a session finishes before the next request about that session begins.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from duologue import codec
from duologue.agent.options import check_option
from duologue.agent.paths import is_folder, need_absolute
from duologue.agent.session import Place, Session
from duologue.local.arguments import several
from duologue.local.ids import fresh_id
from duologue.peer import Scope
from duologue.peer.errors import unknown_session, wrong_params
from duologue.protocol.base import Unknown
from duologue.protocol.common.errors import shortened
from duologue.protocol.common.session import (
    CloseSessionRequest,
    CloseSessionResponse,
    DeleteSessionRequest,
    DeleteSessionResponse,
    ListSessionsRequest,
    ListSessionsResponse,
)
from duologue.protocol.v2.config import (
    SessionConfigOption,
    SetBooleanConfigOption,
    SetIdConfigOption,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
)
from duologue.protocol.v2.session import (
    ForkSessionRequest,
    ForkSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    ResumeSessionRequest,
    ResumeSessionResponse,
)

if TYPE_CHECKING:
    from duologue.agent.connection import AgentConnection


#: What a session offers; `list` is a function in the class below.
Options = list[SessionConfigOption]


class Lifecycle:
    """The sessions of one connection, from the request that opens one to the one that ends it."""

    def __init__(self, connection: AgentConnection) -> None:
        self._connection = connection
        self._agent = connection.agent
        self._open = connection.sessions
        # Sessions that are being reopened, which take prompts already, and the open requests for each.
        self._opening: dict[str, Session] = {}
        self._resumes: Counter[str] = Counter()
        # What each of these requests opens: one behind the end of a session opens another than one before it.
        self._opens: dict[Scope, Session] = {}
        # The open requests that end a session: what is read behind them is about what comes after it.
        self._closes: Counter[str] = Counter()
        # The unfinished request that changes a session, by session id: the session's next request waits for it.
        self._barriers: dict[str, asyncio.Future[None]] = {}

    def find(self, session_id: str) -> Session:
        """The open session of that id. Raises `RpcError` (not found)."""
        session = self._open.get(session_id)
        if session is None:
            raise unknown_session(session_id)
        return session

    def for_prompt(self, session_id: str) -> Session:
        """The session that a prompt read now belongs to: one that is being reopened too. Raises `RpcError`."""
        return self._opening.get(session_id) or self.find(session_id)

    def cancel(self, session_id: str) -> None:
        """Cancel what runs and waits in a session."""
        for session in {self._open.get(session_id), self._opening.get(session_id)}:
            if session is not None:
                session.turns.cancel()

    def barrier(self, session_id: str) -> asyncio.Future[None] | None:
        """What the next request about a session has to wait for."""
        return self._barriers.get(session_id)

    # --- opening ------------------------------------------------------------------------------------------------------

    async def new(self, params: NewSessionRequest, scope: Scope) -> NewSessionResponse:
        session = self._make(fresh_id(), params)
        options = await self._begin(session, scope, self._agent.new_session(session))
        return NewSessionResponse(session_id=session.id, config_options=options)

    async def fork(self, params: ForkSessionRequest, scope: Scope) -> ForkSessionResponse:
        session = self._make(fresh_id(), params)
        options = await self._begin(session, scope, self._agent.fork_session(session, params.session_id))
        return ForkSessionResponse(session_id=session.id, config_options=options)

    async def _begin(self, session: Session, scope: Scope, prepare: Awaitable[None]) -> Options | UnsetType:
        """Open a session whose id is first seen in the response: what is said before that goes out behind it.

        Gives its config options. When they cannot be told, nobody learns of the session, so it is closed again.
        """
        session.hold()
        self._open[session.id] = session
        try:
            await prepare
        except BaseException:
            # The end of the connection may have been quicker.
            self._open.pop(session.id, None)
            raise
        try:
            options = self._options(session)
        except Exception:
            await self._given_up(session)
            raise
        scope.on_sent.append(session.release)
        return options

    async def _given_up(self, session: Session) -> None:
        """Close a session that the client does not learn of."""
        self._open.pop(session.id, None)
        await self._agent.close_session(session)

    async def resume(self, params: ResumeSessionRequest, scope: Scope) -> ResumeSessionResponse:
        asked = self._make(params.session_id, params)
        session = self._open.get(asked.id) or self._opens.get(scope, asked)
        before, session.place = session.place, asked.place
        try:
            await self._agent.resume_session(session, replay=bool(params.replay_from))
        except BaseException:
            session.place = before
            raise
        was_open = session.id in self._open
        self._open[session.id] = session
        try:
            return ResumeSessionResponse(config_options=self._options(session))
        except Exception:
            if not was_open:
                await self._given_up(session)
            raise

    def admit_resume(self, params: ResumeSessionRequest, scope: Scope) -> None:
        if isinstance(params.replay_from, Unknown):
            raise wrong_params("this agent replays from the start only", "replayFrom.type")
        made = self._make(params.session_id, params)
        self.admit_change(params, scope)
        if made.id not in self._open or self._closes[made.id]:
            self._opens[scope] = self._opening.setdefault(made.id, made)
        self._resumes[made.id] += 1
        scope.then.append(lambda: self._resumed(made.id, scope))

    def _resumed(self, session_id: str, scope: Scope) -> None:
        """A request that reopens a session is answered; with the last one the session is open, or there is none."""
        self._opens.pop(scope, None)
        self._resumes[session_id] -= 1
        if not self._resumes[session_id]:
            del self._resumes[session_id]
            self._opening.pop(session_id, None)

    def _make(self, session_id: str, params: NewSessionRequest | ResumeSessionRequest | ForkSessionRequest) -> Session:
        cwd = need_absolute(params.cwd, "cwd")
        if not is_folder(cwd):
            raise wrong_params(f"cwd is not a directory: {shortened(params.cwd)}", "cwd")
        named = params.additional_directories or ()
        if named and not self._agent.additional_directories:
            problem = "this agent takes no further directories (additionalDirectories)"
            raise wrong_params(problem, "additionalDirectories")
        place = Place(
            cwd,
            tuple(need_absolute(path, "additionalDirectories") for path in named),
            tuple(params.mcp_servers or ()),
            params.meta or {},
        )
        return Session(self._connection, session_id, place, self._agent.prompt)

    # --- listing, ending ----------------------------------------------------------------------------------------------

    async def list(self, params: ListSessionsRequest, scope: Scope) -> ListSessionsResponse:
        if isinstance(params.cwd, str):
            need_absolute(params.cwd, "cwd")
        return await self._agent.list_sessions(params)

    async def close(self, params: CloseSessionRequest, scope: Scope) -> CloseSessionResponse:
        await self._end(self.find(params.session_id))
        return CloseSessionResponse()

    async def delete(self, params: DeleteSessionRequest, scope: Scope) -> DeleteSessionResponse:
        session = self._open.get(params.session_id)
        if session is not None:
            await self._end(session)
        await self._agent.delete_session(params.session_id)
        return DeleteSessionResponse()

    async def _end(self, session: Session) -> None:
        session.turns.cancel()
        await session.turns.settle()
        self._open.pop(session.id, None)
        await self._agent.close_session(session)

    def admit_end(self, params: CloseSessionRequest | DeleteSessionRequest, scope: Scope) -> None:
        self.admit_change(params, scope)
        self._opening.pop(params.session_id, None)
        self._closes[params.session_id] += 1
        scope.then.append(lambda: self._closed(params.session_id))

    def _closed(self, session_id: str) -> None:
        self._closes[session_id] -= 1
        if not self._closes[session_id]:
            del self._closes[session_id]

    # --- options ------------------------------------------------------------------------------------------------------

    async def set_config_option(
        self, params: SetSessionConfigOptionRequest, scope: Scope
    ) -> SetSessionConfigOptionResponse:
        if not isinstance(params, SetIdConfigOption | SetBooleanConfigOption):
            raise wrong_params("unknown type of config option value", "type")
        session = self.find(params.session_id)
        check_option(self._told_options(session), params)
        await self._agent.set_config_option(session, params.config_id, params.value)
        return SetSessionConfigOptionResponse(config_options=self._told_options(session))

    def _options(self, session: Session) -> Options | UnsetType:
        return self._told_options(session) or UNSET

    def _told_options(self, session: Session) -> Options:
        """The options as the client reads them. Raises `TypeError` and `CodecError` for what are none."""
        given = several(self._agent.config_options(session), "what config_options returns")
        options: Options = codec.sendable(
            SetSessionConfigOptionResponse, SetSessionConfigOptionResponse(config_options=given)
        ).config_options
        return options

    # --- order --------------------------------------------------------------------------------------------------------

    def admit_change(self, params: Any, scope: Scope) -> None:
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
