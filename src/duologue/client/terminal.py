"""One terminal of the client: a command, the end of its output, and how it ended."""

from __future__ import annotations

import asyncio
import logging
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from duologue.local.workspace import Place
from duologue.processes.process import Process
from duologue.processes.tail import Tail, TextTail
from duologue.protocol.common.terminal import TerminalExitStatus
from duologue.protocol.v2.terminal import TerminalOutput
from duologue.protocol.v2.updates import TerminalOutputChunkEvent, TerminalUpdateEvent

if TYPE_CHECKING:
    from duologue.client.session import Session

log = logging.getLogger("duologue.client")


class Terminal:
    """A command that runs or has run. What it shows is in the session's transcript too, also after its release: as it
    comes up to `limit` bytes, then the end of it when it has ended."""

    def __init__(self, terminal_id: str, session: Session, limit: int) -> None:
        self.id = terminal_id
        self.exit_status: TerminalExitStatus | None = None
        self._session = session
        self._limit = limit
        self._tail = Tail(limit)
        self._text = TextTail(limit)
        self._shown = 0
        self._process: Process | None = None
        self._following: asyncio.Task[None] | None = None

    def start(self, argv: Sequence[str], line: str, cwd: Place, environment: Mapping[str, str]) -> None:
        """Raises OSError or ValueError when it cannot be started."""
        self._process = Process.start(argv, cwd.real, environment)
        self._session.receive(TerminalUpdateEvent(terminal_id=self.id, command=line, cwd=str(cwd.shown)))
        self._following = asyncio.get_running_loop().create_task(self._follow(self._process), name=self.id)

    def output(self) -> tuple[str, bool]:
        """The end of the output as text of at most `limit` bytes, and whether something before it was dropped."""
        return self._text.text(), self._text.truncated

    async def wait(self) -> TerminalExitStatus:
        """Wait for the end of the command and of its output."""
        assert self._following is not None
        await asyncio.wait({self._following})
        return self.exit_status or TerminalExitStatus()

    async def kill(self) -> None:
        """End what still runs of it, then wait until that is known. Harmless when it has ended."""
        assert self._process is not None
        self._keep(await self._process.stop())
        await self.wait()
        self._text.end()

    async def _follow(self, process: Process) -> None:
        try:
            async for data in process.output():
                self._keep(data)
                self._show(data)
            await process.wait()
        finally:
            self._text.end()
            code, signal = process.exit_code, process.signal
            self.exit_status = TerminalExitStatus(exit_code=code, signal=signal)
            self._show_end()

    def _keep(self, data: bytes) -> None:
        self._tail.add(data)
        self._text.add(data)

    def _show(self, data: bytes) -> None:
        if self._shown + len(data) <= self._limit:
            chunk = TerminalOutputChunkEvent(terminal_id=self.id, data=b64encode(data).decode())
            self._session.receive(chunk)
        self._shown += len(data)

    def _show_end(self) -> None:
        whole = self._shown <= self._limit
        output = UNSET if whole else TerminalOutput(data=b64encode(self._tail.kept()).decode())
        update = TerminalUpdateEvent(terminal_id=self.id, output=output, exit_status=self.exit_status)
        self._session.receive(update)
