"""Events on their way from the turn to its reader: in order, none lost, and not many ahead of the reader."""

from __future__ import annotations

import asyncio
from collections import deque

from duologue.coder.events import Event


class Channel:
    """One writer, one reader. `put` lets the event in at once and then waits while the reader is behind.

    So a cancelled writer has still said what it was saying. After `open_up` nothing waits any more: a turn that ends
    must not depend on its reader.
    """

    def __init__(self, limit: int) -> None:
        self._limit: int | None = limit
        self._events: deque[Event] = deque()
        self._closed = False
        self._reader_waits = False
        self._changed = asyncio.Event()

    async def put(self, event: Event) -> None:
        self._events.append(event)
        self._changed.set()
        while self._limit is not None and len(self._events) >= self._limit:
            await self._change()

    async def get(self) -> Event | None:
        """The next event, None after the last."""
        try:
            while not self._events:
                if self._closed:
                    return None
                self._reader_waits = True
                self._changed.set()
                await self._change()
        finally:
            self._reader_waits = False
        self._changed.set()
        return self._events.popleft()

    async def heard(self) -> None:
        """Wait until the reader has dealt with all events and asks for the next."""
        while self._limit is not None and (self._events or not self._reader_waits):
            await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def open_up(self) -> None:
        self._limit = None
        self._changed.set()

    def close(self) -> None:
        self._closed = True
        self.open_up()
