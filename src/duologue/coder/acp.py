"""The coding agent served over ACP: `run(CodingAgent())` is an agent that any ACP client can start.

What costs time to load (the loop, the tools, the models) is loaded once the first session is open, not before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from duologue.agent import Agent, AgentExtras, Session, Turn, list_page
from duologue.coder.acp_options import MODE, ConfiguredModels, Models
from duologue.coder.acp_session import CodingSession
from duologue.coder.mcp.library import has_library
from duologue.coder.models.settings import OFFLINE
from duologue.coder.settling import in_daemon
from duologue.jsonrpc.errors import RpcError
from duologue.local.workspace import Workspace
from duologue.peer.errors import wrong_params
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.prompt import StopReason
from duologue.version import __version__

if TYPE_CHECKING:
    from duologue.coder.acp_archive import Archive
    from duologue.coder.limits import McpLimits
    from duologue.coder.permissions import PermissionStore
    from duologue.coder.store.worker import Settings
    from duologue.protocol.common.session import ListSessionsRequest, ListSessionsResponse
    from duologue.protocol.v2.auth import AuthMethod
    from duologue.protocol.v2.capabilities import McpCapabilities, PromptCapabilities
    from duologue.protocol.v2.config import SessionConfigOption

#: How long after a session was opened the rest is loaded, in seconds: its answer goes first.
LOAD_AFTER = 0.02

#: The id of the auth method that looks for the model's key again.
KEY_METHOD = "model-key"


class CodingAgent(Agent):
    """The coder for one client. `permissions` is the file that keeps what a person allowed with "always"; `sessions`
    says where sessions are kept, when it is asked for the first time (without it, only while the process lives)."""

    name = "duologue"
    title = "Duologue"
    version = __version__
    additional_directories = True

    def __init__(
        self,
        model: str | None = None,
        *,
        models: Models | None = None,
        permissions: Path | None = None,
        sessions: Settings | None = None,
        env: Mapping[str, str] | None = None,
        mcp_limits: McpLimits | None = None,
    ) -> None:
        self._models = ConfiguredModels(model, env) if models is None else models
        self._offered = tuple(self._models.offered())
        self._missing_key = self._models.missing_key()
        self._logged_out = False
        self._kept_in = permissions
        self._mcp_limits = mcp_limits
        self._sessions = sessions
        self._store: PermissionStore | None = None
        self._sees = any(choice.spec != OFFLINE for choice in self._offered)
        self._loading: asyncio.Future[None] | None = None
        self._preparing: set[asyncio.Future[None]] = set()

    def prompt_capabilities(self) -> PromptCapabilities:
        """Embedded resources always; images when a model that may see them can be chosen."""
        from duologue.protocol.v2.capabilities import (
            PromptCapabilities,
            PromptEmbeddedContextCapabilities,
            PromptImageCapabilities,
        )

        if not self._sees:
            return PromptCapabilities(embedded_context=PromptEmbeddedContextCapabilities())
        return PromptCapabilities(embedded_context=PromptEmbeddedContextCapabilities(), image=PromptImageCapabilities())

    def mcp_capabilities(self) -> McpCapabilities | None:
        """Every way there is, when the library is installed."""
        from duologue.protocol.v2 import capabilities as v2

        if not has_library():
            return None
        return v2.McpCapabilities(
            stdio=v2.McpStdioCapabilities(), http=v2.McpHttpCapabilities(), acp=v2.McpAcpCapabilities()
        )

    def v1_capabilities(self) -> AgentExtras:
        return replace(super().v1_capabilities(), sse=has_library())

    def auth_methods(self) -> Sequence[AuthMethod]:
        """One that says what to do, when the chosen model had no key at the start."""
        from duologue.protocol.v2.auth import AgentAuthMethod

        if self._missing_key is None:
            return ()
        told = f"{self._missing_key}, where the client starts the agent or in the config file; then log in again."
        return (AgentAuthMethod(method_id=KEY_METHOD, name="Give the model its key", description=told),)

    async def login(self, method_id: str) -> None:
        """Look again whether there is a key; nothing is asked and nothing is opened. Raises RpcError when not."""
        missing = self._models.missing_key()
        if missing is not None:
            raise RpcError(ErrorCode.AUTH_REQUIRED, missing, {"details": missing})
        self._logged_out = False
        self._offered = tuple(self._models.offered())
        for session in self._begun():
            await session.update_config_options()

    async def logout(self) -> None:
        """Work on nothing until the next login. The key itself is not ours to forget."""
        self._logged_out = True

    def _check_login(self) -> None:
        if self._logged_out:
            raise RpcError(ErrorCode.AUTH_REQUIRED, "logged out: log in again")

    async def new_session(self, session: Session) -> None:
        self._check_login()
        self._begin(session).create()

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        if isinstance(session.state, CodingSession):
            session.state.move(workspace_of(session))
            session.state.connect(LOAD_AFTER)
        else:
            await self._reopen(session)
        if replay:
            await coding(session).replay()

    async def _reopen(self, session: Session) -> None:
        """Go on with a session of an earlier process."""
        workspace_of(session)  # What is wrong with the folders is told first: then nothing is opened.
        saved = await self._archive.take(session.id)
        session.updated_at = saved.last_used
        self._begin(session).reopen(saved)

    async def fork_session(self, session: Session, source_id: str) -> None:
        self._check_login()
        source = self.connection.sessions.get(source_id)
        if source is None or source.state is None:
            saved = await self._archive.read(source_id)
        else:
            saved = coding(source).saved()
        self._begin(session).copy(saved)

    def _begin(self, session: Session) -> CodingSession:
        log = self._archive.log(session.id)
        state = CodingSession(
            session,
            workspace_of(session),
            self._models,
            lambda: self._offered,
            self._permissions,
            log,
            self._mcp_limits,
        )
        session.state = state
        state.connect(LOAD_AFTER)
        # A task and not a timer: what ends the loop cancels tasks, and a timer could still fire then.
        task = asyncio.ensure_future(self._prepare(state))
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)
        return state

    async def list_sessions(self, request: ListSessionsRequest) -> ListSessionsResponse:
        from duologue.agent.listing import merged

        opened = [coding(session).info() for session in self._begun()]
        # Beside the loop: a folder of a kept session may be on a disk that does not answer.
        return await in_daemon(list_page, merged(opened, await self._archive.infos()), request)

    async def delete_session(self, session_id: str) -> None:
        await self._archive.delete(session_id)

    async def close_session(self, session: Session) -> None:
        if session.state is not None:
            await coding(session).close()

    def _begun(self) -> list[Session]:
        """The open sessions, without those that still wait for what is kept of them."""
        return [session for session in self.connection.sessions.values() if session.state is not None]

    def config_options(self, session: Session) -> Sequence[SessionConfigOption]:
        return coding(session).options()

    async def set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:
        if config_id == MODE:
            coding(session).set_mode(str(value))
        else:
            coding(session).set_model(str(value))

    async def prompt(self, turn: Turn) -> StopReason | None:
        self._check_login()
        return await coding(turn.session).turn(turn, self._load())

    @cached_property
    def _archive(self) -> Archive:
        from duologue.coder.acp_archive import Archive

        return Archive(self._sessions)

    def _permissions(self) -> PermissionStore:
        """The rules of all sessions; read when the first of them works."""
        if self._store is None:
            from duologue.coder.permissions import PermissionStore

            self._store = PermissionStore(self._kept_in)
        return self._store

    async def _prepare(self, session: CodingSession) -> None:
        """Load what the first turn needs while the user still writes."""
        await asyncio.sleep(LOAD_AFTER)
        self._archive.start()
        await self._load()
        await session.prepare()

    def _load(self) -> asyncio.Future[None]:
        """Import the loop and the tools beside the event loop, once."""
        if self._loading is None:
            self._loading = asyncio.ensure_future(in_daemon(_import))
        return asyncio.shield(self._loading)


def coding(session: Session) -> CodingSession:
    """What this agent keeps of a session."""
    state: CodingSession = session.state
    return state


def workspace_of(session: Session) -> Workspace:
    """The folders of a session. Raises RpcError when they cannot be worked in."""
    try:
        return Workspace(session.roots)
    except ValueError as error:
        raise wrong_params(str(error), "additionalDirectories") from None


def _import() -> None:
    import duologue.coder.acp_files
    import duologue.coder.acp_permissions
    import duologue.coder.acp_prompt
    import duologue.coder.loop
    import duologue.coder.models.offline  # noqa: F401
