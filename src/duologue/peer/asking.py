"""The part of a peer that asks: requests of this side until their answers are handed to whoever waits."""

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
from duologue.peer.calls import Call
from duologue.peer.inbound import INSIDE
from duologue.peer.losses import read
from duologue.peer.outbound import SENT
from duologue.protocol.changes.steps import Ask
from duologue.protocol.method import Request
from duologue.protocol.v2 import table as v2

if TYPE_CHECKING:
    from duologue.peer.peer import Peer
    from duologue.protocol.changes.steps import Steps

log = logging.getLogger("duologue.peer")

#: Its answer may take a whole turn, so waiting for it does not keep reading open.
WHOLE_TURN = v2.SESSION_PROMPT.name


class Asking:
    """The open requests of this side. `open_calls` counts those that keep reading open until they are answered."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._link = peer.link
        self._calls: dict[int, Call] = {}
        self.open_calls = 0

    async def request(self, method: Request[Any, Any], params: Any, applied: Callable[[Any], None] | None) -> Any:
        """See `Peer.request`."""
        peer = self._peer
        edge = peer.edge
        # What `loop.create_future` makes, too, by way of one more call.
        future: asyncio.Future[Any] = asyncio.Future(loop=peer.loop)
        call = Call(method, method, future, INSIDE.get() is peer.inbound, applied)
        paced = method.name == WHOLE_TURN
        if not paced:
            self.open_calls += 1
            if peer.inbound.paused:
                peer.reading.regulate()
        try:
            if edge is None:
                sent = self.ask(call, method, params)
            else:
                steps = edge.request_out(method, params, call)
                # Most are made of one: told here without a further call.
                if len(steps) == 1 and steps[0].__class__ is Ask:
                    sent = self.ask(call, steps[0].method, steps[0].params)
                else:
                    sent = peer.carrying.out(steps, call)
            if sent is not SENT:
                await sent
            return await future
        except BaseException:
            self._abandon(call)
            raise
        finally:
            if not paced:
                self.open_calls -= 1

    def ask(self, call: Call, method: Request[Any, Any], params: Any) -> Awaitable[None]:
        """Send a call in the wire's vocabulary."""
        link = self._link
        id, line = link.engine.request(method.name, codec.encode(params))
        try:
            sent = link.send(line) if link.traced else link.outbound.send(line)
        except BaseException:
            link.engine.forget(id)
            raise
        call.id = id
        if call.wire is not method:  # To set a member of a struct takes longer than to look.
            call.wire = method
        self._calls[id] = call
        return sent

    def _abandon(self, call: Call) -> None:
        """Nobody waits for the answer any more."""
        if self._peer.edge is not None:
            self._peer.edge.forget(call)
        if call.id is None or self._calls.pop(call.id, None) is None:
            return
        self._link.engine.forget(call.id)
        if self._peer.closed_reason is None:
            with contextlib.suppress(rpc.LimitError):
                self._link.cancel_request(call.id)

    def on_response(self, event: wire.Response) -> None:
        """A result was read."""
        call = self._calls.pop(event.id, None)
        if call is None:
            return
        # Null stands for an empty object: agents answer so where there is nothing to tell.
        nothing = len(event.result) == 4 and bytes(event.result) == b"null" and call.wire.result is not Any
        data = b"{}" if nothing else event.result
        edge = self._peer.edge
        # None where the wire's result is this side's as it is.
        opened = None if edge is None else edge.memory.outbound.get(call)
        try:
            result = read(call.wire.result, data, call.wire.name, "$.result")
            raw = codec.decode(Any, data) if opened is not None and opened.takes_raw else None
        except codec.CodecError as error:
            self.fail(call, error)
            if edge is not None:
                self._peer.carrying.into(edge.error_in(call, rpc.INTERNAL_ERROR, str(error), UNSET), None)
            return
        if edge is None or opened is None:
            self.resolve(call, result)
        else:
            self._carry(call, lambda: edge.result_in(call, result, raw))

    def _carry(self, call: Call, steps: Callable[[], Steps]) -> None:
        """Hand over a result or an error that the other version says in other words."""
        try:
            self._peer.carrying.into(steps(), None)
        except rpc.LimitError:
            raise
        except Exception as error:
            log.exception("the answer to %s could not be carried over", call.method.name)
            self.fail(call, error)

    def on_error(self, event: wire.ErrorResponse | wire.OversizedResponse) -> None:
        """An error answer was read, or an answer that cannot be used."""
        call = self._calls.pop(event.id, None) if event.id is not None else None
        error, edge = event.error, self._peer.edge
        if call is None:
            log.warning("the other side reported an error that answers no open request: %s", error)
        elif edge is None:
            self.fail(call, error)
        elif isinstance(error, rpc.RpcError):
            code, message, data = error.code, error.message, error.data
            self._carry(call, lambda: edge.error_in(call, code, message, data))
        else:
            self.fail(call, error)
            self._peer.carrying.into(edge.error_in(call, rpc.INTERNAL_ERROR, str(error), UNSET), None)

    def resolve(self, call: Call, result: Any) -> None:
        """Hand a result over: applied at once, given to the caller after the handlers of what came before it."""
        if call.settled or call.future.done():
            return
        inbound = self._peer.inbound
        if call.applied is not None:
            try:
                call.applied(result)
            except Exception as error:
                log.exception("the result of %s could not be applied", call.method.name)
                call.fail(error)
                return
        elif not inbound.handling:
            self._peer.waking.succeed(call.future, result)
            return
        if call.at_once or not inbound.handling:
            call.succeed(result)
        else:
            call.settled = True
            inbound.in_order(call.succeed, result)

    def fail(self, call: Call, error: BaseException) -> None:
        """Hand an error over, in the same order as a result."""
        if call.settled or call.future.done():
            return
        if call.at_once:
            call.fail(error)
        else:
            call.settled = True
            self._peer.inbound.in_order(call.fail, error)

    def fail_all(self, error: BaseException) -> None:
        """The connection is closed: nothing will be answered any more."""
        calls, self._calls = list(self._calls.values()), {}
        for call in calls:
            self.fail(call, error)
