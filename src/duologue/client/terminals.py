"""The client's terminals, served to an agent of version 1: commands that the client allows and runs itself."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET

from duologue.client.permitted import permitted
from duologue.client.terminal import Terminal
from duologue.jsonrpc.errors import INTERNAL_ERROR, RpcError
from duologue.local.errors import PathRefused
from duologue.local.rules import Run
from duologue.local.workspace import Place
from duologue.peer.errors import wrong_params
from duologue.processes.environment import UNATTENDED, child_environment
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.v1.terminal import (
    CreateTerminalRequest,
    CreateTerminalResponse,
    KillTerminalRequest,
    KillTerminalResponse,
    ReleaseTerminalRequest,
    ReleaseTerminalResponse,
    TerminalOutputRequest,
    TerminalOutputResponse,
    WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
)

if TYPE_CHECKING:
    from duologue.client.session import Session

#: Bytes of output that are kept for one terminal, whatever the agent asks for.
OUTPUT_BYTES = 1024 * 1024

#: Terminals of one session that are not released.
TERMINALS = 64

#: Variables that tell a command how to print, and never what to run. Any other that an agent adds (a search path, a
#: library to load, a program to call) may make another command of the one that was allowed.
HARMLESS_VARIABLES = frozenset(
    (
        *("CI", "CLAUDECODE", "TERM", "COLORTERM", "COLUMNS", "LINES"),
        *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PYTHONUNBUFFERED"),
    )
)


class LocalTerminals:
    """Answers `terminal/*` with real processes; set it as `Client.terminals`.

    Each command passes the client's policy (see `Client.policy` and `Client.confirm`) and runs in a folder of the
    session. It sees the environment of `duologue.processes.environment.child_environment` with the variables `names`
    of this process, and what the agent adds: variables that may change what runs stand before the command that is asked
    about, and no rule that allows a command covers them. `output_bytes` and `most` bound what is kept of a command and
    how many there are in one session.
    """

    def __init__(self, *, names: Iterable[str] = (), output_bytes: int = OUTPUT_BYTES, most: int = TERMINALS) -> None:
        self.names = frozenset(names)
        self.output_bytes = output_bytes
        self.most = most
        self._made = 0

    async def create(self, session: Session, request: CreateTerminalRequest) -> CreateTerminalResponse:
        """Start a command once it is allowed, and return at once. Raises `RpcError`."""
        cwd = _folder(session, request.cwd or str(session.cwd))
        argv, line = _command(request, cwd)
        if not await permitted(session, Run(_with_variables(request, line), cwd.real)):
            raise RpcError(INTERNAL_ERROR, "running this command was not allowed", {"command": line})
        # A link may lead elsewhere now, where nobody has allowed to run it.
        if _folder(session, str(cwd.shown)).real != cwd.real:
            raise wrong_params(f"{cwd.shown}: leads elsewhere than when it was asked about", "cwd")
        if len(session.terminals) >= self.most:
            raise RpcError(INTERNAL_ERROR, f"{self.most} terminals are open in this session; release one first")
        if session.connection.peer.closed_reason is not None:
            raise RpcError(INTERNAL_ERROR, "the connection is closed")
        self._made += 1
        terminal = Terminal(f"terminal-{self._made}", session, self._limit(request))
        try:
            terminal.start(argv, line, cwd, self._environment(request))
        except (OSError, ValueError) as error:
            problem = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise wrong_params(f"{request.command}: cannot be started ({problem})", "command") from None
        session.terminals[terminal.id] = terminal
        return CreateTerminalResponse(terminal_id=terminal.id)

    async def output(self, session: Session, request: TerminalOutputRequest) -> TerminalOutputResponse:
        """The output so far. Raises `RpcError`."""
        terminal = _terminal(session, request.terminal_id)
        output, truncated = terminal.output()
        return TerminalOutputResponse(output=output, truncated=truncated, exit_status=terminal.exit_status or UNSET)

    async def wait_for_exit(self, session: Session, request: WaitForTerminalExitRequest) -> WaitForTerminalExitResponse:
        """How the command ended, once it has. Raises `RpcError`."""
        status = await _terminal(session, request.terminal_id).wait()
        return WaitForTerminalExitResponse(exit_code=status.exit_code, signal=status.signal)

    async def kill(self, session: Session, request: KillTerminalRequest) -> KillTerminalResponse:
        """End the command; its output stays. Raises `RpcError`."""
        await _terminal(session, request.terminal_id).kill()
        return KillTerminalResponse()

    async def release(self, session: Session, request: ReleaseTerminalRequest) -> ReleaseTerminalResponse:
        """End the command and forget the terminal. Raises `RpcError`."""
        terminal = _terminal(session, request.terminal_id)
        del session.terminals[request.terminal_id]
        await terminal.kill()
        return ReleaseTerminalResponse()

    def _limit(self, request: CreateTerminalRequest) -> int:
        asked = request.output_byte_limit
        return min(asked, self.output_bytes) if isinstance(asked, int) else self.output_bytes

    def _environment(self, request: CreateTerminalRequest) -> dict[str, str]:
        added = {variable.name: variable.value for variable in request.env or ()}
        return child_environment(names=self.names, values={**UNATTENDED, **added})


def _terminal(session: Session, terminal_id: str) -> Terminal:
    found = session.terminals.get(terminal_id)
    if found is None:
        message = "there is no such terminal, or it was released"
        raise RpcError(ErrorCode.RESOURCE_NOT_FOUND, message, {"terminalId": terminal_id})
    return found


def _folder(session: Session, path: str) -> Place:
    if not Path(path).is_absolute():
        raise wrong_params(f"{path}: the working directory must be absolute", "cwd")
    try:
        return session.workspace.folder(path)
    except (PathRefused, ValueError) as error:
        raise wrong_params(str(error), "cwd") from None


def _command(request: CreateTerminalRequest, cwd: Place) -> tuple[list[str], str]:
    """What to start, and the line that says so to a person. Agents also give a whole line for a shell as `command`:
    that is one without arguments that names no program as it stands."""
    command, args = request.command, list(request.args or ())
    if args or not any(char.isspace() for char in command):
        return [command, *args], shlex.join([command, *args])
    program = cwd.real / command
    if shutil.which(command) or (program.is_file() and os.access(program, os.X_OK)):
        return [command], shlex.join([command])
    return [_shell(), "-c", command], command


def _with_variables(request: CreateTerminalRequest, line: str) -> str:
    """The line behind the variables that may change what it does."""
    variables = [
        f"{shlex.quote(variable.name)}={shlex.quote(variable.value)}"
        for variable in request.env or ()
        if variable.name not in HARMLESS_VARIABLES and UNATTENDED.get(variable.name) != variable.value
    ]
    return " ".join([*variables, line])


def _shell() -> str:
    return shutil.which("sh") or "/bin/sh"
