"""A command that the client runs for the agent, in a terminal of the client (`terminal/*`, version 1)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec import UNSET

from duologue.errors import DuologueError
from duologue.local.arguments import as_path, several
from duologue.local.entering import Entered
from duologue.peer.errors import NotOffered
from duologue.protocol.common.terminal import EnvVariable, TerminalExitStatus
from duologue.protocol.common.tools import ToolTerminal
from duologue.protocol.v1 import terminal as v1
from duologue.protocol.v1.table import (
    TERMINAL_CREATE,
    TERMINAL_KILL,
    TERMINAL_OUTPUT,
    TERMINAL_RELEASE,
    TERMINAL_WAIT_FOR_EXIT,
)

if TYPE_CHECKING:
    from duologue.agent.asker import Asker

log = logging.getLogger("duologue.agent")


class ClientTerminal(Entered):
    """`Asker.client_terminal` makes it. To show it, give `content` to a tool call before it is left."""

    _entering = "async with turn.client_terminal(...) as terminal"

    def __init__(
        self,
        voice: Asker,
        command: str,
        args: Sequence[str],
        *,
        env: Mapping[str, str] | None,
        cwd: Path | str | None,
        output_byte_limit: int | None,
    ) -> None:
        self._voice = voice
        self._session = voice.session
        self._peer = voice.session.peer
        self._id: str | None = None
        self._asked = v1.CreateTerminalRequest(
            session_id=self._session.id,
            command=command,
            args=several(args, "args") or UNSET,
            env=[EnvVariable(name=name, value=value) for name, value in (env or {}).items()] or UNSET,
            cwd=str(self._session.cwd / as_path("" if cwd is None else cwd, "cwd")),
            output_byte_limit=UNSET if output_byte_limit is None else output_byte_limit,
        )

    @property
    def id(self) -> str:
        """The client's id of the terminal. Raises `RuntimeError` before it is entered."""
        if self._id is None:
            raise RuntimeError(f"the terminal is not started: {self._entering}")
        return self._id

    @property
    def content(self) -> ToolTerminal:
        """The terminal as content of a tool call."""
        return ToolTerminal(terminal_id=self.id)

    async def __aenter__(self) -> ClientTerminal:
        """Start the command. Raises `NotOffered`, `RpcError`."""
        if not self._session.connection.offers(TERMINAL_CREATE):
            raise NotOffered("the client does not offer to run commands (terminal/create)")
        creating = asyncio.ensure_future(self._voice.request(TERMINAL_CREATE, self._asked))
        try:
            self._id = (await asyncio.shield(creating)).terminal_id
        except asyncio.CancelledError:
            # The client may have started it already: it is freed as soon as its id is known.
            self._peer.track(self._release_late(creating))
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        released: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._peer.track(self._release(self.id, released))
        await asyncio.shield(released)

    async def output(self) -> v1.TerminalOutputResponse:
        """The output so far, whether its beginning was cut off, and how the command ended if it did."""
        request = v1.TerminalOutputRequest(session_id=self._session.id, terminal_id=self.id)
        return await self._voice.request(TERMINAL_OUTPUT, request)

    async def wait(self, seconds: float | None = None) -> TerminalExitStatus:
        """Wait until the command has ended, and say how. After `seconds` it is killed; the output stays."""
        waiting = asyncio.ensure_future(self._wait())
        try:
            done, _ = await asyncio.wait({waiting}, timeout=seconds)
            if not done:
                await self.kill()
            return await waiting
        finally:
            waiting.cancel()

    async def _wait(self) -> TerminalExitStatus:
        request = v1.WaitForTerminalExitRequest(session_id=self._session.id, terminal_id=self.id)
        ended = await self._voice.request(TERMINAL_WAIT_FOR_EXIT, request)
        return TerminalExitStatus(exit_code=ended.exit_code, signal=ended.signal)

    async def kill(self) -> None:
        """End the command; the terminal and its output stay."""
        request = v1.KillTerminalRequest(session_id=self._session.id, terminal_id=self.id)
        await self._voice.request(TERMINAL_KILL, request)

    async def _release(self, terminal_id: str, released: asyncio.Future[None]) -> None:
        request = v1.ReleaseTerminalRequest(session_id=self._session.id, terminal_id=terminal_id)
        try:
            # Not through the voice: a turn that is over has to clean up all the same.
            await self._peer.request(TERMINAL_RELEASE, request)
        except DuologueError as error:
            log.warning("a terminal could not be freed: %s", error)
        finally:
            if not released.done():
                released.set_result(None)

    async def _release_late(self, creating: asyncio.Future[v1.CreateTerminalResponse]) -> None:
        with contextlib.suppress(DuologueError):
            made = await creating
            await self._release(made.terminal_id, asyncio.get_running_loop().create_future())
