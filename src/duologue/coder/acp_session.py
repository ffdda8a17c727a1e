"""One session of the coding agent: a coder, its options, and the turns that the client sees."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from duologue.agent import Session, Turn, default_options
from duologue.coder.acp_options import ModedStore, Models, mode_option, model_option
from duologue.coder.models.base import Model, ModelError
from duologue.coder.models.registry import ModelChoice
from duologue.coder.models.settings import OFFLINE
from duologue.coder.permissions import PermissionStore
from duologue.coder.workspace import Workspace
from duologue.jsonrpc.errors import INTERNAL_ERROR, RpcError
from duologue.protocol.common.prompt import StopReason

if TYPE_CHECKING:
    from duologue.coder.acp_events import Stage
    from duologue.coder.events import PermissionAnswer, PermissionQuestion
    from duologue.coder.files import Files
    from duologue.coder.loop import Coder
    from duologue.coder.models.base import UserMessage
    from duologue.protocol.v2.config import SessionConfigOption

#: The error code that asks a client to log in.
AUTH_REQUIRED = -32000


class CodingSession:
    """What the agent keeps of a session. The coder is made with the first prompt."""

    def __init__(
        self,
        session: Session,
        workspace: Workspace,
        models: Models,
        offered: Sequence[ModelChoice],
        store: PermissionStore,
    ) -> None:
        self.session = session
        self.workspace = workspace
        self._models = models
        self._offered = offered
        self._spec = offered[0].spec
        self._model: Model | None = None
        self._store = ModedStore(store)
        self._coder: Coder | None = None
        self._stage: Stage | None = None
        self._shown = asyncio.Event()

    # --- options ----------------------------------------------------------------------------------------------------

    def options(self) -> list[SessionConfigOption]:
        return [model_option(self._offered, self._spec), mode_option(self._store.mode)]

    def set_mode(self, mode: str) -> None:
        """Holds at once, also for the turn that runs."""
        self._store.mode = mode

    def set_model(self, spec: str) -> None:
        """Holds from the next turn on."""
        self._spec, self._model = spec, None

    # --- turns ------------------------------------------------------------------------------------------------------

    async def turn(self, turn: Turn) -> StopReason:
        """Work on a prompt. Raises RpcError when the model fails."""
        from duologue.coder.acp_events import Stage

        self._stage = Stage(turn, self.workspace)
        try:
            coder = await self._ready()
            message = await self._read(turn)
            return await self._play(coder, message, self._stage)
        except ModelError as error:
            raise rpc_error(error) from error
        finally:
            self._stage = None

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

    async def _ready(self) -> Coder:
        model = self._model
        if model is None:
            # In a thread: a model may load a library.
            model = self._model = await asyncio.to_thread(self._models.load, self._spec)
        if self._coder is None:
            self._coder = self._make(model)
        self._coder.model = model
        return self._coder

    def _make(self, model: Model) -> Coder:
        from duologue.coder.loop import Coder

        return Coder(model=model, workspace=self.workspace, permissions=self._store, ask=self._ask, files=self._files())

    def _files(self) -> Files:
        from duologue.coder.acp_files import ClientFiles
        from duologue.coder.files import Disk

        return ClientFiles(self.session, Disk(self.workspace))

    async def _read(self, turn: Turn) -> UserMessage:
        from duologue.coder.acp_prompt import PromptReader

        reader = PromptReader(self.workspace, self._files(), sees=self._spec != OFFLINE)
        return await reader.read(turn.prompt or ())

    async def _ask(self, question: PermissionQuestion) -> PermissionAnswer:
        """Ask the client, once it was told of the call: the question is attached to it."""
        stage = self._stage
        assert stage is not None
        while not stage.knows(question.call):
            self._shown.clear()
            await self._shown.wait()
        permission = await stage.voice.ask_permission(
            question.title,
            subject=stage.subject(question),
            options=default_options(question.scope or None),
        )
        if permission.cancelled:
            return "cancelled"
        if permission.option is None:
            return "reject_once"
        return ANSWERS[permission.option.option_id]

    async def close(self) -> None:
        """End what runs."""
        if self._coder is not None:
            await self._coder.aclose()


#: Answers by the ids of `default_options`.
ANSWERS: dict[str, PermissionAnswer] = {
    "allow_once": "allow_once",
    "allow_always": "allow_always",
    "reject_once": "reject_once",
    "reject_always": "reject_always",
}


def rpc_error(error: ModelError) -> RpcError:
    """A failing model as the prompt's error; the summary holds no secrets."""
    code = AUTH_REQUIRED if error.status == 401 else INTERNAL_ERROR
    data = {"details": error.summary, "retryable": error.retryable}
    return RpcError(code, error.summary, data if error.status is None else {**data, "status": error.status})
