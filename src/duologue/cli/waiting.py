"""One line on a terminal that says how long nothing has come; it is gone before anything else is printed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Protocol


class Terminal(Protocol):
    """What the line is shown on."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...

    def fileno(self) -> int: ...


class Waiting:
    """The line. `what` gives its words, or None while there must be no line; printing calls `clear` first."""

    def __init__(self, terminal: Terminal, what: Callable[[], str | None]) -> None:
        self._terminal = terminal
        self._what = what
        self._since = time.monotonic()
        self._shown = False

    def clear(self) -> None:
        """Something is printed now: take the line away, and count anew."""
        self._since = time.monotonic()
        if self._shown:
            self._shown = False
            self._put("\r\x1b[K")

    async def run(self) -> None:
        """Show the line from the first second on, and count in it, until cancelled."""
        try:
            while True:
                passed = time.monotonic() - self._since
                await asyncio.sleep(int(passed) + 1 - passed)
                self._tick()
        finally:
            self.clear()

    def _tick(self) -> None:
        seconds = int(time.monotonic() - self._since)
        if not seconds:
            return
        words = self._what()
        if words is None:
            self.clear()
            return
        # A line that is folded could not be taken away again.
        line = f"{words} … {seconds} s"[: self._columns() - 1]
        self._shown = True
        self._put(f"\r\x1b[K{line}")

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._terminal.fileno()).columns or 80
        except OSError:
            return 80

    def _put(self, text: str) -> None:
        try:
            self._terminal.write(text)
            self._terminal.flush()
        except (OSError, ValueError):  # it has gone away
            self._shown = False
