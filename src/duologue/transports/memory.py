"""Two transports joined in memory: what one writes, the other reads, with the back-pressure of a pipe."""

from __future__ import annotations

import asyncio
from collections import deque

from duologue.transports.base import Closed, Sink

#: Bytes that may lie between the two ends before the writer is told to pause.
PIPE_BYTES = 65536


class MemoryTransport:
    """One end of an in-memory pair; make both with `memory_pair`."""

    def __init__(self) -> None:
        self._sink: Sink | None = None
        self._other: MemoryTransport | None = None
        self._inbox: deque[bytes] = deque()
        self._held = 0
        self._reading = True
        self._scheduled = False
        self._writer_paused = False
        self._ended = False
        self._lost = False

    async def start(self, sink: Sink) -> None:
        self._sink = sink
        self._schedule()

    @property
    def started(self) -> bool:
        """Whether somebody reads here."""
        return self._sink is not None

    def write(self, data: bytes | bytearray) -> None:
        other = self._other
        assert other is not None
        if other._lost or self._ended:
            return
        other._inbox.append(bytes(data))
        other._held += len(data)
        if other._held > PIPE_BYTES and not self._writer_paused and self._sink is not None:
            self._writer_paused = True
            self._sink.pause_writing()
        other._schedule()

    def buffered(self) -> int:
        assert self._other is not None
        return self._other._held

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        self._reading = True
        self._schedule()

    async def close(self) -> None:
        self._ended = True
        self._lose("the connection was closed by this side")
        if self._other is not None:
            self._other._schedule()

    def _schedule(self) -> None:
        if not self._scheduled and self._sink is not None:
            # Raises in another thread, before anything is noted that nobody would do.
            asyncio.get_running_loop().call_soon(self._pump)
            self._scheduled = True

    def _pump(self) -> None:
        self._scheduled = False
        assert self._sink is not None
        while self._inbox and self._reading and not self._lost:
            data = self._inbox.popleft()
            self._held -= len(data)
            self._sink.data_received(data)
        other = self._other
        assert other is not None
        if other._writer_paused and self._held <= PIPE_BYTES // 4:
            other._writer_paused = False
            if other._sink is not None:
                other._sink.resume_writing()
        if other._ended and not self._inbox:
            self._lose("the other side closed the stream")

    def _lose(self, detail: str) -> None:
        if self._lost:
            return
        self._lost = True
        self._inbox.clear()
        self._held = 0
        if self._sink is not None:
            self._sink.connection_lost(Closed(detail))


def memory_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Two joined ends. Closing one ends the other after it has read what was sent."""
    left, right = MemoryTransport(), MemoryTransport()
    left._other, right._other = right, left
    return left, right
