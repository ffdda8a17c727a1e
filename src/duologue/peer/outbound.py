"""The writer of a peer: gathers what one turn of the event loop sends, and suspends senders above the high-water mark.

The first message after a read, or after a pause, goes out at once; what follows is gathered, and leaves when it reaches
`FLUSH_BYTES` or when the turn of the event loop ends. So an answer or the next question costs no turn of its own. A
sender is suspended only while the transport says that its buffer is full.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Iterator
from typing import Any

from duologue.jsonrpc.errors import LimitError
from duologue.transports.base import Transport

#: Gathered bytes that make a write; larger writes end in partial pipe writes and are slower.
FLUSH_BYTES = 16384
#: A sender that was silent for so long, in seconds, may go on to work for long: its message does not wait for others.
PAUSE_SECONDS = 0.001

_EXHAUSTED: Iterator[Any] = iter(())


class _Done:
    """An awaitable that is ready: awaiting it never yields to the loop."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, None]:
        # An iterator is all that awaiting takes, and one that is shared costs nothing.
        return _EXHAUSTED  # type: ignore[return-value]


class _Breath:
    """An awaitable that yields to the loop once, so that a sender in a tight loop lets a cancel come in."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, None]:
        yield


class _Room:
    """An awaitable that suspends until the other side reads; a sender is free not to await it."""

    __slots__ = ("_outbound",)

    def __init__(self, outbound: Outbound) -> None:
        self._outbound = outbound

    def __await__(self) -> Generator[Any, None, None]:
        return self._outbound.wait_for_room().__await__()


SENT: Awaitable[None] = _Done()
#: The same for an answer that waits for the others of its batch.
WITHHELD: Awaitable[None] = _Done()
_BREATH: Awaitable[None] = _Breath()


class Outbound:
    """Corked writing onto a transport. `suspended` counts the senders that wait for the other side to read."""

    def __init__(
        self, transport: Transport, loop: asyncio.AbstractEventLoop, max_bytes: int, on_suspend: Callable[[], None]
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._max_bytes = max_bytes
        self._on_suspend = on_suspend
        self.buffer = bytearray()
        self.suspended = 0
        #: Whether what is sent is gathered; it leaves when the turn of the loop ends.
        self.corked = False
        #: Set with each read: what is said next may be what the other side waits for.
        self.fresh = True
        self._sent_at = 0.0
        #: Whether the other side does not read, so that a sender would be suspended.
        self.blocked = False
        self._room: asyncio.Future[None] | None = None
        self._until_room = _Room(self)
        self.closed = False

    def send(self, line: bytes) -> Awaitable[None]:
        """Send one framed message; await the result to take part in back-pressure. Raises `LimitError`."""
        if self.blocked:
            self.admit(len(line))
        elif self.fresh and not self.corked:
            self.fresh = False
            self._sent_at = time.monotonic()
            self._write(line)
            return self._until_room if self.blocked else SENT
        if len(line) < FLUSH_BYTES:
            buffer = self.buffer
            buffer += line
            if self.corked and len(buffer) < FLUSH_BYTES and not self.blocked:
                return SENT  # It leaves with what was gathered before it.
        else:
            self.flush()
            self._write(line)
        return self.sent()

    def admit(self, size: int) -> None:
        """Raise `LimitError` when `size` more bytes would lie unread beyond the limit. For when it is `blocked`."""
        if self._transport.buffered() + len(self.buffer) + size > self._max_bytes:
            raise LimitError("outbound_bytes", self._max_bytes, "the other side does not read what it is sent")

    def sent(self) -> Awaitable[None]:
        """Account for a message that was appended to `buffer`; the awaitable of `send`."""
        buffer = self.buffer
        if not self.corked and (self.fresh or time.monotonic() - self._sent_at > PAUSE_SECONDS):
            self.fresh = False
            self._sent_at = time.monotonic()
            if buffer:
                self.buffer = bytearray()
                self._write(buffer)
        elif len(buffer) < FLUSH_BYTES:
            self.sent_soon()
        else:
            self.buffer = bytearray()
            self._write(buffer)
            return _BREATH if not self.blocked else self._until_room
        return SENT if not self.blocked else self._until_room

    def sent_soon(self) -> None:
        """Account for a message in `buffer` that may leave with what follows it, at the latest when the turn ends."""
        if not self.corked:
            self.corked = True
            self._loop.call_soon(self._uncork)

    def flush(self) -> None:
        """Hand everything gathered to the transport."""
        if self.buffer:
            buffer, self.buffer = self.buffer, bytearray()
            self._write(buffer)

    def pause(self) -> None:
        if not self.blocked and not self.closed:
            self.blocked = True
            self._room = self._loop.create_future()

    def resume(self) -> None:
        room, self._room = self._room, None
        self.blocked = False
        if room is not None and not room.done():
            room.set_result(None)

    def close(self) -> None:
        """Nothing can be sent any more; suspended senders go on and find the connection closed."""
        self.closed = True
        self.buffer = bytearray()
        self.resume()

    def _write(self, data: bytes | bytearray) -> None:
        if not self.closed:
            self._transport.write(data)

    def _uncork(self) -> None:
        self.corked = False
        self.flush()

    async def wait_for_room(self) -> None:
        """Return when the other side reads, at once when it does."""
        room = self._room
        if room is None:
            return
        self.suspended += 1
        self._on_suspend()
        try:
            await asyncio.shield(room)
        finally:
            self.suspended -= 1
