"""A transport that misbehaves on purpose, under a peer that does not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from duologue.jsonrpc.framing import Framer
from duologue.testing.faults import Fault
from duologue.transports.base import Closed, Sink, Transport

#: A line that is longer is passed on unchanged, in bytes.
LOOKED_AT_BYTES = 1 << 30


class Misbehaving:
    """A `Transport` around another one: what a sound peer writes leaves it as a fault has it.

    ``Misbehaving(transport, fault("broken_json"))`` is given to the peer that is to misbehave.
    """

    def __init__(self, transport: Transport, fault: Fault) -> None:
        if not isinstance(fault, Fault):
            raise TypeError(f'give a fault, such as duologue.testing.fault("noise"), not {fault!r:.60}')
        self._transport = transport
        self._fault = fault
        self._sink: Sink | None = None
        self._out = Framer(LOOKED_AT_BYTES)
        self._in = Framer(LOOKED_AT_BYTES)
        self._ending: asyncio.Task[None] | None = None

    async def start(self, sink: Sink) -> None:
        self._sink = sink
        if self._fault.deaf:
            self._transport.pause_reading()
        await self._transport.start(self)

    def write(self, data: bytes | bytearray) -> None:
        _, lines = self._out.feed(bytes(data))
        for line in lines:
            for piece in self._fault.sent(line, _message(line)):
                if self._ending is not None:
                    return
                if piece is None:
                    self._ending = asyncio.get_running_loop().create_task(self._transport.close())
                else:
                    self._transport.write(piece)

    def buffered(self) -> int:
        return self._transport.buffered()

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        if not self._fault.deaf:
            self._transport.resume_reading()

    async def close(self) -> None:
        await self._transport.close()

    # --- the sink of the inner transport ------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        _, lines = self._in.feed(data)
        for line in lines:
            self._fault.received(_message(line))
        self._above.data_received(data)

    def connection_lost(self, reason: Closed) -> None:
        self._above.connection_lost(reason)

    def pause_writing(self) -> None:
        self._above.pause_writing()

    def resume_writing(self) -> None:
        self._above.resume_writing()

    @property
    def _above(self) -> Sink:
        assert self._sink is not None
        return self._sink


def _message(line: bytes) -> Any:
    """The JSON of a line; None when it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
