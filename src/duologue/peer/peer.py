"""The peer: one end of one connection, for either side and either version.

Order, cancellation and queues follow docs/architecture.md, section "Order, cancellation, queues".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from duologue import codec
from duologue.jsonrpc.engine import Engine
from duologue.jsonrpc.limits import Limits
from duologue.peer.answering import Answering
from duologue.peer.asking import Asking
from duologue.peer.calls import Scope
from duologue.peer.carrying import Carrying
from duologue.peer.channel import Channel, note_channel, session_channel
from duologue.peer.ending import Ending
from duologue.peer.errors import ConnectionClosed
from duologue.peer.hearing import Hearing
from duologue.peer.inbound import Inbound
from duologue.peer.link import Link, Trace
from duologue.peer.reading import Reading
from duologue.peer.waking import Waking
from duologue.protocol.method import Method, Notification, Request, Side
from duologue.protocol.version import Version
from duologue.transports.base import Closed, Transport

if TYPE_CHECKING:
    from duologue.protocol.changes.edge import Edge
    from duologue.protocol.changes.memory import AgentExtras, ClientExtras
    from duologue.protocol.v2.updates import SessionUpdate

P = TypeVar("P")
R = TypeVar("R")


class Peer:
    """One end of a connection.

    `version` is what the wire speaks, None until it is negotiated (see `speak`). `inside` is the vocabulary of handlers
    and callers; when it differs from the wire's version, messages pass the table of differences.
    """

    loop: asyncio.AbstractEventLoop
    inbound: Inbound
    waking: Waking

    def __init__(
        self,
        side: Side,
        version: Version | None = None,
        *,
        inside: Version | None = None,
        limits: Limits | None = None,
        trace: Trace | None = None,
    ) -> None:
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"limits takes a Limits, such as Limits(message_bytes=2**20), not {type(limits).__name__}")
        if trace is not None and not callable(trace):
            raise TypeError(f"trace takes a function, such as MessageLog(path), not {type(trace).__name__}")
        self.side = side
        self.limits = limits or Limits()
        self.version: Version | None = None
        self.closed_reason: Closed | None = None
        #: Whether a method of the wire's version is served at all; what is not counts as unknown.
        self.serves: Callable[[Method], bool] = lambda method: True
        # Shared with the parts below.
        self.link = Link(Engine(self.limits, answer_noise=side is Side.AGENT), self.limits, trace)
        self.edge: Edge | None = None
        #: Updates in the vocabulary of the wire.
        self.updates = note_channel(self)
        self._inside = inside
        self._asking = Asking(self)
        self._answering = Answering(self)
        self._hearing = Hearing(self)
        self.carrying = Carrying(self, self._asking, self._answering, self._hearing)
        self.ending = Ending(self, self._asking, self._answering)
        self.reading = Reading(self, self._asking, self._answering, self._hearing)
        if version is not None:
            self.speak(version)

    def speak(self, version: Version) -> None:
        """Fix the version of the wire: at once for a peer that knows it, else when `initialize` was read."""
        self.version = version
        self.link.engine.batches = version.batches
        if self._inside is not None and self._inside is not version:
            # Late: a connection that speaks the inner version needs no table of differences.
            from duologue.protocol.changes.edge import Edge

            self.edge = Edge(self.side)
        self._hearing.speak(version, self._inside)

    def say_in_v1(self, extras: AgentExtras | ClientExtras) -> None:
        """Set what this side says of itself in version 1 alone, before `initialize` is sent or answered. A wire that
        speaks another version has no words for it. Raises `TypeError` for what is no such value."""
        from duologue.protocol.changes.memory import AgentExtras, ClientExtras

        kind = AgentExtras if self.side is Side.AGENT else ClientExtras
        if not isinstance(extras, kind):
            raise TypeError(f"v1_capabilities must return {kind.__name__}, not {type(extras).__name__}")
        if self.edge is None:
            return
        if isinstance(extras, AgentExtras):
            self.edge.memory.agent = extras
        else:
            self.edge.memory.client = extras

    @property
    def said_in_v1(self) -> AgentExtras | ClientExtras | None:
        """What the other side said of itself in version 1 alone; None on a wire that speaks another version."""
        if self.edge is None:
            return None
        return self.edge.memory.client if self.side is Side.AGENT else self.edge.memory.agent

    # --- what the owner registers, in the vocabulary it speaks --------------------------------------------------------

    def handle(
        self,
        method: Request[P, R],
        handler: Callable[[P, Scope], Awaitable[R]],
        *,
        admit: Callable[[P, Scope], None] | None = None,
    ) -> None:
        """Answer requests of `method` with what `handler` returns; it runs beside the loop.

        `admit` runs when the request is read, before the next message is looked at: it enters the request into the
        owner's state, may set `Scope.after` and `Scope.on_cancel`, and refuses it by raising `RpcError`.
        """
        self._answering.handlers[method.name] = (method, handler, admit)

    def listen(self, method: Notification[P], handler: Callable[[P], Awaitable[None]]) -> None:
        """Await `handler` for each notification of `method`, one at a time, in the order of the wire."""
        self._hearing.listen(method, handler)

    def apply(self, method: Notification[P], function: Callable[[P], None]) -> None:
        """Call `function` for each notification of `method` when it is read, before anything after it."""
        self._hearing.apply(method, function)

    def on_initialize(self, function: Callable[[Any, Scope], None]) -> None:
        """Call `function` with the raw params of `initialize`; it fixes the version and sees to the answer (`answer`).

        What comes after it waits until it is answered.
        """
        self._answering.initialize = function

    def answer(self, method: Request[Any, Any], params: Any, scope: Scope) -> None:
        """Let the handler of `method` answer a request that `on_initialize` was given, once the version is fixed."""
        self._answering.pass_on(method, params, scope)

    def on_closed(self, function: Callable[[Closed], None]) -> None:
        """Call `function` once when the connection ends."""
        self.ending.on_closed.append(function)

    # --- life ---------------------------------------------------------------------------------------------------------

    async def start(self, transport: Transport) -> None:
        """Begin to speak over `transport`. Raises `TransportError`, and `TypeError` for what is none."""
        if not callable(getattr(transport, "pause_reading", None)):
            raise TypeError(f"a connection needs a Transport, such as stdio_transport(), not {transport!r:.60}")
        self.loop = asyncio.get_running_loop()
        self.inbound = Inbound(self.limits, self.loop, self.reading.regulate)
        self.waking = Waking(self.loop)
        self.link.open(transport, self.loop, self.reading.regulate)
        self.reading.open()
        self.ending.open()
        await transport.start(self.reading)

    async def wait_closed(self) -> Closed:
        """Wait until the connection has ended; the reason."""
        self._check_started()
        return await self.ending.wait()

    async def drain(self) -> None:
        """Wait until every queued notification handler has run."""
        self._check_started()
        await self.inbound.idle()

    async def close(self) -> None:
        """End the connection: open calls fail, handlers are cancelled, the transport is closed. Bounded in time."""
        if self.link.is_open:
            await self.ending.close()

    # --- calls --------------------------------------------------------------------------------------------------------

    def request(
        self, method: Request[P, R], params: P, *, applied: Callable[[R], None] | None = None, checked: bool = False
    ) -> Coroutine[Any, Any, R]:
        """Send a request and return its result. `checked`: the params come from `codec.sendable`.

        `applied` is called with the result as soon as it is read, before the next message is looked at. Cancelling
        the awaiting task sends `$/cancel_request`; an answer that still comes is ignored.
        Raises `RpcError` (an error answer), `RemoteProtocolError` (a broken one), `ConnectionClosed`, `LimitError`,
        `codec.CodecError` (params that cannot be sent, a result that does not fit its type).
        """
        if not isinstance(method, Request):
            raise TypeError(f"a request is made by a method of a table or by Request.extension, not {method!r:.60}")
        if self.closed_reason is not None or not self.link.is_open:
            self._check_open()
        return self._asking.request(method, params if checked else codec.sendable(method.params, params), applied)

    def notify(self, method: Notification[P], params: P) -> Awaitable[None]:
        """Send a notification; await the result to take part in back-pressure.

        Raises `ConnectionClosed`, `LimitError`, `codec.CodecError`.
        """
        if not isinstance(method, Notification):
            raise TypeError(f"a method of a table, or one of Notification.extension, can be told, not {method!r:.60}")
        self._check_open()
        params = codec.sendable(method.params, params)
        if self.edge is not None:
            return self.carrying.out(self.edge.notification_out(method, params), None)
        return self.link.notification(method, params)

    def update(self, note: Any, *, soon: bool = False) -> Awaitable[None]:
        """Send a `session/update`: `notify` for the one notification that dominates all traffic.

        With `soon` it may leave together with the message that follows it.
        """
        if self.edge is not None:
            if self.closed_reason is not None:
                raise ConnectionClosed(self.closed_reason)
            note = self.edge.update_out(note)
            if self.edge.behind():
                self.carrying.catch_up_soon()
            if note.__class__ is tuple or note.__class__ is list:
                return self.carrying.out(note, None)
        return self.updates.send(note, soon=soon)

    async def room(self) -> None:
        """Wait until the other side reads: for what must not fail for a limit, and before much is made of a request."""
        outbound = self.link.outbound
        while outbound.blocked:
            await outbound.wait_for_room()

    def channel(self, session_id: str) -> Channel[SessionUpdate]:
        """The quickest way to send the updates of one session, once the version is fixed."""
        return session_channel(self, session_id)

    def track(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work beside the loop; closing cancels and awaits it."""
        self._answering.track(work)

    def _check_started(self) -> None:
        if not self.link.is_open:
            raise RuntimeError("the peer is not started: call start(transport) first")

    def _check_open(self) -> None:
        if self.closed_reason is not None:
            raise ConnectionClosed(self.closed_reason)
        self._check_started()
