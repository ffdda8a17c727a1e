"""One end of a connection: typed calls, handlers, and the promises about order, cancellation and queues."""

from duologue.peer.calls import Scope
from duologue.peer.errors import REQUEST_CANCELLED, ConnectionClosed, HandlerError, NotOffered
from duologue.peer.link import Trace
from duologue.peer.peer import Peer

__all__ = ["REQUEST_CANCELLED", "ConnectionClosed", "HandlerError", "NotOffered", "Peer", "Scope", "Trace"]
