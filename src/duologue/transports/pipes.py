"""A transport over two file descriptors: pipes, sockets, terminals, and (by a thread) regular files."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from typing import Any, cast

from duologue.transports.base import Closed, Sink, TransportError

#: Larger reads make the allocator map and unmap memory on every wake-up.
READ_BYTES = 65536
#: How long `close` waits for written bytes to leave, in seconds.
FLUSH_SECONDS = 2.0


class PipeTransport:
    """Reads one descriptor, writes another, owns both."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._sink: Sink | None = None
        self._reader: asyncio.ReadTransport | _ThreadReader | None = None
        self._writer: asyncio.WriteTransport | _BlockingWriter | None = None
        self._lost = False
        self._written_out = asyncio.Event()

    async def start(self, sink: Sink) -> None:
        self._sink = sink
        self._writer = await self._open_writer(sink)
        self._reader = await self._open_reader(sink)

    async def _open_reader(self, sink: Sink) -> asyncio.ReadTransport | _ThreadReader:
        loop = asyncio.get_running_loop()
        try:
            pipe = os.fdopen(self._read_fd, "rb", 0)
        except OSError as error:
            raise TransportError(f"the stream to read from is not open: {error}") from error
        try:
            transport, _ = await loop.connect_read_pipe(lambda: _Reader(self, sink), pipe)
        except (ValueError, PermissionError, NotImplementedError):
            # A regular file or the null device: the event loop cannot wait for it, so a thread reads it.
            return _ThreadReader(self, sink, self._read_fd, loop)
        cast("Any", transport).max_size = READ_BYTES
        return transport

    async def _open_writer(self, sink: Sink) -> asyncio.WriteTransport | _BlockingWriter:
        loop = asyncio.get_running_loop()
        try:
            pipe = os.fdopen(self._write_fd, "wb", 0)
        except OSError as error:
            raise TransportError(f"the stream to write to is not open: {error}") from error
        try:
            transport, _ = await loop.connect_write_pipe(lambda: _Writer(self, sink), pipe)
        except (ValueError, PermissionError, NotImplementedError):
            return _BlockingWriter(self._write_fd)
        return transport

    def write(self, data: bytes | bytearray) -> None:
        if self._writer is not None:
            self._writer.write(data)

    def buffered(self) -> int:
        return self._writer.get_write_buffer_size() if self._writer is not None else 0

    def pause_reading(self) -> None:
        if self._reader is not None and not self._lost:
            self._reader.pause_reading()

    def resume_reading(self) -> None:
        if self._reader is not None and not self._lost:
            self._reader.resume_reading()

    def lost(self, detail: str) -> None:
        """One half ended: tell the sink once."""
        if self._lost:
            return
        self._lost = True
        assert self._sink is not None
        self._sink.connection_lost(Closed(detail))

    def end_writing(self) -> None:
        """Send what is buffered, then end-of-file to the other side; reading goes on."""
        if self._writer is not None:
            self._writer.close()

    def written_out(self) -> None:
        self._written_out.set()

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            if self._writer.get_write_buffer_size():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._written_out.wait(), FLUSH_SECONDS)
            if self._writer.get_write_buffer_size():
                self._writer.abort()
        if self._reader is not None:
            self._reader.close()
        self.lost("the connection was closed by this side")


class _Reader(asyncio.Protocol):
    def __init__(self, owner: PipeTransport, sink: Sink) -> None:
        self._owner = owner
        # Bound once: this is called for every read.
        self.data_received = sink.data_received  # type: ignore[method-assign]

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.lost(f"reading failed: {exc}" if exc else "the other side closed the stream")


class _Writer(asyncio.BaseProtocol):
    def __init__(self, owner: PipeTransport, sink: Sink) -> None:
        self._owner = owner
        self._sink = sink

    def pause_writing(self) -> None:
        self._sink.pause_writing()

    def resume_writing(self) -> None:
        self._sink.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        # The other side may have stopped reading and still be talking: only the reader's end ends the connection.
        self._owner.written_out()
        self._sink.resume_writing()


class _ThreadReader:
    """Reads a descriptor that the event loop cannot watch."""

    def __init__(self, owner: PipeTransport, sink: Sink, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self._owner, self._sink, self._fd, self._loop = owner, sink, fd, loop
        self._go = threading.Event()
        self._go.set()
        self._closed = False
        threading.Thread(target=self._run, name="duologue-stdin", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._go.wait()
            if self._closed:
                return
            try:
                data = os.read(self._fd, READ_BYTES)
            except OSError:
                data = b""
            taken = threading.Event()
            try:
                self._loop.call_soon_threadsafe(self._hand_over, data, taken)
            except RuntimeError:  # the loop is closed
                return
            if not data:
                return
            taken.wait()

    def _hand_over(self, data: bytes, taken: threading.Event) -> None:
        if data and not self._closed:
            self._sink.data_received(data)
        elif not data:
            self._owner.lost("the other side closed the stream")
        taken.set()

    def pause_reading(self) -> None:
        self._go.clear()

    def resume_reading(self) -> None:
        self._go.set()

    def close(self) -> None:
        self._closed = True
        self._go.set()


class _BlockingWriter:
    """Writes a regular file, which never makes its writer wait for a reader."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._closed = False

    def write(self, data: bytes | bytearray) -> None:
        view = memoryview(data)
        while view and not self._closed:
            view = view[os.write(self._fd, view) :]

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            os.close(self._fd)

    abort = close


def stdio_transport() -> PipeTransport:
    """This process's standard input and output, claimed for the protocol (see `duologue.transports.claim`)."""
    from duologue.transports.claim import claim_stdio

    return PipeTransport(*claim_stdio())
