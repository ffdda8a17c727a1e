"""A program whose standard output and error are read as one stream, as it comes; its standard input is empty."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import suppress

from duologue.processes.child import Child
from duologue.processes.tail import Tail

CHUNK = 32 * 1024

# Time for what a finished program left in the background to write a last line and close the pipe.
QUIET = 0.3

# More than any pipe holds: what a finished program wrote is read whole, what others go on writing is not.
PIPE_MOST = 1024 * 1024

# Bytes kept of what is still written while a process is being stopped.
LATE = 64 * 1024


class Process(Child):
    """A running program; read its `output`, and `stop` it in the end.

    It is started by `Process.start(argv, cwd, environment)`. It waits when its output is not read.
    """

    def __init__(self, popen: subprocess.Popen[bytes], mark: str, grace: float) -> None:
        super().__init__(popen, mark, grace)
        self._loop = asyncio.get_running_loop()
        self._fd: int | None = self.pipe(1)
        os.set_blocking(self._fd, False)
        self._exited_at: float | None = None
        self._wake = asyncio.Event()
        self._late = Tail(LATE)

    def _on_exit(self, code: int) -> None:
        self._exited_at = self._loop.time()
        super()._on_exit(code)
        self._wake.set()

    async def output(self) -> AsyncIterator[bytes]:
        """Output as it is written, until the pipe closes or the program has ended; then waits for the end.

        What the program wrote itself always comes; what it left in the background has a moment to say more.
        """
        left = PIPE_MOST
        while (data := self._read()) != b"":
            if data is None:
                if not await self._readable():
                    break
                continue
            yield data
            left -= len(data) if self.exited.done() else 0
            if left < 0:
                break
            # A program that writes without end must not keep others from running.
            await asyncio.sleep(0)
        await self.wait()

    def _read(self) -> bytes | None:
        """What was written: None when there is nothing now, empty at the end."""
        return self._taken_late() or self._read_pipe()

    def _read_pipe(self) -> bytes | None:
        if self._fd is None:
            return b""
        with suppress(BlockingIOError):
            return os.read(self._fd, CHUNK)
        return None

    async def _readable(self) -> bool:
        """Wait until reading may give something, or the program ends; false when both are behind us."""
        left = None if self._exited_at is None else self._exited_at + QUIET - self._loop.time()
        if self._fd is None or (left is not None and left <= 0):
            return False
        self._wake.clear()
        self._loop.add_reader(self._fd, self._wake.set)
        try:
            async with asyncio.timeout(left):
                await self._wake.wait()
        except TimeoutError:
            return False
        finally:
            # Once it is closed, its number may be another's.
            if self._fd is not None:
                self._loop.remove_reader(self._fd)
        return True

    async def stop(self, *, everything: bool = False) -> bytes:
        """End it as `end` does, and close the pipe. Returns what was written meanwhile and not read (its end)."""
        try:
            await self.end(everything=everything)
            self._meanwhile()
        finally:
            self._close()
        return self._taken_late()

    def _taken_late(self) -> bytes:
        late, self._late = self._late, Tail(LATE)
        return late.kept()

    def _close(self) -> None:
        if self._fd is not None:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None
            self._wake.set()

    def _meanwhile(self) -> None:
        """Read what is there, so that a process that says goodbye does not block on a full pipe."""
        for _ in range(PIPE_MOST // CHUNK):
            data = self._read_pipe()
            if not data:
                return
            self._late.add(data)
