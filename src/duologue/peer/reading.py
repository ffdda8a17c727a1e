"""What a peer does with what its transport reads: each message is applied, queued or dispatched, and none is awaited.

Order, and when reading pauses, follow docs/architecture.md, section "Order, cancellation, queues".
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duologue.jsonrpc import errors as rpc
from duologue.jsonrpc import messages as wire
from duologue.local.masking import mask_broken
from duologue.peer.answering import Answering
from duologue.peer.asking import Asking
from duologue.peer.hearing import Hearing
from duologue.peer.inbound import Inbound
from duologue.peer.waking import Waking
from duologue.protocol.common.table import CANCEL_REQUEST
from duologue.transports.base import Closed

if TYPE_CHECKING:
    from duologue.peer.peer import Peer

log = logging.getLogger("duologue.peer")

CANCEL = CANCEL_REQUEST.name

#: Lines that are no messages and are warned of, in one connection: a program that is no agent may write for ever.
BROKEN_TOLD = 5


class Reading:
    """The sink of a peer's transport. It keeps order: nothing passes an `initialize` that is not answered (`hold`)."""

    inbound: Inbound
    waking: Waking

    def __init__(self, peer: Peer, asking: Asking, answering: Answering, hearing: Hearing) -> None:
        self._peer = peer
        self._link = peer.link
        self._asking = asking
        self._answering = answering
        self._hearing = hearing
        self._held: deque[wire.Event] | None = None
        self._broken = 0
        self._on: dict[type[Any], Callable[[Any], None]] = {
            wire.Notification: self._on_notification,
            wire.Request: answering.on_request,
            wire.Response: asking.on_response,
            wire.ErrorResponse: asking.on_error,
            wire.OversizedResponse: asking.on_error,
            wire.UnexpectedResponse: self._on_unexpected,
            wire.Noise: self._on_broken,
            wire.Malformed: self._on_broken,
        }

    def open(self) -> None:
        """The connection begins."""
        self.inbound = self._peer.inbound
        self.waking = self._peer.waking

    # --- what the transport calls -------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take a read of the transport; then whoever waited for an answer in it goes on."""
        if self._peer.closed_reason is not None:
            return
        self._link.outbound.fresh = True
        self.waking.reading = True
        try:
            self._receive(data)
        finally:
            self.waking.go_on()

    def pause_writing(self) -> None:
        """The other side does not read: senders are suspended."""
        self._link.outbound.pause()

    def resume_writing(self) -> None:
        """The other side reads again."""
        self._link.outbound.resume()

    def connection_lost(self, reason: Closed) -> None:
        """The transport has ended."""
        self._peer.ending.lost(reason)

    # --- in order -----------------------------------------------------------------------------------------------------

    def _receive(self, data: bytes) -> None:
        inbound = self.inbound
        before = inbound.undelivered
        try:
            if self._peer.version is not None:
                self.take(self._link.receive(data))
            else:
                self._read_line_by_line(data)
        except rpc.LimitError as error:
            # Only an answer is sent here: the other side asks without reading.
            self._peer.ending.abort(error)
        if not inbound.undelivered:
            # Nothing is held. What `account` knows of earlier reads it sets right when it is asked again.
            if inbound.paused:
                self.regulate()
            return
        if not inbound.account(len(data), before):
            limit = self._peer.limits.inbound_bytes
            self._peer.ending.abort(rpc.LimitError("inbound_bytes", limit, "handlers do not keep up"))
        self.regulate()

    def _read_line_by_line(self, data: bytes) -> None:
        """Take a read whose lines may settle the version: whether a batch is served after them depends on it."""
        start = 0
        while self._peer.version is None and (end := data.find(b"\n", start) + 1):
            self.take(self._link.receive(data[start:end]))
            start = end
        if start < len(data):
            self.take(self._link.receive(data[start:] if start else data))

    def take(self, events: list[wire.Event]) -> None:
        """Apply, queue or dispatch what was read, in order."""
        hot, on_update, on = self._hearing.hot, self._hearing.on_update, self._on
        for event in events:
            kind = event.__class__
            try:
                if kind is hot:
                    on_update(event.params)
                elif self._held is not None and kind is not wire.Response and kind is not wire.ErrorResponse:
                    self._held.append(event)
                else:
                    on[kind](event)
            except rpc.LimitError:
                raise
            except Exception:
                # A function of the owner failed; what else was read is still to be heard.
                log.exception("a message could not be applied")

    @property
    def holding(self) -> bool:
        """Whether `initialize` is unanswered, so that nothing may pass it."""
        return self._held is not None

    def hold(self) -> None:
        """Let what comes wait until `release`."""
        self._held = deque()

    def release(self) -> None:
        """Take what has waited, in order."""
        held, self._held = self._held, None
        self.take(list(held or ()))

    def _on_notification(self, event: wire.Notification) -> None:
        if event.method == CANCEL:
            self._answering.on_cancel_request(event.params)
        else:
            self._hearing.on_notification(event)

    def _on_unexpected(self, event: wire.UnexpectedResponse) -> None:
        log.debug("ignored an answer to no open request: %r", event.id)

    def _on_broken(self, event: wire.Noise | wire.Malformed) -> None:
        self._broken += 1
        level = logging.WARNING if self._broken <= BROKEN_TOLD else logging.DEBUG
        log.log(level, "ignored a line that is no message: %s", event.reason)
        if self._broken == BROKEN_TOLD:
            log.warning("further lines that are no messages are logged at debug")
        log.debug("it began with %r", mask_broken(event.sample.decode("utf-8", "replace")))

    # --- back-pressure ------------------------------------------------------------------------------------------------

    def regulate(self) -> None:
        """Pause or resume reading. Reading goes on while a sender is suspended or a call is open: its end may depend
        on a message that is not read yet."""
        inbound = self.inbound
        busy = self._asking.open_calls or self._link.outbound.suspended
        if inbound.paused:
            if busy or inbound.has_drained():
                inbound.paused = False
                self._link.transport.resume_reading()
        elif not busy and inbound.is_full():
            inbound.paused = True
            self._link.transport.pause_reading()
