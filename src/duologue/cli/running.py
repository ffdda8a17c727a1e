"""One turn with an agent, from its start to the exit status."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from duologue import codec
from duologue.cli.answering import Answers
from duologue.cli.exits import BY_REASON, Exit
from duologue.cli.screen import Screen, printable, wants_colour
from duologue.cli.show import Printer
from duologue.client import AgentFailed, Client, ClientConnection, PromptTurn, Session, VersionMismatch, connect
from duologue.coder.rules import Rule
from duologue.jsonrpc.errors import JsonRpcError
from duologue.peer import ConnectionClosed
from duologue.protocol.common.config import SessionConfigOptionCategory
from duologue.protocol.common.permission import RequestPermissionOutcome
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.updates import SessionUpdate
from duologue.transports.spawn import SpawnTransport
from duologue.version import __version__

#: How long a cancelled turn may take to end before the agent is ended, in seconds.
CANCEL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Order:
    """What a run is to do."""

    request: str
    command: Sequence[str]
    cwd: Path
    protocol: Literal[1, 2, "auto"] = 1
    env: Mapping[str, str] | None = None
    rules: Sequence[Rule] = ()
    otherwise: Literal["ask", "yes", "deny"] = "ask"
    model: str | None = None
    json: bool = False
    timeout: float | None = None
    verbose: bool = False


def run_order(order: Order) -> Exit:
    """Run it; the exit status."""
    return asyncio.run(Run(order).main())


class Run(Client):
    """The client of one turn. Updates are printed when they are read, so that a question stands behind them."""

    name = "duologue"
    title = "Duologue"
    version = __version__

    def __init__(self, order: Order) -> None:
        self.order = order
        self.errors = Screen(sys.stderr, colour=wants_colour(sys.stderr))
        self.out = Screen(sys.stdout, colour=not order.json and wants_colour(sys.stdout))
        self.printer = Printer(self.errors if order.json else self.out)
        self.answers = Answers(self.printer, order.rules, order.otherwise)
        self._turn: PromptTurn | None = None
        self._stopped: Exit | None = None
        self._stopping = asyncio.Event()
        self._stderr = bytearray()

    # --- the client of the protocol ---------------------------------------------------------------------------------

    def on_update(self, session: Session, update: SessionUpdate) -> None:
        if self.order.json:
            self.out.line(codec.encode(update).decode())
        else:
            self.printer.show(update)
        if self.out.closed:
            self._stop(Exit.BROKEN_PIPE)

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        return await self.answers.answer(session, request)

    # --- the run ----------------------------------------------------------------------------------------------------

    async def main(self) -> Exit:
        """Start the agent, take the turn, end the agent."""
        self._watch_signals()
        work = asyncio.get_running_loop().create_task(self._work())
        stop = asyncio.get_running_loop().create_task(self._stopping.wait())
        try:
            await asyncio.wait({work, stop}, timeout=self.order.timeout, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self._stop(Exit.TIMED_OUT)
                await self._cancel(work)
            return await work
        except asyncio.CancelledError:
            return self._stopped or Exit.CANCELLED
        finally:
            stop.cancel()
            self.out.fresh()

    async def _work(self) -> Exit:
        try:
            async with connect(self._transport, self, protocol=self.order.protocol) as connection:
                return await self._take_turn(connection)
        except (AgentFailed, VersionMismatch) as error:
            return self._failed(Exit.AGENT_FAILED, error)
        except ConnectionClosed as error:
            return self._failed(Exit.AGENT_FAILED, error)
        except (JsonRpcError, codec.CodecError) as error:
            return self._failed(Exit.TURN_FAILED, error)

    async def _take_turn(self, connection: ClientConnection) -> Exit:
        session = await connection.new_session(self.order.cwd)
        await self._choose_model(session)
        turn = self._turn = session.prompt(self.order.request)
        async for _ in turn:
            pass
        return self._exit(turn)

    async def _choose_model(self, session: Session) -> None:
        if self.order.model is None:
            return
        for option in session.config_options:
            if getattr(option, "category", None) == SessionConfigOptionCategory.MODEL:
                await session.set_config_option(option.config_id, self.order.model)  # type: ignore[union-attr]
                return
        self.errors.line("duologue run: this agent does not let a client choose the model", "yellow")

    def _exit(self, turn: PromptTurn) -> Exit:
        reason = "" if turn.stop_reason is None else str(turn.stop_reason)
        status = BY_REASON.get(reason, Exit.OTHER)
        if status is Exit.CANCELLED:
            return self._stopped or Exit.CANCELLED
        if status is Exit.DONE and self.answers.nobody_asked:
            return Exit.NOBODY_TO_ASK
        if status is not Exit.DONE:
            self.errors.line(f"duologue run: the turn ended: {printable(reason) or 'no reason was given'}", "yellow")
        return status

    # --- stopping ---------------------------------------------------------------------------------------------------

    def _watch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            loop.add_signal_handler(getattr(signal, name), self._stop, Exit.CANCELLED)

    def _stop(self, status: Exit) -> None:
        """Begin to stop; a second time, stop at once."""
        if self._stopped is None:
            self._stopped = status
            self._stopping.set()
        elif self._impatient is not None and status is Exit.CANCELLED:
            self._impatient.set()

    async def _cancel(self, work: asyncio.Task[Exit]) -> None:
        """Cancel the turn and wait for its end, but not for ever."""
        turn = self._turn
        if turn is None:
            work.cancel()
            return
        self._impatient = asyncio.Event()
        await turn.cancel()
        waiting = asyncio.get_running_loop().create_task(self._impatient.wait())
        await asyncio.wait({work, waiting}, timeout=CANCEL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not work.done():
            self.errors.line("duologue run: the agent did not end its turn; it is ended", "yellow")
            work.cancel()

    _impatient: asyncio.Event | None = None

    # --- the agent's process ----------------------------------------------------------------------------------------

    def _transport(self) -> SpawnTransport:
        return SpawnTransport(self.order.command, cwd=self.order.cwd, env=self.order.env, on_stderr=self._on_stderr)

    def _on_stderr(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-16384:]
        if self.order.verbose:
            self.errors.write(printable(data.decode("utf-8", "replace")), "dim")

    def _failed(self, status: Exit, error: Exception) -> Exit:
        """Tell a failure with what the agent last wrote to standard error."""
        if self._stopped is not None:
            return self._stopped
        self.out.fresh()
        text = printable(str(error))
        self.errors.line(f"duologue run: {text}", "red")
        tail = printable(self._stderr.decode("utf-8", "replace")).strip()
        if tail and not self.order.verbose and tail[-200:] not in text:
            self.errors.line("--- last lines of the agent's standard error ---", "dim")
            self.errors.line(tail, "dim")
        return status
