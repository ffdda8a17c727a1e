"""The class that the author of a client subclasses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duologue.protocol.common.permission import (
    CancelledOutcome,
    PermissionOptionKind,
    RequestPermissionOutcome,
    SelectedOutcome,
)
from duologue.protocol.v2.permission import RequestPermissionRequest

if TYPE_CHECKING:
    from duologue.client.session import Session
    from duologue.protocol.changes.memory import ClientExtras
    from duologue.protocol.v2.capabilities import ClientCapabilities
    from duologue.protocol.v2.updates import SessionUpdate
    from duologue.session import Transcript


class Client:
    """A client, written once in the vocabulary of version 2. Override what it offers; the rest fails closed."""

    #: Sent as the client's `info`.
    name: str = "client"
    title: str | None = None
    version: str = "0"

    def capabilities(self) -> ClientCapabilities:
        """What the client can do for the agent."""
        from duologue.protocol.v2.capabilities import ClientCapabilities

        return ClientCapabilities()

    def v1_capabilities(self) -> ClientExtras:
        """What the client says of itself in version 1 alone: that it reads and writes files for the agent and runs its
        commands, once it answers `fs/*` and `terminal/*` (``connection.peer.handle(v1.FS_READ_TEXT_FILE, ...)``)."""
        from duologue.protocol.changes.memory import ClientExtras

        return ClientExtras()

    def transcript(self) -> Transcript:
        """What the updates of a session are folded into. `CurrentTranscript` keeps less than a whole one."""
        from duologue.session import Transcript

        return Transcript()

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        """Answer a permission request. Without an override it is refused; so it is when this raises."""
        return refusal(request)

    def on_update(self, session: Session, update: SessionUpdate) -> None:
        """Called with every update of every session when it is read, also while no prompt runs. Must not block."""


def refusal(request: RequestPermissionRequest) -> RequestPermissionOutcome:
    """The narrowest refusing answer that a request offers; `cancelled` when it offers none."""
    for kind in (PermissionOptionKind.REJECT_ONCE, PermissionOptionKind.REJECT_ALWAYS):
        for option in request.options:
            if option.kind == kind:
                return SelectedOutcome(option_id=option.option_id)
    return CancelledOutcome()
