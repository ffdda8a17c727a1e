"""One session of the coding agent: a coder, its options, and the turns that the client sees."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from duologue.agent import Session, Turn
from duologue.coder.acp_options import ASK, UNAUTHORIZED, ChosenModel, Models, mode_option
from duologue.coder.models.base import Model, ModelError
from duologue.coder.models.registry import ModelChoice
from duologue.jsonrpc.errors import INTERNAL_ERROR, RpcError
from duologue.local.workspace import Workspace
from duologue.peer.errors import wrong_params
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.common.session import SessionInfo
from duologue.protocol.conventions import ONE_TURN

if TYPE_CHECKING:
    from duologue.coder.acp_events import Stage
    from duologue.coder.acp_history import History
    from duologue.coder.conversation import Conversation
    from duologue.coder.events import PermissionAnswer, PermissionQuestion
    from duologue.coder.files import Files
    from duologue.coder.limits import McpLimits
    from duologue.coder.loop import Coder
    from duologue.coder.mcp.hub import McpHub
    from duologue.coder.models.base import UserMessage
    from duologue.coder.permissions import PermissionStore
    from duologue.coder.store.log import SessionLog
    from duologue.coder.store.saved import Saved
    from duologue.coder.tools import Tool
    from duologue.protocol.v2.config import SessionConfigOption


class CodingSession:
    """What the agent keeps of a session. The coder is made with the first prompt."""

    def __init__(
        self,
        session: Session,
        workspace: Workspace,
        models: Models,
        offered: Callable[[], Sequence[ModelChoice]],
        permissions: Callable[[], PermissionStore],
        log: SessionLog,
        mcp_limits: McpLimits | None = None,
    ) -> None:
        self.session = session
        self.workspace = workspace
        self._model = ChosenModel(models, offered)
        self._mode = ASK
        self._permissions = permissions
        self._log = log
        self._coder: Coder | None = None
        self._conversation: Conversation | None = None
        # While a turn is at work: what `_begun` was before it.
        self._before: int | None = None
        self._stage: Stage | None = None
        self._shown = asyncio.Event()
        self._history: History | None = None
        self._told: set[str] = set()
        self._mcp: McpHub | None = None
        self._mcp_limits = mcp_limits

    # --- options ----------------------------------------------------------------------------------------------------

    def options(self) -> list[SessionConfigOption]:
        if not self._model.is_offered():
            self.set_model(self._model.first())
        return [self._model.option(), mode_option(self._mode)]

    def set_mode(self, mode: str) -> None:
        """Holds at once, also for the turn that runs."""
        self._mode = mode
        self._log.describe(mode=mode)

    def set_model(self, spec: str) -> None:
        """Holds from the next turn on."""
        self._model.choose(spec)
        self._log.describe(model=spec)

    # --- folders ----------------------------------------------------------------------------------------------------

    def move(self, workspace: Workspace) -> None:
        """Work in other folders, and no more in those before; what was said is kept. Raises RpcError during a turn."""
        if workspace.roots == self.workspace.roots:
            return
        if self._stage is not None:
            raise wrong_params("a turn is at work in other folders: cancel it first", "cwd")
        self.workspace = workspace
        self._log.describe(**place_of(workspace))
        self._coder = None

    # --- MCP servers ------------------------------------------------------------------------------------------------

    def connect(self, after: float) -> None:
        """Start the MCP servers that the client names now, in so many seconds, and end others."""
        servers = self.session.mcp_servers
        if self._mcp is None and not servers:
            return
        from duologue.coder.acp_mcp import entries_of
        from duologue.coder.mcp.hub import McpHub

        if self._mcp is None:
            self._mcp = McpHub(self._mcp_limits)
        self._mcp.connect(entries_of(servers, self.session.connection.mcp.connect), self.workspace.cwd, after)

    async def _await_servers(self, turn: Turn) -> None:
        from duologue.coder.acp_mcp import wait_for_servers

        if self._mcp is not None:
            await wait_for_servers(self._mcp, turn)

    # --- what is kept -----------------------------------------------------------------------------------------------

    async def replay(self) -> None:
        """Show the client what happened so far."""
        if self._history is None:
            return
        for sent in self._history.replay(self.session):
            # While a turn speaks, nothing of it may come between.
            if self._stage is None:
                await sent

    def info(self) -> SessionInfo:
        """The session as a listing shows it."""
        info = self.session.info()
        title = None if self._history is None else self._history.transcript.title
        return info if title is None else replace(info, title=title)

    def saved(self) -> Saved:
        """All that another session needs to go on from here."""
        from duologue.coder.acp_saving import saved_of

        before = self._before
        return saved_of(
            self._kept(),
            self._conversation,
            model=self._model.spec,
            mode=self._mode,
            interrupted=before is not None,
            heard=before is not None and self._begun() > before,
            unfinished="" if self._coder is None else self._coder.unfinished(),
        )

    def _begun(self) -> int:
        """How many turns the conversation knows of, in this process."""
        return 0 if self._conversation is None else self._conversation.begun

    def create(self) -> None:
        """The session is new."""
        members = {"conversation": self.session.id, "model": self._model.spec, "mode": self._mode}
        self._log.create(**place_of(self.workspace), **members)
        self._log.used(self.session.updated_at)

    def reopen(self, saved: Saved) -> None:
        """Go on with what an earlier process has left of this session."""
        self._log.describe(**place_of(self.workspace))
        self._restore(saved)

    def copy(self, saved: Saved) -> None:
        """Go on from a copy of another session."""
        from duologue.coder.acp_saving import write_all

        self._model.choose(saved.model)
        self._mode = saved.mode
        saved.conversation = self.session.id
        self.create()
        write_all(saved, self._log)
        self._restore(saved)
        self._log.ended()

    def _restore(self, saved: Saved) -> None:
        from duologue.coder.acp_saving import restored

        self._model.choose(saved.model)
        self._mode = saved.mode
        self._history, self._conversation = restored(saved, self._log)

    def _kept(self) -> History:
        from duologue.coder.acp_history import History

        if self._history is None:
            self._history = History(self._log)
        return self._history

    # --- turns ------------------------------------------------------------------------------------------------------

    async def turn(self, turn: Turn, loaded: Awaitable[None]) -> StopReason:
        """Work on a prompt, once what that needs is `loaded`. Raises RpcError when the model fails."""
        self._log.used(self.session.updated_at)
        self._log.began()
        self._before = self._begun()
        try:
            # At once: a replay that is asked for while something is loaded shows what the user said.
            turn.record(self._kept().add)
            await loaded
            from duologue.coder.acp_events import Stage

            stage = self._stage = Stage(turn, self.workspace)
            await self._await_servers(turn)
            self._tell_notices(turn)
            coder = await self._ready()
            message = await self._read(turn)
            reason = await self._play(coder, message, stage)
            self._tell_notices(turn)
            return reason
        except ModelError as error:
            raise rpc_error(error) from error
        finally:
            self._log.ended()
            self._before = self._stage = None

    def _tell_notices(self, turn: Turn) -> None:
        """Say what a person should know, once a session: of MCP servers, of their settings, of the file that keeps
        permissions, and of the store of sessions."""
        known = [*self._model.notices(), *self._permissions().notices, *self._log.notices]
        fresh = [f"{notice}." for notice in known if notice not in self._told]
        self._told.update(known)
        for notice in [*(self._mcp.notices() if self._mcp is not None else ()), *fresh]:
            # Some clients show everything as one text.
            turn.say(f"Note: {notice}\n\n")
            turn.end_message()

    async def _play(self, coder: Coder, message: UserMessage, stage: Stage) -> StopReason:
        """Show a turn's events as they come. A cancelled turn is shown to its end, without waiting for the client."""
        from duologue.coder.events import TurnEnded

        cancelled: asyncio.CancelledError | None = None
        reason = StopReason.END_TURN
        async with aclosing(coder.turn(message)) as events:
            async for event in events:
                sent = stage.show(event)
                self._shown.set()
                if isinstance(event, TurnEnded):
                    reason = StopReason(event.reason)
                try:
                    if sent is not None and cancelled is None:
                        await sent
                except asyncio.CancelledError as error:
                    cancelled = error
                    coder.cancel()
        if cancelled is not None:
            raise cancelled
        return reason

    async def prepare(self) -> None:
        """Load the model before it is needed."""
        await self._model.prepare()

    async def _ready(self) -> Coder:
        model = await self._model.loaded()
        if self._coder is None:
            self._coder = self._make(model)
        self._coder.model = model
        return self._coder

    def _make(self, model: Model) -> Coder:
        from duologue.coder.acp_permissions import SessionPermissions
        from duologue.coder.conversation import Conversation
        from duologue.coder.loop import Coder

        store = SessionPermissions(self._permissions(), lambda: self._mode)
        if self._conversation is None:
            self._conversation = Conversation(self.session.id, watcher=self._log)
        return Coder(
            model=model,
            workspace=self.workspace,
            permissions=store,
            ask=self._ask,
            files=self._files(),
            conversation=self._conversation,
            more_tools=lambda: () if self._mcp is None else self._mcp.tools(),
            starting=lambda: () if self._mcp is None else self._mcp.starting(),
            tools=self._tools(),
        )

    def _tools(self) -> list[Tool]:
        """All tools, without the one that is for a later turn where there is none."""
        from duologue.coder.tools import builtin_tools

        said = self.session.connection.client_capabilities.meta or {}
        one_turn = said.get(ONE_TURN) is True
        return [tool for tool in builtin_tools() if not (one_turn and tool.spec.name == "undo_edits")]

    def _files(self) -> Files:
        from duologue.coder.acp_files import EditorFiles
        from duologue.coder.files import Disk

        return EditorFiles(self.session, Disk(self.workspace))

    async def _read(self, turn: Turn) -> UserMessage:
        from duologue.coder.acp_prompt import PromptReader

        reader = PromptReader(self.workspace, self._files(), sees=self._model.sees)
        return await reader.read(turn.prompt or ())

    async def _ask(self, question: PermissionQuestion) -> PermissionAnswer:
        """Ask the client, once it was told of the call: the question is attached to it."""
        from duologue.coder.acp_permissions import ask_client

        stage = self._stage
        assert stage is not None
        while not stage.knows(question.call):
            self._shown.clear()
            await self._shown.wait()
        return await ask_client(stage, question)

    async def close(self) -> None:
        """End what runs, and write down the rest."""
        if self._coder is not None:
            await self._coder.aclose()
        if self._mcp is not None:
            await self._mcp.close()
        await self._log.close()


def place_of(workspace: Workspace) -> dict[str, Any]:
    """Where a session works, as the store keeps it."""
    cwd, *others = (str(root.given) for root in workspace.roots)
    return {"cwd": cwd, "roots": others}


def rpc_error(error: ModelError) -> RpcError:
    """A failing model as the prompt's error; the summary holds no secrets."""
    code = ErrorCode.AUTH_REQUIRED if error.status == UNAUTHORIZED else INTERNAL_ERROR
    data = {"details": error.summary, "retryable": error.retryable}
    return RpcError(code, error.summary, data if error.status is None else {**data, "status": error.status})
