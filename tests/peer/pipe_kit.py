"""The other side of a connection as a thread on real pipes: it writes as fast as the pipe takes it, reads when told."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import AsyncIterator
from typing import Any

from duologue.jsonrpc.limits import Limits
from duologue.peer import Peer
from duologue.protocol.method import Side
from duologue.protocol.version import V2, Version
from duologue.transports.pipes import PipeTransport
from wire import PATIENCE

#: What a pipe of the kernel holds at most, with a margin.
PIPE_CAPACITY = 128 * 1024


class Pipes:
    """Two pipes. `transport` is for the peer under test; the other ends belong to this value."""

    def __init__(self) -> None:
        self._their_read, self._our_write = os.pipe()
        self._our_read, self._their_write = os.pipe()
        self.transport = PipeTransport(self._our_read, self._our_write)
        self.written = 0
        self._threads: list[threading.Thread] = []

    def write_in_thread(self, lines: list[bytes]) -> None:
        """Write lines one after the other, waiting when the pipe is full; `written` counts the bytes taken."""

        def run() -> None:
            for line in lines:
                data = memoryview(line)
                while data:
                    try:
                        count = os.write(self._their_write, data)
                    except OSError:  # the peer under test has closed its end
                        return
                    self.written += count
                    data = data[count:]

        self._start(run)

    async def until_writer_waits(self) -> int:
        """Wait until no more is taken; the bytes taken until then."""
        before = -1
        while before != self.written:
            before = self.written
            await asyncio.sleep(0.05)
        return before

    async def read_lines(self, count: int) -> list[dict[str, Any]]:
        """Read that many messages, in a thread."""

        def run() -> list[dict[str, Any]]:
            data = bytearray()
            while data.count(b"\n") < count:
                piece = os.read(self._their_read, 1 << 20)
                if not piece:
                    break
                data += piece
            return [json.loads(line) for line in bytes(data).splitlines()]

        return await asyncio.to_thread(run)

    def close(self) -> None:
        """Close the far ends; a writer that waits gives up."""
        for fd in (self._their_read, self._their_write):
            with contextlib.suppress(OSError):
                os.close(fd)
        for thread in self._threads:
            thread.join(5)

    def _start(self, run: Any) -> None:
        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()


def line_of(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


@contextlib.asynccontextmanager
async def on_pipes(
    side: Side, limits: Limits | None = None, version: Version = V2
) -> AsyncIterator[tuple[Peer, Pipes]]:
    pipes = Pipes()
    peer = Peer(side, version, inside=V2, limits=limits)
    await peer.start(pipes.transport)
    try:
        yield peer, pipes
    finally:
        await asyncio.wait_for(peer.close(), PATIENCE)
        await asyncio.to_thread(pipes.close)
