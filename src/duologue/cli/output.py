"""Standard output, written beside the event loop: a reader that does not read (a pager, say) must not stop the run."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from typing import TextIO

#: Bytes that may wait to be written before the turn is read no further.
WAITING_BYTES = 256 * 1024


class Output:
    """Text for a stream, in order. Call `open` once in the event loop before the first write.

    Once it is `closed`, `error` says why.
    """

    def __init__(self, stream: TextIO) -> None:
        self._fd = stream.fileno()
        self._encoding = stream.encoding or "utf-8"
        self._tty = stream.isatty()
        self._queue: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._waiting = 0
        self.closed = asyncio.Event()
        self.error: OSError | None = None
        self._moved = asyncio.Event()

    def open(self) -> None:
        """Begin to write."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, args=(loop,), name="output", daemon=True).start()

    def isatty(self) -> bool:
        return self._tty

    @property
    def settled(self) -> bool:
        """Whether all is written."""
        return not self._waiting

    def write(self, text: str) -> None:
        """Hand over text; never blocks, never fails. What comes once the reader has gone is dropped."""
        if not self.closed.is_set():
            data = text.encode(self._encoding, "backslashreplace")
            self._waiting += len(data)
            self._queue.put(data)

    def flush(self) -> None:
        """Nothing is held back; `settle` waits until all is written."""

    async def drain(self) -> None:
        """Wait while too much is not written yet."""
        await self._until(WAITING_BYTES)

    async def settle(self) -> None:
        """Wait until everything is written, or the reader has gone."""
        await self._until(0)

    async def _until(self, most: int) -> None:
        while self._waiting > most and not self.closed.is_set():
            self._moved.clear()
            await self._moved.wait()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            data = self._queue.get()
            try:
                _write(self._fd, data)
                loop.call_soon_threadsafe(self._written, len(data))
            except OSError as error:
                loop.call_soon_threadsafe(self._gone, error)
                return
            except RuntimeError:  # the loop is closed: nobody waits
                return

    def _written(self, size: int) -> None:
        self._waiting -= size
        self._moved.set()

    def _gone(self, error: OSError) -> None:
        self.error = error
        self.closed.set()
        self._moved.set()


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
