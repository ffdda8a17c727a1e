"""`duologue.testing.Wire` for this suite: no connection outlives its test, and a bare peer at the other end."""

from __future__ import annotations

from typing import Any, Self

from duologue.jsonrpc.limits import Limits
from duologue.peer import Peer
from duologue.protocol.method import Side
from duologue.protocol.version import V2
from duologue.testing import Wire as PublicWire
from duologue.testing import settle, until, wire

__all__ = ["PATIENCE", "Wire", "chunk", "close_all", "on_wire", "settle", "text_of", "until"]

#: How long what must come may take, in seconds. Nothing waits so long where it comes, and a machine that is busy with
#: other things may stall a test for longer than a person wants to wait for a failure. It is less than the minute that
#: programs of the tests hang for, lest their own end be taken for what was waited for.
PATIENCE = wire.PATIENCE = 45.0

_open: list[Wire] = []


class Wire(PublicWire):
    """Is closed by `close_all`, which the conftests call after each test."""

    async def open(self) -> Self:
        _open.append(self)
        return await super().open()


async def close_all() -> None:
    """End every connection that the test left open."""
    while _open:
        await _open.pop().close()
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
