"""Updates, sent with as little work as possible: they dominate all traffic. `hot` says what keeps them in order."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from duologue import codec
from duologue.peer.errors import ConnectionClosed
from duologue.peer.hot import UPDATE_HEAD, UPDATE_TAIL
from duologue.peer.outbound import FLUSH_BYTES, SENT
from duologue.protocol.changes.steps import CHANGED, NOTHING
from duologue.protocol.v2.updates import SessionUpdate, UpdateSessionNotification

if TYPE_CHECKING:
    from duologue.peer.peer import Peer
    from duologue.protocol.changes.edge import Edge

T = TypeVar("T")


class Channel(Generic[T]):
    """Sends `session/update`: the updates of one session (`session_channel`), or whole notifications (`note_channel`).

    What surrounds an update is encoded once, as `head` and `tail`.
    """

    __slots__ = ("_edge", "_head", "_peer", "_session_id", "_tail")

    def __init__(self, peer: Peer, edge: Edge | None, session_id: str, head: bytes, tail: bytes) -> None:
        self._peer = peer
        self._edge = edge
        self._session_id = session_id
        self._head = head
        self._tail = tail

    def send(self, update: T, *, soon: bool = False) -> Awaitable[None]:
        """Send an update, encoded straight into the gathered bytes; await the result to take part in back-pressure.

        With `soon` it may leave together with the message that follows it. Raises `ConnectionClosed`, `LimitError`.
        """
        peer = self._peer
        if peer.closed_reason is not None:
            raise ConnectionClosed(peer.closed_reason)
        edge, link = self._edge, peer.link
        if edge is not None:
            fate = edge.fate_out(self._session_id, update)
            if fate is NOTHING:
                return SENT
            if fate is CHANGED:
                whole: Any = update
                return peer.update(UpdateSessionNotification(session_id=self._session_id, update=whole), soon=soon)
        outbound = link.outbound
        buffer = outbound.buffer
        start = len(buffer)
        buffer += self._head
        try:
            codec.encode_into(update, buffer)
            if outbound.blocked:
                # It is among the gathered bytes, which count already.
                outbound.admit(0)
        except BaseException:
            del buffer[start:]
            raise
        buffer += self._tail
        if link.traced:
            link.trace("out", bytes(buffer[start:-1]))
        if soon:
            outbound.sent_soon()
            return SENT
        if outbound.corked and len(buffer) < FLUSH_BYTES and not outbound.blocked:
            return SENT
        return outbound.sent()


def session_channel(peer: Peer, session_id: str) -> Channel[SessionUpdate]:
    """For the updates of one session, in the vocabulary of the owner; to be made once the version is fixed."""
    head = UPDATE_HEAD + b'{"sessionId":' + codec.encode(session_id) + b',"update":'
    return Channel(peer, peer.edge, session_id, head, b"}" + UPDATE_TAIL)


def note_channel(peer: Peer) -> Channel[Any]:
    """For whole notifications, in the vocabulary of the wire."""
    return Channel(peer, None, "", UPDATE_HEAD, UPDATE_TAIL)
