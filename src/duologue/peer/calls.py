"""Requests that are open: the ones this side made (`Call`) and the ones it has to answer (`Scope`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from duologue.protocol.method import Request

if TYPE_CHECKING:
    from duologue.peer.answering import Answering


class Call(msgspec.Struct, eq=False):
    """A request this side made. `wire` is the method as it stands on the wire, `at_once` says that its answer does
    not wait for handlers of earlier messages (it was made inside one)."""

    method: Request[Any, Any]
    wire: Request[Any, Any]
    future: asyncio.Future[Any]
    at_once: bool
    #: Called with the result when it is read.
    applied: Callable[[Any], None] | None = None
    id: int | None = None
    #: Whether the answer is there, and waits for the handlers of earlier messages.
    settled: bool = False

    def succeed(self, result: Any) -> None:
        if not self.future.done():
            self.future.set_result(result)

    def fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class Scope(msgspec.Struct, eq=False):
    """A request of the other side, from the moment it was read until it is answered.

    Its cancel scope exists before the next message is looked at: a cancel that arrives in the same read finds it.
    """

    answering: Answering
    id: Any
    #: The method as it stands on the wire, and in the vocabulary of the handler.
    wire: Request[Any, Any]
    method: Request[Any, Any]
    task: asyncio.Task[None] | None = None
    #: Set by `admit`: what a cancel does instead of cancelling the handler's task.
    on_cancel: Callable[[], None] | None = None
    #: Set by `admit`: the handler starts when this is done.
    after: asyncio.Future[Any] | None = None
    #: Called when the answer is given, though its batch may still wait for others: what waits for this request.
    then: list[Callable[[], None]] = msgspec.field(default_factory=list)
    #: Called when the answer is sent, which in a batch is with the last one: what must follow it on the wire.
    on_sent: list[Callable[[], None]] = msgspec.field(default_factory=list)
    cancelled: bool = False
    started: bool = False
    answered: bool = False

    def cancel(self) -> None:
        """Cancel the request: once, and without effect when it is answered."""
        if self.cancelled or self.answered:
            return
        self.cancelled = True
        if self.on_cancel is not None:
            self.on_cancel()
        elif self.task is not None:
            if not self.started:
                # A task that is cancelled before its first step never runs: it cannot answer for itself.
                self.task.add_done_callback(lambda _: self.answering.cancelled(self))
            self.task.cancel()
