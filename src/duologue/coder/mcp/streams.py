"""The two streams that the MCP library reads from and writes to, fed by transports of ours.

The library's own are anyio's; these have the same methods, and no task that would have to be entered and left.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from duologue.coder.texts import scrub_all

log = logging.getLogger("duologue.coder.mcp")


class Stream:
    """What both streams have in common: the library closes them by leaving them."""

    async def aclose(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Inbox(Stream):
    """Messages on their way to the library, in order."""

    def __init__(self, taken: Callable[[], None] = lambda: None) -> None:
        self._messages: deque[SessionMessage] = deque()
        self._more = asyncio.Event()
        self._ended = False
        self._taken = taken

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: JSONRPCMessage) -> None:
        if not self._ended:
            self._messages.append(SessionMessage(message))
            self._more.set()

    def end(self) -> None:
        """There will be no more; what is there can still be read."""
        self._ended = True
        self._more.set()

    async def receive(self) -> SessionMessage | Exception:
        while not self._messages:
            if self._ended:
                raise anyio.EndOfStream
            self._more.clear()
            await self._more.wait()
        message = self._messages.popleft()
        self._taken()
        return message

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        self.end()
        self._messages.clear()


class Outbox(Stream):
    """Passes the library's messages on, each as JSON values."""

    def __init__(self, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        self._send = send

    async def send(self, item: SessionMessage, /) -> None:
        await self._send(item.message.model_dump(by_alias=True, mode="json", exclude_unset=True))


def read_line(line: bytes) -> JSONRPCMessage | None:
    """A line of a server; None for what is no message, such as a log that went to the wrong stream."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return read_message(value)


def read_message(value: Any) -> JSONRPCMessage | None:
    """A message without characters that are none, which no model takes. An answer that is not understood becomes an
    error, so that nobody waits for it."""
    try:
        return jsonrpc_message_adapter.validate_python(scrub_all(value), by_name=False)
    except (ValidationError, RecursionError):
        log.debug("a message of an MCP server is not understood")
    match value:
        case {"id": int() | str() as id} if "method" not in value:
            error = ErrorData(code=INTERNAL_ERROR, message="the server's answer is not understood")
            return JSONRPCError(jsonrpc="2.0", id=id, error=error)
    return None
