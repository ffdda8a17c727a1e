"""The other side of a connection, as bare lines: says exactly what a test wants, and sees exactly what is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from duologue.jsonrpc.limits import Limits
from duologue.peer import Peer
from duologue.protocol.method import Side
from duologue.protocol.version import V2
from duologue.transports.base import Closed
from duologue.transports.memory import MemoryTransport, memory_pair

#: Long enough for a busy machine; a test that waits this long has failed.
PATIENCE = 10.0

_open: list[Wire] = []


class Wire:
    """One end of a memory pair that speaks lines of JSON. Give `far` to the peer under test."""

    def __init__(self) -> None:
        near, self.far = memory_pair()
        self.near: MemoryTransport = near
        self.closed: Closed | None = None
        self._buffer = bytearray()
        self._lines: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.paused = False
        _open.append(self)

    async def open(self) -> Wire:
        await self.near.start(self)
        return self

    # The sink of the near end.
    def data_received(self, data: bytes) -> None:
        self._buffer += data
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            self._lines.put_nowait(json.loads(line))

    def connection_lost(self, reason: Closed) -> None:
        self.closed = reason

    def pause_writing(self) -> None:
        self.paused = True

    def resume_writing(self) -> None:
        self.paused = False

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        """Send messages in one write."""
        parts = [m if isinstance(m, bytes) else json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n" for m in messages]
        self.near.write(b"".join(parts))

    async def read(self) -> dict[str, Any]:
        """The next message of the peer under test."""
        return await asyncio.wait_for(self._lines.get(), PATIENCE)

    async def read_answer(self, id: Any) -> dict[str, Any]:
        """The answer to a request, past anything else."""
        while True:
            message = await self.read()
            if "method" not in message and message.get("id") == id:
                return message

    async def read_method(self, method: str) -> dict[str, Any]:
        """The next message of that method, past anything else."""
        while True:
            message = await self.read()
            if message.get("method") == method:
                return message

    async def silence(self) -> None:
        """Assert that nothing is sent for a few turns of the loop."""
        for _ in range(20):
            await asyncio.sleep(0)
        assert self._lines.empty(), f"unexpected: {self._lines.get_nowait()}"

    def pending(self) -> list[dict[str, Any]]:
        """Everything read so far."""
        found = []
        while not self._lines.empty():
            found.append(self._lines.get_nowait())
        return found


async def settle() -> None:
    """Let everything that is ready run."""
    for _ in range(50):
        await asyncio.sleep(0)


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that no event tells; fails after `PATIENCE`."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def close_all() -> None:
    """End every connection that the test left open."""
    while _open:
        await _open.pop().near.close()
    await settle()


async def on_wire(limits: Limits | None = None, side: Side = Side.CLIENT) -> tuple[Peer, Wire]:
    """A peer of version 2 and the other side of its connection."""
    wire = await Wire().open()
    peer = Peer(side, V2, limits=limits)
    await peer.start(wire.far)
    return peer, wire


def chunk(text: str, session: str = "S") -> dict[str, Any]:
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}
    return {"method": "session/update", "params": {"sessionId": session, "update": update}}


def text_of(note: Any) -> str:
    return str(note.update.content.text)
