"""One turn with an agent, from its start to the exit status."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET

from duologue import codec
from duologue.cli.answering import Answers
from duologue.cli.bounds import BRIEF, WHOLE
from duologue.cli.exits import BY_REASON, Exit
from duologue.cli.models import NoModel, model_value
from duologue.cli.notes import Notes
from duologue.cli.output import Output
from duologue.cli.resuming import NoSession, Resume, is_folder, reopened, when
from duologue.cli.screen import Screen, can_erase, one_line, plain_json, printable, wants_colour
from duologue.cli.show import Printer
from duologue.cli.waiting import Waiting
from duologue.client import AgentFailed, Client, ClientConnection, PromptTurn, Session, VersionMismatch, connect
from duologue.jsonrpc.errors import JsonRpcError, RpcError
from duologue.local.rules import Rule
from duologue.peer import ConnectionClosed, Trace
from duologue.processes.stops import ignore_stop_signals, stop_signals
from duologue.protocol.common.config import SessionConfigOptionCategory
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.permission import RequestPermissionOutcome
from duologue.protocol.conventions import ONE_TURN
from duologue.protocol.v2.auth import AuthMethod
from duologue.protocol.v2.capabilities import ClientCapabilities
from duologue.protocol.v2.config import SelectConfigOption
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.updates import SessionUpdate
from duologue.session import CurrentTranscript, Transcript
from duologue.transports.spawn import SpawnTransport
from duologue.version import __version__

#: How long a cancelled turn may take to end before the agent is ended, in seconds.
CANCEL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Order:
    """What a run is to do. `program` is who says what is wrong."""

    request: str
    command: Sequence[str]
    cwd: Path
    protocol: Literal[1, 2, "auto"] = 1
    env: Mapping[str, str] | None = None
    rules: Sequence[Rule] = ()
    otherwise: Literal["ask", "yes", "reject"] = "ask"
    model: str | None = None
    json: bool = False
    timeout: float | None = None
    verbose: bool = False
    trace: Trace | None = None
    resume: Resume | None = None
    program: str = "duologue run"


def run_order(order: Order, kind: type[Run] | None = None) -> Exit:
    """Run it, or do what another kind of run does; the exit status."""
    return asyncio.run((kind or Run)(order).main())


class Run(Client):
    """The client of one turn. Updates are printed when they are read, so that a question stands behind them."""

    name = "duologue"
    title = "Duologue"
    version = __version__

    def __init__(self, order: Order) -> None:
        self.order = order
        # A stream is None when the program was started with it closed.
        errors = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        self._terminal = errors
        self.errors = Screen(errors, colour=wants_colour(errors))
        self.output = Output(sys.stdout or errors)
        self.out = Screen(self.output, colour=not order.json and wants_colour(self.output))
        self.printer = Printer(self.errors if order.json else self.out, WHOLE if order.verbose else BRIEF)
        self.answers = Answers(self.printer, order.rules, order.otherwise, printed=self.output.settle)
        self._turn: PromptTurn | None = None
        self._logins: Sequence[AuthMethod] = ()
        self._stopped: Exit | None = None
        self._stopping = asyncio.Event()
        self._impatient = asyncio.Event()
        self._stderr = bytearray()
        self._ready = False
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

    async def main(self) -> Exit:
        """Start the agent, take the turn, end the agent."""
        loop = asyncio.get_running_loop()
        self.output.open()

        def interrupted(number: int) -> None:
            loop.call_soon_threadsafe(self._stop, Exit.CANCELLED)

        with stop_signals(interrupted, interrupted), self._notes_of_ours():
            status = await self._run(loop)
        if self._stopped is Exit.CANCELLED:
            ignore_stop_signals()
        return status

    @contextlib.contextmanager
    def _notes_of_ours(self) -> Iterator[None]:
        """What the library warns of is printed like all else; without a handler it would write into other lines."""
        handler = Notes(self.errors)
        logging.getLogger("duologue").addHandler(handler)
        try:
            yield
        finally:
            logging.getLogger("duologue").removeHandler(handler)

    async def _run(self, loop: asyncio.AbstractEventLoop) -> Exit:
        work = loop.create_task(self._work())
        reader = loop.create_task(self._watch_reader())
        stop = loop.create_task(self._stopping.wait())
        line = self._show_waiting(loop)
        try:
            await asyncio.wait({work, stop}, timeout=self.order.timeout, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                if self._stopped is None and self.order.timeout is not None:
                    over = f"{self.order.program}: --timeout {self.order.timeout:g} is over; the turn is cancelled"
                    self.errors.line(over, "yellow")
                self._stop(Exit.TIMED_OUT)
                await self._cancel(work)
            status = await work
        except asyncio.CancelledError:
            status = self._stopped or Exit.CANCELLED
        finally:
            stop.cancel()
            await self._settle()
            line.cancel()
            reader.cancel()
        return self._told_all(status)

    def _show_waiting(self, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        """Begin to show on a terminal that nothing comes; who pipes or reads JSON is not disturbed."""
        if self.order.json or not self.out.is_terminal or not can_erase(self._terminal):
            return loop.create_task(asyncio.sleep(0))
        waiting = Waiting(self._terminal, self._awaited)
        self.out.before = self.errors.before = waiting.clear
        return loop.create_task(waiting.run())

    def _awaited(self) -> str | None:
        """What is waited for; None while that must not be said: in a line that is begun, below a question."""
        lines_are_whole = self.out.at_start and self.errors.at_start and self.output.settled
        if not lines_are_whole or self.answers.asking:
            return None
        if self._impatient.is_set():
            return "ending the agent"
        if self._stopped is not None:
            return "waiting for the agent to end (Ctrl-C again ends it at once)"
        return "waiting for the agent" if self._ready else "starting the agent"

    def _told_all(self, status: Exit) -> Exit:
        """The status, unless the end was not told because standard output takes nothing any more."""
        if not self.output.closed.is_set():
            return status
        lost = self._lost()
        if lost is Exit.OUTPUT_FAILED:
            self.errors.line(f"{self.order.program}: standard output: {one_line(str(self.output.error))}", "red")
        return lost if status in (Exit.DONE, Exit.NOBODY_TO_ASK) else status

    async def _work(self) -> Exit:
        try:
            async with connect(
                self._transport, self, protocol=self.order.protocol, trace=self.order.trace
            ) as connection:
                self._ready = True
                return await self._work_with(connection)
        except (AgentFailed, VersionMismatch) as error:
            status = await self._failed(Exit.AGENT_FAILED, error)
            self._doubt_command(isinstance(error, AgentFailed) and error.spoke_to)
            return status
        except ConnectionClosed as error:
            return await self._failed(Exit.AGENT_FAILED, error)
        except NoSession as error:
            return await self._failed(Exit.NO_SESSION, error)
        except NoModel as error:
            return await self._failed(Exit.USAGE, error)
        except (JsonRpcError, codec.CodecError) as error:
            status = await self._failed(Exit.TURN_FAILED, error)
            self._tell_logins(error)
            self._doubt_command(not self._ready and getattr(error, "code", None) != ErrorCode.AUTH_REQUIRED)
            return status

    def _doubt_command(self, strange: bool) -> None:
        """A program that starts and cannot shake hands may be no agent, or not be told that it is to be one."""
        if strange and self._stopped is None:
            hint = "is this the command of an ACP agent? Some need an argument for that, such as --acp"
            self.errors.line(f"  {hint}", "yellow")

    def _tell_logins(self, error: Exception) -> None:
        """Say what an agent that asks for a login offers; how to do it may be told in the description alone."""
        if getattr(error, "code", None) != ErrorCode.AUTH_REQUIRED:
            return
        for method in self._logins:
            name, description = getattr(method, "name", None), getattr(method, "description", None)
            told = f"{name}: {description}" if isinstance(description, str) else name
            if isinstance(told, str) and getattr(error, "message", "") not in told:
                self.errors.line(f"  to log in: {printable(told)}", "yellow")

    async def _work_with(self, connection: ClientConnection) -> Exit:
        self._logins = connection.auth_methods
        session = await self._session(connection)
        await self._choose_model(session)
        turn = self._turn = session.prompt(self.order.request)
        async for _ in turn:
            await self.output.drain()
        return self._exit(turn)

    async def _session(self, connection: ClientConnection) -> Session:
        cwd = self.order.cwd
        if self.order.resume is None:
            return await connection.new_session(cwd)
        self._hushed = True
        session, info = await reopened(connection, self.order.resume, cwd)
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
            return self._stopped or Exit.CANCELLED
        if status is Exit.DONE and self.answers.nobody_asked:
            return Exit.NOBODY_TO_ASK
        if status is not Exit.DONE:
            self.errors.line(
                f"{self.order.program}: the turn ended: {one_line(reason) or 'no reason was given'}", "yellow"
            )
        return status

    # --- stopping ---------------------------------------------------------------------------------------------------

    async def _watch_reader(self) -> None:
        await self.output.closed.wait()
        self._stop(self._lost())

    def _lost(self) -> Exit:
        """The status for standard output that takes nothing any more. A reader that has gone needs no words."""
        if not isinstance(self.output.error, OSError) or isinstance(self.output.error, BrokenPipeError):
            return Exit.BROKEN_PIPE
        return Exit.OUTPUT_FAILED

    def _stop(self, status: Exit) -> None:
        """Begin to stop; a second time, stop at once."""
        if self._stopped is None:
            self._stopped = status
            self._stopping.set()
        elif status is Exit.CANCELLED:
            self._impatient.set()

    async def _settle(self) -> None:
        """Wait until what was printed is written, unless the user has had enough."""
        self.out.fresh()
        await self._or_impatient(asyncio.ensure_future(self.output.settle()))

    async def _or_impatient(self, work: asyncio.Future[Any], seconds: float | None = None) -> None:
        waiting = asyncio.ensure_future(self._impatient.wait())
        await asyncio.wait({work, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    async def _cancel(self, work: asyncio.Task[Exit]) -> None:
        """Cancel the turn and wait for its end, but not for ever."""
        turn = self._turn
        if turn is None:
            work.cancel()
            return
        await turn.cancel()
        await self._or_impatient(work, CANCEL_SECONDS)
        if not work.done():
            self.errors.line(f"{self.order.program}: the agent did not end its turn; it is ended", "yellow")
            work.cancel()

    # --- the agent's process ----------------------------------------------------------------------------------------

    def _transport(self) -> SpawnTransport:
        return SpawnTransport(self.order.command, cwd=self.order.cwd, env=self.order.env, on_stderr=self._on_stderr)

    def _on_stderr(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-16384:]
        if self.order.verbose:
            self.errors.write(printable(data.decode("utf-8", "replace")), "dim")

    async def _failed(self, status: Exit, error: Exception) -> Exit:
        """Tell a failure with what the agent last wrote to standard error."""
        if self._stopped is not None:
            return self._stopped
        await self._settle()
        text = printable(str(error) if self.order.verbose else reason_of(error))
        self.errors.line(f"{self.order.program}: {text}", "red")
        tail = printable(self._stderr.decode("utf-8", "replace")).strip()
        if tail and not self.order.verbose and tail[-200:] not in text:
            self.errors.line("--- last lines of the agent's standard error ---", "dim")
            self.errors.line(tail, "dim")
        return status


def reason_of(error: Exception) -> str:
    """What went wrong, in the words for people: an error answer without its number, and what only its data tells."""
    if not isinstance(error, RpcError):
        return str(error)
    match error.data:
        case {"details": str(details)} | {"message": str(details)} | str(details):
            return error.message if details in error.message else f"{error.message}: {details}"
        case None | {} if not error.data:
            return error.message
    return error.message if error.data is UNSET else str(error)
