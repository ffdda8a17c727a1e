"""The part of a peer that hears: notifications of the other side, applied when they are read, then queued."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from duologue import codec
from duologue.jsonrpc import messages as wire
from duologue.peer.hot import SESSION_UPDATE, UPDATE_PREFIX, update_decoder
from duologue.peer.losses import read
from duologue.protocol.method import Notification, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.version import Version

if TYPE_CHECKING:
    from duologue.peer.peer import Peer

log = logging.getLogger("duologue.peer")

#: Handlers of these run beside the queue: one may wait for a turn that waits for an answer behind it.
BESIDE_THE_QUEUE = frozenset({v2.SESSION_CANCEL.name})


class Hearing:
    """The functions and handlers for notifications. `hot` is the class of updates that the engine decodes itself."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._listeners: dict[str, tuple[Notification[Any], Callable[[Any], Awaitable[None]]]] = {}
        self._appliers: dict[str, tuple[Notification[Any], Callable[[Any], None]]] = {}
        # Those of `session/update`, which are called most.
        self._listen_update: Callable[[Any], Awaitable[None]] | None = None
        self._apply_update: Callable[[Any], None] | None = None
        self.hot: type[Any] = type(None)
        # Whether the hot decoder reads chunks in the words of the inner version, see `changes.quick`.
        self._quick = False

    def listen(self, method: Notification[Any], handler: Callable[[Any], Awaitable[None]]) -> None:
        """See `Peer.listen`."""
        self._listeners[method.name] = (method, handler)
        if method.name == SESSION_UPDATE:
            self._listen_update = handler

    def apply(self, method: Notification[Any], function: Callable[[Any], None]) -> None:
        """See `Peer.apply`."""
        self._appliers[method.name] = (method, function)
        if method.name == SESSION_UPDATE:
            self._apply_update = function

    def speak(self, version: Version, inside: Version | None) -> None:
        """Prepare for the updates of a version; only clients hear them."""
        if self._peer.side is Side.CLIENT:
            self._quick = inside is not None and inside is not version
            self._decode_with(update_decoder(version, inner=inside))

    def _decode_with(self, decoder: tuple[type[Any], Callable[[bytes], Any]]) -> None:
        self.hot, decode = decoder
        self._peer.link.engine.set_hot(UPDATE_PREFIX, decode)

    def on_notification(self, event: wire.Notification) -> None:
        """A notification was read."""
        peer = self._peer
        method = self._named(event.method)
        if method is None or not peer.serves(method):
            log.debug("ignored an unknown notification: %s", event.method)
            return
        try:
            data = event.params if event.params is not None else b"{}"
            params = read(method.params, data, event.method, "$.params")
        except codec.CodecError as error:
            log.warning("ignored a %s that does not fit: %s", event.method, error)
            return
        if event.method == SESSION_UPDATE:
            self._give_up_quick()
            self.on_update(params)
        elif peer.edge is not None:
            peer.carrying.into(peer.edge.notification_in(method, params), None)
        else:
            self.deliver(method, params)

    def _give_up_quick(self) -> None:
        """The agent's updates do not look as the quick way expects them (there are no ids on chunks, mostly), and each
        of those would be decoded twice."""
        if self._quick and self._peer.version is not None:
            self._quick = False
            self._decode_with(update_decoder(self._peer.version))

    def on_update(self, note: Any) -> None:
        """A `session/update` was read."""
        peer = self._peer
        edge = peer.edge
        if edge is not None:
            note = edge.update_in(note)
            if note.__class__ is tuple or note.__class__ is list:
                peer.carrying.into(note, None)
                return
        if self._apply_update is not None:
            self._apply_update(note)
        if self._listen_update is not None:
            peer.inbound.deliver(self._listen_update, note)

    def deliver(self, method: Notification[Any], params: Any) -> None:
        """Apply a notification in the inner vocabulary, and queue it for its handler."""
        applier = self._appliers.get(method.name)
        if applier is not None:
            applier[1](params)
        listener = self._listeners.get(method.name)
        if listener is None:
            return
        if method.name in BESIDE_THE_QUEUE:
            self._peer.track(_logged(listener[1](params)))
        else:
            self._peer.inbound.deliver(listener[1], params)

    def _named(self, name: str) -> Notification[Any] | None:
        version = self._peer.version
        if version is None:
            return None
        entry = self._listeners.get(name) or self._appliers.get(name)
        extension = entry[0] if entry is not None and name.startswith("_") else None
        return version.notification(self._peer.side, name) or extension


async def _logged(work: Awaitable[None]) -> None:
    try:
        await work
    except Exception:
        log.exception("a notification handler failed")
