"""Between the vocabulary of the owner and that of the wire: what the table of differences says is done here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any

from duologue.jsonrpc import errors as rpc
from duologue.peer.answering import Answering
from duologue.peer.asking import Asking
from duologue.peer.calls import Call, Scope
from duologue.peer.hearing import Hearing
from duologue.peer.hot import SESSION_UPDATE
from duologue.peer.outbound import SENT
from duologue.protocol.changes.steps import Answer, Ask, Notify, Refuse, Step
from duologue.protocol.method import Notification, Side

if TYPE_CHECKING:
    from duologue.peer.peer import Peer


class Carrying:
    """Carries out the steps that the edge of a peer makes of its messages."""

    def __init__(self, peer: Peer, asking: Asking, answering: Answering, hearing: Hearing) -> None:
        self._peer = peer
        self._asking = asking
        self._answering = answering
        self._hearing = hearing
        self._catching_up: asyncio.TimerHandle | None = None

    def out(self, steps: Sequence[Step], call: Call | None) -> Awaitable[None]:
        """Carry out steps that a message of this side gave."""
        sent = SENT
        for step in steps:
            if isinstance(step, Ask):
                assert call is not None
                sent = self._asking.ask(call, step.method, step.params)
            elif isinstance(step, Notify):
                sent = self._tell(step.method, step.params)
            else:
                sent = self._settle(step)
        return sent

    def into(self, steps: Sequence[Step], scope: Scope | None) -> None:
        """Carry out steps that a message of the other side gave."""
        for step in steps:
            if isinstance(step, Notify):
                self._hearing.deliver(step.method, step.params)
            elif isinstance(step, Ask):
                assert scope is not None
                self._answering.dispatch(step.method, step.params, scope)
            else:
                self._settle(step)

    def _tell(self, method: Notification[Any], params: Any) -> Awaitable[None]:
        """A notification that this side's message gave: for the wire, or (an inner update) for this side itself."""
        peer = self._peer
        if method.name != SESSION_UPDATE:
            return peer.link.notification(method, params)
        if peer.version is not None and method is peer.version.notification(Side.CLIENT, SESSION_UPDATE):
            # An answer may bring updates with it after the connection has ended.
            return peer.updates.send(params) if peer.closed_reason is None else SENT
        self._hearing.deliver(method, params)
        return SENT

    def _settle(self, step: Answer | Refuse) -> Awaitable[None]:
        """Answer the request that a step names: one of the other side (a `Scope`) or one of this side (a `Call`)."""
        key = step.key
        if isinstance(key, Scope):
            if isinstance(step, Answer):
                return self._answering.respond(key, step.result)
            return self._answering.refuse(key, step.code, step.message, step.data)
        assert isinstance(key, Call)
        if isinstance(step, Answer):
            self._asking.resolve(key, step.result)
        else:
            self._asking.fail(key, rpc.RpcError(step.code, step.message, step.data))
        return SENT

    # --- content that grows too fast to be resent at once -------------------------------------------------------------

    def catch_up_soon(self) -> None:
        """Resend what the edge is behind with, after a moment."""
        edge = self._peer.edge
        if self._catching_up is None and edge is not None:
            self._catching_up = self._peer.loop.call_later(edge.memory.bounds.resend_seconds, self._catch_up)

    def _catch_up(self) -> None:
        self._catching_up = None
        edge = self._peer.edge
        if edge is None or self._peer.closed_reason is not None:
            return
        with contextlib.suppress(rpc.LimitError):
            self.out(edge.catch_up(), None)
        if edge.behind():
            self.catch_up_soon()

    def close(self) -> None:
        """The connection is gone: nothing is resent any more, and the edge forgets."""
        if self._catching_up is not None:
            self._catching_up.cancel()
        if self._peer.edge is not None:
            self._peer.edge.close()
