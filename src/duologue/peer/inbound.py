"""What came in and is not handled yet: handlers one at a time in the order of the wire, and when to stop reading.

A handler of a notification is awaited before the next one starts. A response waits for the handlers of everything that
came before it, unless its request was made inside such a handler, which would wait for itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from duologue.jsonrpc.limits import Limits

log = logging.getLogger("duologue.peer")

#: The inbound queue whose handler is running in this context, or started what is running; if any.
INSIDE: ContextVar[Inbound | None] = ContextVar("duologue_inside_handler", default=None)


class Inbound:
    """The queue of one peer. `undelivered` counts queued notifications and what iterators hold."""

    def __init__(self, limits: Limits, loop: asyncio.AbstractEventLoop, on_delivered: Callable[[], None]) -> None:
        self._loop = loop
        self._on_delivered = on_delivered
        self._max_count = limits.undelivered
        self._max_bytes = limits.inbound_bytes
        self._queue: deque[tuple[Callable[[Any], Any], Any, bool]] = deque()
        self._pump: asyncio.Task[None] | None = None
        #: Whether handlers run or are queued.
        self.handling = False
        self.undelivered = 0
        self.paused = False
        self._held = 0.0
        self._held_count = 0

    def deliver(self, handler: Callable[[Any], Awaitable[None]], params: Any) -> None:
        """Queue a notification for its handler."""
        self.undelivered += 1
        self._queue.append((handler, params, True))
        self._start()

    def delivered(self) -> None:
        """A message was handled, or given out by an iterator."""
        self.undelivered -= 1
        if self.paused:
            self._on_delivered()

    def in_order(self, resolve: Callable[[Any], None], value: Any) -> None:
        """Call `resolve(value)` after the handlers of everything queued before; at once when nothing is."""
        if self._pump is None:
            resolve(value)
        else:
            self._queue.append((resolve, value, False))

    def account(self, size: int, before: int) -> bool:
        """Note that a read of `size` bytes was applied; False when more is held than the limit allows.

        Bytes are counted for each read, and given back in proportion to the messages delivered since; `before` is what
        was undelivered when the read came.
        """
        if before < self._held_count:
            self._held *= before / self._held_count
        self._held_count = self.undelivered
        self._held = self._held + size if self._held_count else 0.0
        return self._held <= self._max_bytes

    def is_full(self) -> bool:
        """Whether so much waits that reading should pause."""
        return self.undelivered > self._max_count

    def has_drained(self) -> bool:
        """Whether so much was delivered that reading should go on."""
        return self.undelivered <= self._max_count // 2

    async def idle(self) -> None:
        """Wait until every queued handler has run."""
        if self._pump is not None:
            await asyncio.wait({self._pump})

    def close(self) -> set[asyncio.Task[Any]]:
        """Stop the handlers; what they had not reached is resolved, not run. Returns the task that ends."""
        ending = set[asyncio.Task[Any]]()
        if self._pump is not None and INSIDE.get() is not self:
            self._pump.cancel()
            ending.add(self._pump)
        while self._queue:
            call, value, is_handler = self._queue.popleft()
            if not is_handler:
                call(value)
        return ending

    def _start(self) -> None:
        if self._pump is None:
            self.handling = True
            self._pump = self._loop.create_task(self._run(), name="duologue-handlers")

    async def _run(self) -> None:
        INSIDE.set(self)
        queue, task = self._queue, self._pump
        assert task is not None
        try:
            while queue:
                call, value, is_handler = queue.popleft()
                if not is_handler:
                    call(value)
                    continue
                try:
                    await call(value)
                except asyncio.CancelledError:
                    if task.cancelling():
                        raise
                    log.warning("a notification handler gave up: something it waited for was cancelled")
                except Exception:
                    # One failed handler must cost neither the connection nor the messages after it.
                    log.exception("a notification handler failed")
                finally:
                    self.delivered()
        finally:
            self._pump = None
            self.handling = False
