"""How a connection ends: told by this side, by the other side, or by a limit; each way once, and bounded in time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duologue.jsonrpc import errors as rpc
from duologue.peer.answering import Answering
from duologue.peer.asking import Asking
from duologue.peer.errors import ConnectionClosed
from duologue.transports.base import Closed

if TYPE_CHECKING:
    from duologue.peer.peer import Peer

log = logging.getLogger("duologue.peer")

#: How long `close` waits for handlers that were cancelled, in seconds.
CLOSE_SECONDS = 5.0
#: How long requests that were read before the end of the stream may still take to be answered, in seconds.
LAST_ANSWERS_SECONDS = 0.5


class Ending:
    """The end of a peer's connection, and whoever waits for it."""

    def __init__(self, peer: Peer, asking: Asking, answering: Answering) -> None:
        self._peer = peer
        self._asking = asking
        self._answering = answering
        self.on_closed: list[Callable[[Closed], None]] = []

    def open(self) -> None:
        """The connection begins."""
        self._closed: asyncio.Future[Closed] = self._peer.loop.create_future()

    async def wait(self) -> Closed:
        """Wait for the end; the reason."""
        return await asyncio.shield(self._closed)

    async def close(self) -> None:
        """End it from this side: what is gathered still goes out, handlers are cancelled and awaited for a while."""
        peer = self._peer
        peer.link.outbound.flush()
        self._shut(Closed("the connection was closed by this side"))
        tasks = self._answering.tasks | peer.inbound.close()
        await peer.link.transport.close()
        tasks.discard(asyncio.current_task())
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)

    def lost(self, reason: Closed) -> None:
        """The transport has ended: what was read to the end is still handled, then everything that waits fails."""
        if self._peer.closed_reason is None:
            with contextlib.suppress(rpc.LimitError):
                self._peer.reading.take(self._peer.link.end())
        tasks = frozenset(self._answering.tasks)
        if tasks:
            # The other side may only have ended its own half, and still read answers.
            self._ending = self._peer.loop.create_task(self._end_after(tasks, reason), name="duologue-last-answers")
        else:
            self._end(reason)

    async def _end_after(self, tasks: frozenset[asyncio.Task[Any]], reason: Closed) -> None:
        await asyncio.wait(tasks, timeout=LAST_ANSWERS_SECONDS)
        self._end(reason)

    def _end(self, reason: Closed) -> None:
        peer = self._peer
        if peer.closed_reason is None:
            peer.link.outbound.flush()
            self._shut(reason)
            peer.loop.call_later(CLOSE_SECONDS, peer.inbound.close)

    def abort(self, error: rpc.LimitError) -> None:
        """End it at once, since a limit leaves no other way."""
        peer = self._peer
        if peer.closed_reason is not None:
            return
        self._shut(Closed(str(error)))
        peer.inbound.close()
        self._answering.track(peer.link.transport.close())

    def _shut(self, reason: Closed) -> None:
        peer = self._peer
        if peer.closed_reason is not None:
            return
        peer.closed_reason = reason
        peer.link.outbound.close()
        self._asking.fail_all(ConnectionClosed(reason))
        self._answering.cancel_all()
        peer.carrying.close()
        for function in self.on_closed:
            try:
                function(reason)
            except Exception:  # The others are to hear of it too, and whoever waits for the end.
                log.exception("what was to hear of the end of the connection failed")
        if not self._closed.done():
            self._closed.set_result(reason)
