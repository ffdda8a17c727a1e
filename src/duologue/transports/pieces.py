"""Writing large messages piece by piece: asyncio copies what it cannot write at once, a second time the whole of it."""

from __future__ import annotations

import asyncio
from collections import deque

from duologue.transports.base import Sink

#: Data beyond this is handed to asyncio in pieces of this size, as the other side takes them.
PIECE_BYTES = 256 * 1024


class PieceWriter:
    """An asyncio write transport that is given no more than it can get rid of; the sink is paused meanwhile."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._transport: asyncio.WriteTransport | None = None
        self._waiting: deque[memoryview] = deque()
        self._waiting_bytes = 0
        self._full = False
        self._ending = False

    def attach(self, transport: asyncio.WriteTransport) -> None:
        """Begin to write."""
        self._transport = transport

    def write(self, data: bytes | bytearray) -> None:
        assert self._transport is not None
        if len(data) <= PIECE_BYTES and not self._waiting:
            self._transport.write(data)
            return
        self._waiting.append(memoryview(data))
        self._waiting_bytes += len(data)
        self._pump()
        if self._waiting and not self._full:
            self.pause_writing()

    def get_write_buffer_size(self) -> int:
        """Bytes that have not left yet."""
        below = self._transport.get_write_buffer_size() if self._transport is not None else 0
        return below + self._waiting_bytes

    def close(self) -> None:
        """Write what waits, then end the stream."""
        self._ending = True
        if not self._waiting and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """End the stream without what waits."""
        self._forget()
        if self._transport is not None:
            self._transport.abort()

    def gone(self) -> None:
        """The other side reads no more: nothing that waits can leave."""
        self._forget()
        self._full = False
        self._sink.resume_writing()

    # --- what asyncio tells -------------------------------------------------------------------------------------------

    def pause_writing(self) -> None:
        self._full = True
        self._sink.pause_writing()

    def resume_writing(self) -> None:
        self._full = False
        self._pump()
        if not self._waiting and not self._full:
            self._sink.resume_writing()

    def _pump(self) -> None:
        assert self._transport is not None
        while self._waiting and not self._full:
            data = self._waiting[0]
            piece = data[:PIECE_BYTES]
            self._waiting_bytes -= len(piece)
            if len(piece) == len(data):
                self._waiting.popleft()
            else:
                self._waiting[0] = data[PIECE_BYTES:]
            # asyncio pauses us from within when it could not write the whole piece.
            self._transport.write(piece)
        if self._ending and not self._waiting:
            # Later: asyncio calls from the midst of a write and would end the stream twice.
            asyncio.get_running_loop().call_soon(self._transport.close)

    def _forget(self) -> None:
        self._waiting.clear()
        self._waiting_bytes = 0
