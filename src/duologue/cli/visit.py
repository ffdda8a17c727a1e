"""A client that starts an agent, does one thing with it and ends it: signals, the time limit, output, what fails."""

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

from duologue import codec
from duologue.cli.exits import Exit
from duologue.cli.failing import Failing
from duologue.cli.models import NoModel
from duologue.cli.notes import Notes
from duologue.cli.output import Output
from duologue.cli.resuming import NoSession
from duologue.cli.screen import Screen, can_erase, one_line, wants_colour
from duologue.cli.waiting import Waiting
from duologue.client import AgentFailed, Client, ClientConnection, VersionMismatch, connect
from duologue.jsonrpc.errors import JsonRpcError
from duologue.peer import ConnectionClosed, NotOffered, Trace
from duologue.processes.stops import ignore_stop_signals, stop_signals
from duologue.protocol.common.errors import ErrorCode
from duologue.transports.spawn import SpawnTransport
from duologue.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Which agent is started, where and how, and how long that may take in seconds. `program` is the command that says
    what is wrong, such as `duologue run`."""

    command: Sequence[str]
    cwd: Path
    protocol: Literal[1, 2, "auto"] = 1
    env: Mapping[str, str] | None = None
    timeout: float | None = None
    trace: Trace | None = None
    program: str = "duologue run"
    json: bool = False
    verbose: bool = False


class Visit(Client):
    """The client. A kind of visit says by `work` what is done with the agent, and by `leave` how that is broken off."""

    name = "duologue"
    title = "Duologue"
    version = __version__

    def __init__(self, start: Start) -> None:
        self.start = start
        # A stream is None when the program was started with it closed.
        errors = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        self._terminal = errors
        self.errors = Screen(errors, colour=wants_colour(errors))
        self.output = Output(sys.stdout or errors)
        self.out = Screen(self.output, colour=not start.json and wants_colour(self.output))
        self.failing = Failing(self.errors, start.program, verbose=start.verbose)
        #: Why the visit ends early, once it does.
        self.stopped: Exit | None = None
        self._stopping = asyncio.Event()
        self._impatient = asyncio.Event()
        self._ready = False

    async def work(self, connection: ClientConnection) -> Exit:
        """What is done with the agent; the exit status."""
        raise NotImplementedError

    def afterwards(self) -> None:
        """What is told once the work is done and the agent has ended, having said all that it had to say."""

    async def leave(self, work: asyncio.Task[Exit]) -> None:
        """Break the work off. When this returns it has ended, or was cancelled."""
        work.cancel()

    def may_say_waiting(self) -> bool:
        """Whether a line that says what is waited for disturbs nobody."""
        return True

    async def main(self) -> Exit:
        """Start the agent, do the work, end the agent; the exit status."""
        loop = asyncio.get_running_loop()
        self.output.open()

        def interrupted(number: int) -> None:
            loop.call_soon_threadsafe(self._stop, Exit.CANCELLED)

        with stop_signals(interrupted, interrupted), self._notes_of_ours():
            status = await self._run(loop)
        if self.stopped is Exit.CANCELLED:
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
            await asyncio.wait({work, stop}, timeout=self.start.timeout, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                if self.stopped is None and self.start.timeout is not None:
                    over = f"--timeout {self.start.timeout:g} is over; what was begun is cancelled"
                    self.errors.line(f"{self.start.program}: {over}", "yellow")
                self._stop(Exit.TIMED_OUT)
                await self.leave(work)
            status = await work
        except asyncio.CancelledError:
            status = self.stopped or Exit.CANCELLED
        finally:
            stop.cancel()
            await self._settle()
            line.cancel()
            reader.cancel()
        return self._told_all(status)

    def _show_waiting(self, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        """Begin to show on a terminal that nothing comes; who pipes or reads JSON is not disturbed."""
        if self.start.json or not self.out.is_terminal or not can_erase(self._terminal):
            return loop.create_task(asyncio.sleep(0))
        waiting = Waiting(self._terminal, self._awaited)
        self.out.before = self.errors.before = waiting.clear
        return loop.create_task(waiting.run())

    def _awaited(self) -> str | None:
        """What is waited for; None while that must not be said: in a line that is begun, below a question."""
        lines_are_whole = self.out.at_start and self.errors.at_start and self.output.settled
        if not lines_are_whole or not self.may_say_waiting():
            return None
        if self._impatient.is_set():
            return "ending the agent"
        if self.stopped is not None:
            return "waiting for the agent to end (Ctrl-C again ends it at once)"
        return "waiting for the agent" if self._ready else "starting the agent"

    def _told_all(self, status: Exit) -> Exit:
        """The status, unless the end was not told because standard output takes nothing any more."""
        if not self.output.closed.is_set():
            return status
        lost = self._lost()
        if lost is Exit.OUTPUT_FAILED:
            self.errors.line(f"{self.start.program}: standard output: {one_line(str(self.output.error))}", "red")
        return lost if status in (Exit.DONE, Exit.NOBODY_TO_ASK) else status

    async def _work(self) -> Exit:
        try:
            async with connect(
                self._transport, self, protocol=self.start.protocol, trace=self.start.trace
            ) as connection:
                self._ready = True
                self.failing.logins = connection.auth_methods
                status = await self.work(connection)
            self.afterwards()
            return status
        except (AgentFailed, VersionMismatch) as error:
            status = await self._failed(Exit.AGENT_FAILED, error)
            if isinstance(error, AgentFailed) and error.spoke_to and self.stopped is None:
                self.failing.doubt_command()
            return status
        except ConnectionClosed as error:
            return await self._failed(Exit.AGENT_FAILED, error)
        except NoSession as error:
            return await self._failed(Exit.NO_SESSION, error)
        except (NoModel, NotOffered) as error:  # what was asked for on the command line, the agent does not have
            return await self._failed(Exit.USAGE, error)
        except (JsonRpcError, codec.CodecError) as error:
            status = await self._failed(Exit.TURN_FAILED, error)
            if getattr(error, "code", None) == ErrorCode.AUTH_REQUIRED:
                self.failing.tell_logins(error)
            elif not self._ready and self.stopped is None:
                self.failing.doubt_command()
            return status

    async def _failed(self, status: Exit, error: Exception) -> Exit:
        if self.stopped is not None:
            return self.stopped
        await self._settle()
        self.failing.tell(error)
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
        if self.stopped is None:
            self.stopped = status
            self._stopping.set()
        elif status is Exit.CANCELLED:
            self._impatient.set()

    async def _settle(self) -> None:
        """Wait until what was printed is written, unless the user has had enough."""
        self.out.fresh()
        await self.or_impatient(asyncio.ensure_future(self.output.settle()))

    async def or_impatient(self, work: asyncio.Future[Any], seconds: float | None = None) -> None:
        """Wait for an end, for so many seconds at most, unless the user has had enough."""
        waiting = asyncio.ensure_future(self._impatient.wait())
        await asyncio.wait({work, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    # --- the agent's process ----------------------------------------------------------------------------------------

    def _transport(self) -> SpawnTransport:
        start = self.start
        return SpawnTransport(start.command, cwd=start.cwd, env=start.env, on_stderr=self.failing.on_stderr)
