"""The engine, the writer and the trace of one connection: messages of the wire's own version, in and out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import UNSET

from duologue import codec
from duologue.jsonrpc.engine import Engine
from duologue.jsonrpc.limits import Limits
from duologue.jsonrpc.messages import Event
from duologue.peer.outbound import WITHHELD, Outbound
from duologue.protocol.common.table import CANCEL_REQUEST
from duologue.protocol.method import Notification
from duologue.transports.base import Transport

log = logging.getLogger("duologue.peer")

#: Called with every message: its direction and its bytes, newline not included.
Trace = Callable[[Literal["in", "out"], bytes], None]


class Link:
    """Turns values into lines and lines into events; knows no handler. `outbound` is there once it is open."""

    outbound: Outbound

    def __init__(self, engine: Engine, limits: Limits, trace: Trace | None) -> None:
        self.engine = engine
        self._limits = limits
        self._transport: Transport | None = None
        #: Whether there is a transport.
        self.is_open = False
        self._tracer = trace
        self.traced = trace is not None
        engine.trace = None if trace is None else lambda line: self.trace("in", line)

    def trace(self, direction: Literal["in", "out"], line: bytes) -> None:
        """Show a message to the tracer. One that raises is not asked again: it must cost no message."""
        if self._tracer is None:
            return
        try:
            self._tracer(direction, line)
        except Exception:
            log.exception("the trace function failed and is not called any more")
            self._tracer = self.engine.trace = None
            self.traced = False

    def open(self, transport: Transport, loop: asyncio.AbstractEventLoop, on_suspend: Callable[[], None]) -> None:
        self._transport = transport
        self.is_open = True
        self.outbound = Outbound(transport, loop, self._limits.outbound_bytes, on_suspend)

    @property
    def transport(self) -> Transport:
        if self._transport is None:
            raise RuntimeError("the peer is not started: call start(transport) first")
        return self._transport

    def receive(self, data: bytes) -> list[Event]:
        """Events of a read; answers that the engine gives by itself are sent. Raises `LimitError`."""
        events = self.engine.receive(data)
        self._reply()
        return events

    def end(self) -> list[Event]:
        """Events of the last line when the stream ended without a line feed. Raises `LimitError`."""
        events = self.engine.end()
        self._reply()
        return events

    def _reply(self) -> None:
        replies = self.engine.take_replies()
        if replies:
            self.send(replies)

    def notification(self, method: Notification[Any], params: Any) -> Awaitable[None]:
        return self.send(self.engine.notification(method.name, codec.encode(params)))

    def cancel_request(self, id: int) -> None:
        self.send(self.engine.notification(CANCEL_REQUEST.name, b'{"requestId":%d}' % id))

    def response(self, id: Any, result: Any) -> Awaitable[None]:
        line = self.engine.response(id, codec.encode(result))
        return WITHHELD if line is None else self.send(line)

    def error(self, id: Any, code: int, message: str, data: Any = UNSET) -> Awaitable[None]:
        line = self.engine.error(id, code, message, None if data is UNSET else codec.encode(data))
        return WITHHELD if line is None else self.send(line)

    def send(self, line: bytes) -> Awaitable[None]:
        """Show lines to the tracer and send them; see `Outbound.send`. Raises `LimitError`."""
        if self.traced:
            for message in line.rstrip(b"\n").split(b"\n"):
                self.trace("out", message)
        return self.outbound.send(line)
