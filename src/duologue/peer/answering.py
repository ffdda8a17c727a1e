"""The part of a peer that answers: requests of the other side from the moment they are read until they are answered."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from duologue import codec
from duologue.jsonrpc import errors as rpc
from duologue.jsonrpc import messages as wire
from duologue.jsonrpc.batch import Batch
from duologue.peer.calls import Scope
from duologue.peer.errors import REQUEST_CANCELLED, HandlerError
from duologue.peer.losses import read
from duologue.peer.outbound import SENT, WITHHELD
from duologue.protocol.method import Request
from duologue.protocol.v2 import table as v2

if TYPE_CHECKING:
    from duologue.peer.peer import Peer

log = logging.getLogger("duologue.peer")

RequestHandler = Callable[[Any, Scope], Awaitable[Any]]
Admit = Callable[[Any, Scope], None]

#: `initialize` before the version is known: its params are judged by whoever negotiates.
FIRST = v2.INITIALIZE.name
INITIALIZE: Request[Any, Any] = Request.untyped(FIRST)


class Answering:
    """The open requests of the other side and the handlers that answer them, each in a task of its own."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._scopes: dict[Any, Scope] = {}
        self.handlers: dict[str, tuple[Request[Any, Any], RequestHandler, Admit | None]] = {}
        self.initialize: Callable[[Any, Scope], None] | None = None
        self.tasks: set[asyncio.Task[Any]] = set()
        #: What is to follow the answers of a batch, once they are sent.
        self._following: dict[Batch, list[Callable[[], None]]] = {}

    # --- in -----------------------------------------------------------------------------------------------------------

    def on_request(self, event: wire.Request) -> None:
        """A request was read."""
        if event.method == FIRST and self.initialize is not None:
            self._on_initialize(event, self.initialize)
            return
        method = self._named(event.method)
        if method is None or not self._peer.serves(method):
            self._reject(event)
            return
        scope = self._enter(event, method)
        try:
            data = event.params if event.params is not None else b"{}"
            params = read(method.params, data, event.method, "$.params")
        except codec.CodecError as error:
            self.refuse(scope, rpc.INVALID_PARAMS, f"Invalid params: {error}", {"path": error.path})
            return
        self.pass_on(method, params, scope)

    def pass_on(self, method: Request[Any, Any], params: Any, scope: Scope) -> None:
        """Give a request in the wire's vocabulary to the handler of the inner one."""
        scope.wire = method
        edge = self._peer.edge
        if edge is None:
            self.dispatch(method, params, scope)
            return
        try:
            self._peer.carrying.into(edge.request_in(method, params, scope), scope)
        except rpc.LimitError:
            raise
        except Exception as error:
            failed = _handler_error(scope, error)
            self.refuse(scope, failed.code, failed.message, failed.data)

    def on_cancel_request(self, params: Any) -> None:
        """`$/cancel_request` was read: it takes effect before the next message is looked at."""
        with contextlib.suppress(codec.CodecError):
            wanted = codec.decode(dict[str, Any], params if params is not None else b"{}").get("requestId", UNSET)
            # The type counts: true and 1.0 would find the request with id 1.
            if wanted is None or type(wanted) in (int, str):
                scope = self._scopes.get(wanted)
                if scope is not None:
                    scope.cancel()

    def _named(self, name: str) -> Request[Any, Any] | None:
        version = self._peer.version
        if version is None:
            return None
        method = version.request(self._peer.side, name)
        if method is None and name in self.handlers:
            own = self.handlers[name][0]
            # Not of this version's protocol: an extension that the owner of the peer serves.
            return own if own.params is Any or name.startswith("_") else None
        return method

    def _enter(self, event: wire.Request, method: Request[Any, Any]) -> Scope:
        scope = self._scopes[event.id] = Scope(self, event.id, method, method)
        return scope

    def _reject(self, event: wire.Request) -> None:
        about = {"method": event.method}
        if self._peer.version is None:
            self._peer.link.error(event.id, rpc.INVALID_REQUEST, "initialize comes first", about)
        else:
            self._peer.link.error(event.id, rpc.METHOD_NOT_FOUND, f"Method not found: {event.method}", about)

    def _on_initialize(self, event: wire.Request, initialize: Callable[[Any, Scope], None]) -> None:
        if self._peer.version is not None or self._peer.reading.holding:
            self._peer.link.error(event.id, rpc.INVALID_REQUEST, "the connection is already initialized")
            return
        scope = self._enter(event, INITIALIZE)
        self._peer.reading.hold()
        scope.then.append(self._peer.reading.release)
        try:
            initialize(event.params, scope)
        except rpc.RpcError as error:
            self.refuse(scope, error.code, error.message, error.data)

    # --- the handlers -------------------------------------------------------------------------------------------------

    def dispatch(self, method: Request[Any, Any], params: Any, scope: Scope) -> None:
        """Admit a request in the inner vocabulary and start its handler."""
        scope.method = method
        entry = self.handlers.get(method.name)
        if entry is None:
            name = scope.wire.name
            self._fail(scope, rpc.RpcError(rpc.METHOD_NOT_FOUND, f"Method not found: {name}", {"method": name}))
            return
        _, handler, admit = entry
        if admit is not None:
            try:
                admit(params, scope)
            except rpc.RpcError as error:
                self._fail(scope, error)
                return
            except Exception as error:
                self._fail(scope, _handler_error(scope, error))
                return
        scope.task = self.track(self._run(handler, params, scope))

    def track(self, work: Any) -> asyncio.Task[Any]:
        """Run work beside the loop, and know of it until it has ended."""
        task: asyncio.Task[Any] = self._peer.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _run(self, handler: RequestHandler, params: Any, scope: Scope) -> None:
        scope.started = True
        try:
            if scope.after is not None and not scope.after.done():
                await asyncio.wait({scope.after})
            result = await handler(params, scope)
        except asyncio.CancelledError:
            self.cancelled(scope)
            if not scope.cancelled:
                raise
        except rpc.RpcError as error:
            await self._when_room(scope, self._fail, error)
        except Exception as error:
            await self._when_room(scope, self._fail, _handler_error(scope, error))
        else:
            await self._when_room(scope, self._succeed, result)

    async def _when_room(self, scope: Scope, answer: Callable[[Scope, Any], Awaitable[None]], value: Any) -> None:
        """Answer as soon as the other side reads; a cancel that comes meanwhile is too late."""
        if scope.on_cancel is None:
            scope.on_cancel = _too_late
        # What `Peer.room` does, without one more call for each answer.
        outbound = self._peer.link.outbound
        while outbound.blocked:
            await outbound.wait_for_room()
        await answer(scope, value)

    def cancelled(self, scope: Scope) -> None:
        """Answer a request whose handler was cancelled and gave no answer of its own."""
        self._fail(scope, rpc.RpcError(REQUEST_CANCELLED, "Request cancelled"))

    # --- out ----------------------------------------------------------------------------------------------------------

    def _succeed(self, scope: Scope, result: Any) -> Awaitable[None]:
        try:
            result = codec.sendable(scope.method.result, result)
        except codec.CodecError as error:
            log.error("the handler of %s gave a result that cannot be sent: %s", scope.method.name, error)
            return self._fail(scope, rpc.RpcError(rpc.INTERNAL_ERROR, "Internal error", {"details": str(error)}))
        edge = self._peer.edge
        if edge is None:
            return self.respond(scope, result)
        try:
            steps = edge.result_out(scope, result)
        except Exception as error:
            return self._fail(scope, _handler_error(scope, error))
        return self._peer.carrying.out(steps, None)

    def _fail(self, scope: Scope, error: rpc.RpcError) -> Awaitable[None]:
        edge = self._peer.edge
        if edge is None:
            return self.refuse(scope, error.code, error.message, error.data)
        steps = edge.error_out(scope, error.code, error.message, error.data)
        return self._peer.carrying.out(steps, None)

    def respond(self, scope: Scope, result: Any) -> Awaitable[None]:
        """Send a result in the wire's vocabulary; nothing when the request has its answer."""
        if not self._leave(scope):
            return SENT
        batch = self._peer.link.engine.batch_of(scope.id)
        try:
            sent = self._peer.link.response(scope.id, result)
        except codec.CodecError as error:
            log.error("the result of %s cannot be encoded: %s", scope.wire.name, error)
            sent = self._send_error(scope, rpc.INTERNAL_ERROR, "Internal error", {"details": str(error)})
        except rpc.LimitError as error:
            self._peer.ending.abort(error)
            return SENT
        return self._answered(scope, sent, batch)

    def refuse(self, scope: Scope, code: int, message: str, data: Any = UNSET) -> Awaitable[None]:
        """Send an error answer; nothing when the request has its answer."""
        if not self._leave(scope):
            return SENT
        batch = self._peer.link.engine.batch_of(scope.id)
        return self._answered(scope, self._send_error(scope, code, message, data), batch)

    def _send_error(self, scope: Scope, code: int, message: str, data: Any) -> Awaitable[None]:
        try:
            return self._peer.link.error(scope.id, code, message, data)
        except codec.CodecError:
            log.error("the data of an error of %s cannot be encoded", scope.wire.name)
            return self._send_error(scope, code, message, UNSET)
        except rpc.LimitError as error:
            self._peer.ending.abort(error)
            return SENT

    def _leave(self, scope: Scope) -> bool:
        """Take a scope out of the books; False when it has its answer already or nobody can read one."""
        if scope.answered:
            return False
        scope.answered = True
        self._scopes.pop(scope.id, None)
        return self._peer.closed_reason is None

    def _answered(self, scope: Scope, sent: Awaitable[None], batch: Batch | None) -> Awaitable[None]:
        for then in scope.then:
            then()
        following = scope.on_sent
        if batch is not None:
            following = self._following.setdefault(batch, [])
            following += scope.on_sent
            if sent is WITHHELD:
                return sent
            del self._following[batch]
        for follow in following:
            follow()
        return sent

    def cancel_all(self) -> None:
        """The connection is closed: nobody waits for an answer any more."""
        for scope in list(self._scopes.values()):
            scope.cancel()
            if scope.task is not None:
                # It may wait for its place behind a request that is not answered any more.
                scope.task.cancel()


def _handler_error(scope: Scope, error: Exception) -> HandlerError:
    log.error("the handler of %s failed", scope.method.name, exc_info=error)
    return HandlerError(error)


def _too_late() -> None:
    """What a cancel does once the answer is fixed."""
