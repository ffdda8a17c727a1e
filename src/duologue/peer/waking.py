"""How callers go on whose answers were read: at the end of the read, not one turn of the event loop later.

asyncio lets a task go on through `call_soon`, whichever way its future was settled. For small messages that turn costs
a tenth of a round trip, so here the task goes on directly, by the callback that it left at its future. It does so when
all of the read has been applied, so that a cancel which came with the answer has taken effect, and only where no other
task is running; otherwise, and where the future shows no callback, it goes on as asyncio has it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any


class Waking:
    """The callers of one peer that are to go on. While `reading`, they wait for the end of the read (`go_on`)."""

    __slots__ = ("_loop", "_queue", "reading")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: deque[tuple[Context, Callable[[Any], object], asyncio.Future[Any]]] = deque()
        self.reading = False

    def succeed(self, future: asyncio.Future[Any], result: Any) -> None:
        """Give a result to a future that is not done, and let the one task that awaits it go on."""
        if self.reading:
            # None, or more than one, when nobody awaits it yet or somebody looks on.
            callbacks = future._callbacks
            if callbacks and len(callbacks) == 1:
                callback, context = callbacks[0]
                future.remove_done_callback(callback)
                future.set_result(result)
                self._queue.append((context, callback, future))
                return
        future.set_result(result)

    def go_on(self) -> None:
        """The read is applied: let everyone go on who waited for something in it."""
        self.reading = False
        if not self._queue:
            return
        if asyncio.current_task(self._loop) is not None:
            self._loop.call_soon(self.go_on)
            return
        try:
            while self._queue:
                context, callback, future = self._queue.popleft()
                context.run(callback, future)
        finally:
            # What ends the program is raised here; the others must not be forgotten for that.
            if self._queue:
                self._loop.call_soon(self.go_on)
