"""The updates of one session, sent with as little work as possible: they dominate all traffic."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from duologue import codec
from duologue.peer.errors import ConnectionClosed
from duologue.peer.hot import UPDATE_HEAD
from duologue.peer.outbound import FLUSH_BYTES, SENT
from duologue.protocol.changes.steps import CHANGED, NOTHING
from duologue.protocol.v2.updates import SessionUpdate, UpdateSessionNotification

if TYPE_CHECKING:
    from duologue.peer.peer import Peer

_TAIL = b"}}\n"


class Channel:
    """Sends `session/update` for one session; `Peer.channel` makes it. What surrounds an update is encoded once."""

    __slots__ = ("_head", "_peer", "_session_id")

    def __init__(self, peer: Peer, session_id: str) -> None:
        self._peer = peer
        self._session_id = session_id
        self._head = UPDATE_HEAD + b'{"sessionId":' + codec.encode(session_id) + b',"update":'

    def send(self, update: SessionUpdate, *, soon: bool = False) -> Awaitable[None]:
        """Send an update; await the result to take part in back-pressure. With `soon` it may leave together with the
        message that follows it. Raises `ConnectionClosed`, `LimitError`.
        """
        peer = self._peer
        if peer.closed_reason is not None:
            raise ConnectionClosed(peer.closed_reason)
        edge, link = peer.edge, peer.link
        if edge is not None:
            fate = edge.fate_out(self._session_id, update)
            if fate is NOTHING:
                return SENT
            if fate is CHANGED:
                return peer.update(UpdateSessionNotification(session_id=self._session_id, update=update), soon=soon)
        outbound = link.outbound
        buffer = outbound.buffer
        start = len(buffer)
        buffer += self._head
        try:
            codec.encode_into(update, buffer)
            if outbound.blocked:
                outbound.admit(len(buffer) - start)
        except BaseException:
            del buffer[start:]
            raise
        buffer += _TAIL
        if link.traced:
            link.trace("out", bytes(buffer[start:-1]))
        if soon:
            outbound.sent_soon()
            return SENT
        if outbound.corked and len(buffer) < FLUSH_BYTES and not outbound.blocked:
            return SENT
        return outbound.sent()
