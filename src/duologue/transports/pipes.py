"""A transport over two file descriptors: pipes, sockets, terminals, and (by a thread) regular files."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import threading
from typing import Any, cast

from duologue.transports.base import Closed, Sink, TransportError
from duologue.transports.pieces import PieceWriter

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
        self._writer: PieceWriter | _BlockingWriter | None = None
        self._lost = False
        self._written_out = asyncio.Event()

    async def start(self, sink: Sink) -> None:
        self._sink = sink
        self._writer = await self._open_writer(sink)
        self._reader = await self._open_reader(sink)

    async def _open_reader(self, sink: Sink) -> asyncio.ReadTransport | _ThreadReader:
        loop = asyncio.get_running_loop()
        if not _can_wait(_mode(self._read_fd, "read from")):
            return _ThreadReader(self, sink, self._read_fd, loop)
        pipe = os.fdopen(self._read_fd, "rb", 0)
        transport, _ = await loop.connect_read_pipe(lambda: _Reader(self, sink), pipe)
        cast("Any", transport).max_size = READ_BYTES
        return transport

    async def _open_writer(self, sink: Sink) -> PieceWriter | _BlockingWriter:
        loop = asyncio.get_running_loop()
        mode = _mode(self._write_fd, "write to")
        if not _can_wait(mode):
            return _BlockingWriter(self, self._write_fd, loop)
        pipe = os.fdopen(self._write_fd, "wb", 0)
        writer = PieceWriter(sink)
        transport, _ = await loop.connect_write_pipe(lambda: _Writer(self, writer), pipe)
        if stat.S_ISSOCK(mode):
            # asyncio takes what can be read there for the end of the pipe; it may be the other direction of a socket.
            loop.remove_reader(self._write_fd)
        writer.attach(transport)
        return writer

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
        """One half ended: tell the sink once, and read no more."""
        if self._lost:
            return
        self._lost = True
        if self._reader is not None:
            self._reader.close()
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


def _mode(fd: int, purpose: str) -> int:
    try:
        return os.fstat(fd).st_mode
    except OSError as error:
        raise TransportError(f"the stream to {purpose} is not open: {error}") from error


def _can_wait(mode: int) -> bool:
    """Whether the event loop can wait for such a stream, and may.

    It cannot wait for files and the null device. A terminal would have to be made non-blocking for every program that
    uses it, this one's standard error and the shell included.
    """
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class _Reader(asyncio.Protocol):
    def __init__(self, owner: PipeTransport, sink: Sink) -> None:
        self._owner = owner
        # Bound once: this is called for every read. (mypy wants no method replaced; asyncio looks it up each time.)
        self.data_received = sink.data_received  # type: ignore[method-assign]

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.lost(f"reading failed: {exc}" if exc else "the other side closed the stream")


class _Writer(asyncio.BaseProtocol):
    def __init__(self, owner: PipeTransport, writer: PieceWriter) -> None:
        self._owner = owner
        self._writer = writer

    def pause_writing(self) -> None:
        self._writer.pause_writing()

    def resume_writing(self) -> None:
        self._writer.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        # The other side may have stopped reading and still be talking: only the reader's end ends the connection.
        self._owner.written_out()
        self._writer.gone()


class _ThreadReader:
    """Reads a descriptor that the event loop cannot watch. The thread owns it: it may sit in a read at any time."""

    def __init__(self, owner: PipeTransport, sink: Sink, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self._owner, self._sink, self._fd, self._loop = owner, sink, fd, loop
        self._go = threading.Event()
        self._go.set()
        self._closed = False
        threading.Thread(target=self._run, name="duologue-stdin", daemon=True).start()

    def _run(self) -> None:
        try:
            while self._pass_on(self._read()):
                self._go.wait()
                if self._closed:
                    return
        finally:
            os.close(self._fd)

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, READ_BYTES)
        except OSError:
            return b""

    def _pass_on(self, data: bytes) -> bool:
        """Hand a read over and wait until it was taken; False when there is nothing more to do."""
        if self._closed:
            return False
        taken = threading.Event()
        try:
            self._loop.call_soon_threadsafe(self._hand_over, data, taken)
        except RuntimeError:  # the loop is closed
            return False
        taken.wait()
        return bool(data)

    def _hand_over(self, data: bytes, taken: threading.Event) -> None:
        try:
            if not data:
                self._owner.lost("the other side closed the stream")
            elif not self._closed:
                self._sink.data_received(data)
        finally:
            taken.set()

    def pause_reading(self) -> None:
        self._go.clear()

    def resume_reading(self) -> None:
        self._go.set()

    def close(self) -> None:
        self._closed = True
        self._go.set()


class _BlockingWriter:
    """Writes a file or a terminal, which seldom make their writer wait."""

    def __init__(self, owner: PipeTransport, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self._owner, self._fd, self._loop = owner, fd, loop
        self._closed = False

    def write(self, data: bytes | bytearray) -> None:
        view = memoryview(data)
        try:
            while view and not self._closed:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            # Later: whoever writes does not expect to be told of the end meanwhile.
            self._loop.call_soon(self._owner.lost, f"writing failed: {error}")
            self.close()

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
