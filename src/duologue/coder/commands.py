"""Running a shell command for the model. `Runner` is what a host's own terminal can stand in for; `Shell` is ours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from duologue.coder.environment import command_environment
from duologue.coder.errors import ToolError
from duologue.processes.process import Process

Output = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command line for the shell, where it runs, and the seconds it has."""

    line: str
    cwd: Path
    timeout: float


@dataclass(frozen=True, slots=True)
class Exit:
    """How a command ended. `lingers` says that something of it could not be stopped."""

    code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    lingers: bool = False


class Runner(Protocol):
    async def run(self, command: Command, output: Output) -> Exit:
        """Run to the end, passing output on as it comes; raises ToolError when it cannot start.

        When cancelled, or out of time, nothing of the command runs any more when this returns or raises.
        """


class Shell:
    """Runs commands with `sh -c` in a session of their own, with an environment that holds no secrets.

    `environment` replaces the default one; see `environment.command_environment`.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, *, grace: float = 2) -> None:
        self._environment = dict(command_environment() if environment is None else environment)
        self._grace = grace

    async def run(self, command: Command, output: Output) -> Exit:
        process = self._start(command)
        timed_out = True
        try:
            async with asyncio.timeout(command.timeout) as limit:
                async for data in process.output():
                    await output(data)
            timed_out = False
        except TimeoutError:
            if not limit.expired():
                raise
        finally:
            # A command that came to its end may have started a service; one that was stopped leaves nothing.
            late = await process.stop(everything=timed_out)
        if late:
            await output(late)
        return Exit(process.exit_code, process.signal, timed_out, process.alive())

    def _start(self, command: Command) -> Process:
        environment = {**self._environment, "PWD": str(command.cwd)}
        try:
            return Process.start(["/bin/sh", "-c", command.line], command.cwd, environment, grace=self._grace)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise ToolError(f"the command could not be started: {reason}") from error
