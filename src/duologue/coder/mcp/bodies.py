"""The bodies of HTTP answers on their way to the MCP library, which does not bound them wherever it reads one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator

import httpx2

from duologue.coder.limits import McpLimits
from duologue.coder.mcp.messages import clean, error_instead, excess
from duologue.errors import DuologueError

#: The line ends between two events; those of one line are never taken apart.
_EVENT_END = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE_END = re.compile(rb"\r\n|\n|\r")


class TooLong(DuologueError):
    """A body holds a message that is longer than is taken."""


class Body(httpx2.AsyncByteStream):
    """A body, message by message: an answer that holds too much is an error in its place. `over` is told of a message
    that is too long, and the body ends there with `TooLong`."""

    def __init__(self, response: httpx2.Response, limits: McpLimits, over: Callable[[str], None]) -> None:
        self._inner = response.stream
        self._events = "event-stream" in response.headers.get("content-type", "").lower()
        self._limits = limits
        self._over = over
        self._held = bytearray()
        self._searched = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._inner, httpx2.AsyncByteStream)
        async for piece in self._inner:
            self._held += piece
            if self._events:
                for event in self._whole_events():
                    yield event
            if len(self._held) > self._limits.message:
                self._over(f"it sent a message of more than {self._limits.message} bytes")
                raise TooLong
        rest = bytes(self._held)
        yield self._event(rest) if self._events else self._document(rest)

    async def aclose(self) -> None:
        assert isinstance(self._inner, httpx2.AsyncByteStream)
        await self._inner.aclose()

    def _whole_events(self) -> Iterator[bytes]:
        while found := _EVENT_END.search(self._held, self._searched):
            end = found.end()
            del found  # As long as there is a match, what was searched cannot be made shorter.
            event = bytes(self._held[:end])
            del self._held[:end]
            self._searched = 0
            yield self._event(event)
        # What was seen is not looked at again, but for an end that may have come in part.
        self._searched = max(0, len(self._held) - 3)

    def _event(self, event: bytes) -> bytes:
        if excess(event, self._limits) is None:
            return clean(event)
        lines = _LINE_END.split(event)
        data = b"\n".join(line.removeprefix(b"data:") for line in lines if line.startswith(b"data:"))
        return b"event: message\ndata: " + self._document(data) + b"\n\n"

    def _document(self, text: bytes) -> bytes:
        why = excess(text, self._limits)
        if why is None:
            return clean(text)
        error = error_instead(text, why)
        return b"" if error is None else error.model_dump_json(by_alias=True, exclude_unset=True).encode()
