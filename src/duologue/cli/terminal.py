"""Asking a person at the terminal, beside everything else that goes on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import sys
import threading
from typing import TextIO


class Tty:
    """A terminal to print questions on and to read answers from."""

    def __init__(self, read_fd: int, stream: TextIO, *, own: bool = False) -> None:
        self._fd = read_fd
        self.stream = stream
        self._own = own

    def __enter__(self) -> Tty:
        return self

    def __exit__(self, *error: object) -> None:
        if self._own:
            os.close(self._fd)
            self.stream.close()

    def forget_typed(self) -> None:
        """Drop what was typed before now: it was not typed for what is asked next."""
        import termios

        with contextlib.suppress(termios.error):  # gone away: then reading it fails as well
            termios.tcflush(self._fd, termios.TCIFLUSH)

    async def read_line(self) -> str | None:
        """The next line that is typed; None at the end of input. Cancelling it leaves the terminal to others."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str | None] = loop.create_future()
        stop, wake = os.pipe()
        reader = threading.Thread(target=self._read, args=(loop, answer, stop), name="terminal", daemon=True)
        reader.start()
        try:
            return await answer
        finally:
            os.close(wake)

    def _read(self, loop: asyncio.AbstractEventLoop, answer: asyncio.Future[str | None], stop: int) -> None:
        """In a thread: not every event loop can wait for a terminal."""
        try:
            ready, _, _ = select.select([self._fd, stop], [], [])
            line = None if stop in ready else os.read(self._fd, 4096).decode("utf-8", "replace")
        except (OSError, ValueError):
            line = None
        finally:
            os.close(stop)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(_settle, answer, line or None)


def open_terminal() -> Tty | None:
    """The controlling terminal, else standard input if it is one; None when nobody can be asked."""
    with contextlib.suppress(OSError):
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        return Tty(fd, os.fdopen(os.dup(fd), "w", encoding="utf-8", errors="backslashreplace"), own=True)
    if sys.stdin is not None and sys.stdin.isatty():
        return Tty(sys.stdin.fileno(), sys.stderr)
    return None


def _settle(future: asyncio.Future[str | None], value: str | None) -> None:
    if not future.done():
        future.set_result(value)
