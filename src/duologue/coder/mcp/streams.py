"""The two streams that the MCP library reads from and writes to, fed by transports of ours.

The library's own are anyio's; these have the same methods, and no task that would have to be entered and left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import anyio
from mcp.shared.message import SessionMessage

from duologue.coder.limits import McpLimits
from duologue.coder.mcp.messages import read_message


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
    """Messages on their way to the library, in order; `following` gives the text of each, None at the end."""

    def __init__(self, following: Callable[[], Awaitable[bytes | None]], limits: McpLimits) -> None:
        self._following = following
        self._limits = limits

    async def receive(self) -> SessionMessage | Exception:
        while (text := await self._following()) is not None:
            # However many wait: between two of them the loop serves others, and what the last one began is done.
            await asyncio.sleep(0)
            message = read_message(text, self._limits)
            if message is not None:
                return SessionMessage(message)
        raise anyio.EndOfStream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class Outbox(Stream):
    """Passes the library's messages on. The library starts a task for each answer, so a server that asks and does not
    take the answers would have ever more of them wait: `full` is called instead when `unsent` messages do."""

    def __init__(
        self,
        send: Callable[[SessionMessage], Awaitable[None]],
        limits: McpLimits,
        full: Callable[[str], None],
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._send = send
        self._limits = limits
        self._full = full
        self._close = close
        self._waiting = 0

    async def send(self, item: SessionMessage, /) -> None:
        if self._waiting >= self._limits.unsent:
            self._full(f"it does not take what it is sent: {self._waiting} messages wait")
            raise anyio.ClosedResourceError
        self._waiting += 1
        try:
            await self._send(item)
        finally:
            self._waiting -= 1

    async def aclose(self) -> None:
        if self._close is not None:
            await self._close()
