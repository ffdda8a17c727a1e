"""One turn with an agent, from the request to the exit status."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from duologue import codec
from duologue.cli.answering import Answers
from duologue.cli.bounds import BRIEF, WHOLE
from duologue.cli.exits import BY_REASON, Exit
from duologue.cli.models import model_value
from duologue.cli.resuming import Resume, is_folder, reopened, when
from duologue.cli.screen import one_line, plain_json
from duologue.cli.show import Printer
from duologue.cli.visit import Start, Visit
from duologue.client import ClientConnection, PromptTurn, Session
from duologue.local.rules import Rule
from duologue.protocol.common.config import SessionConfigOptionCategory
from duologue.protocol.common.permission import RequestPermissionOutcome
from duologue.protocol.conventions import ONE_TURN
from duologue.protocol.v2.capabilities import ClientCapabilities
from duologue.protocol.v2.config import SelectConfigOption
from duologue.protocol.v2.mcp import McpServer
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.updates import SessionUpdate
from duologue.session import CurrentTranscript, Transcript

#: How long a cancelled turn may take to end before the agent is ended, in seconds.
CANCEL_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Start):
    """What a run is to do."""

    request: str
    rules: Sequence[Rule] = ()
    otherwise: Literal["ask", "yes", "reject"] = "ask"
    model: str | None = None
    resume: Resume | None = None
    mcp_servers: Sequence[McpServer] = ()


def run_order(order: Order) -> Exit:
    """Run it; the exit status."""
    return asyncio.run(Run(order).main())


class Run(Visit):
    """The client of one turn. Updates are printed when they are read, so that a question stands behind them."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self.order = order
        self.printer = Printer(self.errors if order.json else self.out, WHOLE if order.verbose else BRIEF)
        self.answers = Answers(self.printer, order.rules, order.otherwise, printed=self.output.settle)
        self._turn: PromptTurn | None = None
        # While the history of a session comes, which was shown before.
        self._hushed = False

    # --- the client of the protocol ---------------------------------------------------------------------------------

    def on_update(self, session: Session, update: SessionUpdate) -> None:
        if self._hushed:
            return
        if self.order.json:
            self.out.line(plain_json(codec.encode(update).decode()))
        else:
            self.printer.show(update, session.transcript)

    def capabilities(self) -> ClientCapabilities:
        return ClientCapabilities(meta={ONE_TURN: True})

    def transcript(self) -> Transcript:
        return CurrentTranscript()

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        return await self.answers.answer(session, request)

    # --- the run ----------------------------------------------------------------------------------------------------

    async def work(self, connection: ClientConnection) -> Exit:
        session = await self._session(connection)
        await self._choose_model(session)
        turn = self._turn = session.prompt(self.order.request)
        async for _ in turn:
            await self.output.drain()
        return self._exit(turn)

    def may_say_waiting(self) -> bool:
        return not self.answers.asking

    async def _session(self, connection: ClientConnection) -> Session:
        cwd = self.order.cwd
        if self.order.resume is None:
            return await connection.new_session(cwd, mcp_servers=self.order.mcp_servers)
        self._hushed = True
        session, info = await reopened(connection, self.order.resume, cwd, self.order.mcp_servers)
        self._hushed = False
        title = f'"{one_line(info.title)}"' if info is not None and isinstance(info.title, str) else "the session"
        used = "" if info is None else f", last used {when(info)}"
        self.errors.line(f"{self.order.program}: goes on with {title} ({one_line(session.id)}{used})", "dim")
        if info is not None and not is_folder(info, cwd):
            self.errors.line(f"  it was in {one_line(info.cwd)}, and is in {one_line(str(cwd))} from now on", "yellow")
        return session

    async def _choose_model(self, session: Session) -> None:
        """Raises `NoModel` for a model that the agent does not have."""
        if self.order.model is None:
            return
        for option in session.config_options:
            if isinstance(option, SelectConfigOption) and option.category == SessionConfigOptionCategory.MODEL:
                await session.set_config_option(option.config_id, model_value(option, self.order.model))
                return
        self.errors.line(f"{self.order.program}: this agent does not let a client choose the model", "yellow")

    def _exit(self, turn: PromptTurn) -> Exit:
        reason = "" if turn.stop_reason is None else str(turn.stop_reason)
        status = BY_REASON.get(reason, Exit.OTHER)
        if status is Exit.CANCELLED:
            return self.stopped or Exit.CANCELLED
        if status is Exit.DONE and self.answers.nobody_asked:
            return Exit.NOBODY_TO_ASK
        if status is not Exit.DONE:
            self.errors.line(
                f"{self.order.program}: the turn ended: {one_line(reason) or 'no reason was given'}", "yellow"
            )
        return status

    async def leave(self, work: asyncio.Task[Exit]) -> None:
        """Cancel the turn and wait for its end, but not for ever."""
        turn = self._turn
        if turn is None:
            work.cancel()
            return
        await turn.cancel()
        await self.or_impatient(work, CANCEL_SECONDS)
        if not work.done():
            self.errors.line(f"{self.order.program}: the agent did not end its turn; it is ended", "yellow")
            work.cancel()
