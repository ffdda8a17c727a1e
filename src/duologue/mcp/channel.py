"""One MCP connection that passes through ACP, as a channel of JSON-RPC messages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import UNSET

from duologue.errors import DuologueError
from duologue.jsonrpc.errors import INTERNAL_ERROR, RpcError
from duologue.mcp.errors import ChannelClosed
from duologue.peer import ConnectionClosed
from duologue.peer.bell import Bell
from duologue.peer.errors import REQUEST_CANCELLED
from duologue.protocol.common.mcp import MessageMcpNotification, MessageMcpRequest
from duologue.protocol.common.table import MCP_MESSAGE, MCP_MESSAGE_NOTIFICATION

if TYPE_CHECKING:
    from duologue.peer import Peer

log = logging.getLogger("duologue.mcp")

#: A message as MCP writes it: an object with `jsonrpc`, and `id`, `method`, `params`, `result` or `error`.
McpMessage: TypeAlias = dict[str, Any]

CANCELLED = "notifications/cancelled"


class McpChannel:
    """Sends and receives the JSON-RPC messages of one MCP connection; either side of it looks the same.

    ACP carries requests and notifications under ids of its own, so this gives each request that comes in an id that is
    unique in the channel, and each answer the id that its request had here. A `notifications/cancelled` for an open
    request becomes ACP's `$/cancel_request` and back; its answer is not waited for. Messages come in the order of the
    wire, and count as undelivered until they are received.
    """

    def __init__(self, peer: Peer, connection_id: str, disconnect: Callable[[], Awaitable[None]]) -> None:
        self.connection_id = connection_id
        self._peer = peer
        self._disconnect = disconnect
        self._queue: deque[McpMessage] = deque()
        self._bell = Bell()
        # Requests of this end by its ids, and of the other end by the ids that they were given here.
        self._calls: dict[Any, asyncio.Task[None]] = {}
        self._asked: dict[str, asyncio.Future[Any]] = {}
        self._ids = 0
        self._ended = asyncio.Event()

    @property
    def closed(self) -> bool:
        """Whether the connection has ended; what came before can still be received."""
        return self._ended.is_set()

    async def wait_ended(self) -> None:
        """Wait until either side has ended the connection."""
        await self._ended.wait()

    async def send(self, message: McpMessage) -> None:
        """Send a request, a notification, or the answer to a request that was received.

        Raises `ChannelClosed`, `ValueError` (it is none of these, or its id is that of an open request).
        """
        if self.closed:
            raise ChannelClosed("the MCP connection is closed")
        match message:
            case {"method": str(method), "id": str() | int() as id}:
                await self._request(id, method, _params(message))
            case {"method": str(method)} if "id" not in message:
                await self._notify(method, _params(message))
            case {"id": id, "result": result}:
                await self._answer(id, lambda asked: asked.set_result(result))
            case {"id": id, "error": {"code": int(code), "message": str(text), **more}}:
                error = RpcError(code, text, more.get("data", UNSET))
                await self._answer(id, lambda asked: _fail(asked, error))
            case _:
                raise ValueError("an MCP message is a request, a notification, a result or an error")

    async def receive(self) -> McpMessage:
        """The next message of the other side. Raises `ChannelClosed` at the end."""
        while not self._queue:
            if self.closed:
                raise ChannelClosed("the MCP connection is closed")
            await self._bell.wait()
        self._peer.inbound.delivered()
        return self._queue.popleft()

    async def __aiter__(self) -> AsyncIterator[McpMessage]:
        """The messages of the other side, up to the end."""
        with contextlib.suppress(ChannelClosed):
            while True:
                yield await self.receive()

    async def close(self) -> None:
        """End the MCP connection. What was not received is dropped, and open requests of either side fail."""
        if self.closed:
            return
        self.end()
        self.drop()
        await self._disconnect()

    async def __aenter__(self) -> McpChannel:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # --- what this end sends ------------------------------------------------------------------------------------------

    async def _request(self, id: str | int, method: str, params: Any) -> None:
        if id in self._calls:
            raise ValueError(f"the request {id!r} is open already")
        self._calls[id] = asyncio.get_running_loop().create_task(self._call(id, method, params))
        # The call is on its way when this returns, so that what is sent next comes after it.
        await asyncio.sleep(0)

    async def _call(self, id: str | int, method: str, params: Any) -> None:
        own = asyncio.current_task()

        def answer(**outcome: Any) -> None:
            # Whoever receives it may use the id again. When it is not ours any more, the request was cancelled.
            if self._calls.get(id) is own:
                del self._calls[id]
                self._put({"id": id, **outcome})

        request = MessageMcpRequest(connection_id=self.connection_id, method=method, params=params)
        try:
            await self._peer.request(MCP_MESSAGE, request, applied=lambda result: answer(result=result))
        except RpcError as error:
            data = {} if error.data is UNSET else {"data": error.data}
            answer(error={"code": error.code, "message": error.message, **data})
        except ConnectionClosed:
            self.end()
        except DuologueError as error:
            answer(error={"code": INTERNAL_ERROR, "message": str(error)})

    async def _notify(self, method: str, params: Any) -> None:
        wanted = params.get("requestId") if method == CANCELLED and isinstance(params, dict) else None
        if isinstance(wanted, str | int):
            call = self._calls.pop(wanted, None)
            if call is not None:
                call.cancel()
                return
        note = MessageMcpNotification(connection_id=self.connection_id, method=method, params=params)
        try:
            await self._peer.notify(MCP_MESSAGE_NOTIFICATION, note)
        except ConnectionClosed as error:
            self.end()
            raise ChannelClosed(str(error)) from error

    async def _answer(self, id: Any, settle: Callable[[asyncio.Future[Any]], None]) -> None:
        asked = self._asked.pop(id, None) if isinstance(id, str) else None
        if asked is None:
            log.debug("ignored an answer to no open MCP request: %r", id)
        elif not asked.done():
            settle(asked)
            # As with a call: what is sent next comes after it.
            await asyncio.sleep(0)

    # --- what the other end sends -------------------------------------------------------------------------------------

    def asked(self, method: str, params: Any) -> tuple[asyncio.Future[Any], Callable[[], None]]:
        """A request of the other side was read: pass it on under an id of this end. Its answer will be set; the
        function is for a cancel of it."""
        self._ids += 1
        id = f"acp-{self._ids}"
        answer = self._asked[id] = asyncio.get_running_loop().create_future()
        self.heard(method, params, id=id)

        def cancel() -> None:
            if self._asked.pop(id, None) is not None:
                _fail(answer, RpcError(REQUEST_CANCELLED, "Request cancelled"))
                self.heard(CANCELLED, {"requestId": id})

        return answer, cancel

    def heard(self, method: str, params: Any, **id: str) -> None:
        """A notification of the other side was read, or with an `id` a request."""
        self._put({**id, "method": method, **({"params": params} if isinstance(params, dict) else {})})

    def end(self) -> None:
        """The connection has ended: what came before can still be received, nothing more is sent."""
        if self.closed:
            return
        self._ended.set()
        calls, self._calls = self._calls, {}
        for call in calls.values():
            if call is not asyncio.current_task():
                call.cancel()
        asked, self._asked = self._asked, {}
        for answer in asked.values():
            _fail(answer, RpcError(INTERNAL_ERROR, "the MCP connection was closed"))
        self._bell.ring()

    def _put(self, message: McpMessage) -> None:
        if self.closed:
            return
        self._queue.append({"jsonrpc": "2.0", **message})
        self._peer.inbound.undelivered += 1
        self._bell.ring()

    def drop(self) -> None:
        """Forget what was not received."""
        while self._queue:
            self._queue.popleft()
            self._peer.inbound.delivered()


def _fail(answer: asyncio.Future[Any], error: RpcError) -> None:
    if not answer.done():
        answer.set_exception(error)
        # Nobody may wait for it any more, which is no reason for a complaint.
        answer.exception()


def _params(message: McpMessage) -> Any:
    params = message.get("params")
    if params is None:
        return UNSET
    if not isinstance(params, dict):
        raise ValueError("the params of an MCP message are an object")
    return params
