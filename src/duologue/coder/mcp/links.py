"""The ways to reach an MCP server. Each is entered and left by one task; it gives a stream to read and one to write."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from duologue.coder.limits import McpLimits
from duologue.coder.mcp.bodies import Body
from duologue.coder.mcp.entries import Entry, Http, Lent, Sse, Stdio, split
from duologue.coder.mcp.streams import Inbox, Outbox
from duologue.errors import DuologueError
from duologue.local.hosts import is_this_machine
from duologue.mcp import ChannelClosed
from duologue.transports.base import Closed, TransportError
from duologue.transports.spawn import SpawnTransport

if TYPE_CHECKING:
    # Private there, and for the type checker alone: where it moves, nothing stops working.
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    Streams: TypeAlias = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]

# What goes wrong is told to the user, by us. The library's log would hold messages and addresses as they are.
for name in ("mcp", "client"):
    logging.getLogger(name).setLevel(logging.CRITICAL)

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class LinkError(DuologueError):
    """A server cannot be reached; the text says why, and may hold secrets."""


class End:
    """How the connection to a server ended, once it has, or why it would; `stderr` is the last of what a program wrote
    there."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.how = ""
        self.stderr = ""

    def tell(self, how: str, stderr: str = "") -> None:
        """It has ended like this; what was told first counts."""
        if not self.event.is_set():
            self.how, self.stderr = how, stderr
            self.event.set()

    def suspect(self, how: str) -> None:
        """Should it end, then this is why, unless something else is told; nothing is known where `how` is empty."""
        if not self.event.is_set():
            self.how = how


def link(entry: Entry, cwd: Path, limits: McpLimits, end: End) -> AbstractAsyncContextManager[Streams]:
    """The way to a server. Entering it raises `LinkError`, or what the library raises."""
    match entry:
        case Stdio():
            return _stdio(entry, cwd, limits, end)
        case Sse():
            return _sse(entry, limits, end)
        case Http():
            return _http(entry, limits, end)
        case Lent():
            return _lent(entry, limits, end)
    raise LinkError(entry.why)


# --- programs ---------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _stdio(entry: Stdio, cwd: Path, limits: McpLimits, end: End) -> AsyncIterator[Streams]:
    """Its environment is an allow-list and the entry's own; it ends with us, however we end."""
    try:
        program = SpawnTransport(
            [entry.command, *entry.args], cwd=cwd, env=dict(entry.env), grace_seconds=limits.stop_seconds
        )
        lines = Lines(program, limits, end)
        await program.start(lines)
    except (TransportError, ValueError) as error:
        raise LinkError(str(error)) from None

    async def send(item: SessionMessage) -> None:
        if end.event.is_set():
            raise anyio.ClosedResourceError
        waiting = program.buffered()
        if waiting > limits.unread:
            lines.over(f"it does not read what it is sent: {waiting} bytes wait")
            raise anyio.ClosedResourceError
        program.write(json.dumps(as_json(item)).encode() + b"\n")

    try:
        yield Inbox(lines.following, limits), Outbox(send, limits, lines.over)
    finally:
        await program.close()


class Lines:
    """Cuts what a program writes into lines, and stops to read while many wait."""

    def __init__(self, program: SpawnTransport, limits: McpLimits, end: End) -> None:
        self._program = program
        self._limits = limits
        self._end = end
        self._rest = bytearray()
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._more = asyncio.Event()
        self._ended = False
        self._paused = False

    def data_received(self, data: bytes) -> None:
        if self._ended:
            return
        first, *others = data.split(b"\n")
        self._rest += first
        for line in others:
            self._put(bytes(self._rest))
            self._rest[:] = line
        if len(self._rest) > self._limits.message:
            self.over(f"it sent a message of more than {self._limits.message} bytes")
        elif not self._paused and self._is_full(self._limits.waiting, self._limits.message):
            self._paused = True
            self._program.pause_reading()

    def _put(self, line: bytes) -> None:
        if len(line) > self._limits.message:
            self.over(f"it sent a message of more than {self._limits.message} bytes")
        elif not self._ended and line.lstrip()[:1] == b"{":
            self._lines.append(line)
            self._bytes += len(line)
            self._more.set()

    async def following(self) -> bytes | None:
        """The next line that may be a message; None at the end."""
        while not self._lines:
            if self._ended:
                return None
            self._more.clear()
            await self._more.wait()
        line = self._lines.popleft()
        self._bytes -= len(line)
        if self._paused and not self._is_full(self._limits.waiting // 2, self._limits.message // 2):
            self._paused = False
            self._program.resume_reading()
        return line

    def _is_full(self, lines: int, size: int) -> bool:
        return len(self._lines) > lines or self._bytes > size

    def connection_lost(self, reason: Closed) -> None:
        how = f"was ended by {reason.signal}" if reason.signal else f"ended with exit code {reason.exit_code}"
        known = reason.signal or reason.exit_code is not None
        self.over(f"it {how}" if known else "it closed its output", reason.stderr_tail)

    def over(self, how: str, stderr: str = "") -> None:
        """Nothing more is read; what was read before can still be taken."""
        self._end.tell(how, stderr)
        self._ended = True
        self._rest.clear()
        self._more.set()

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


def as_json(item: SessionMessage) -> dict[str, Any]:
    """A message of the library as JSON values."""
    return item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)


# --- addresses --------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _http(entry: Http, limits: McpLimits, end: End) -> AsyncIterator[Streams]:
    """A redirect is followed within the server's own origin alone: that is the library's rule."""
    # An event comes to the library when all of it is there: `Body` bounds it.
    async with (
        _client(entry, limits, end) as client,
        streamable_http_client(entry.url, http_client=client, max_sse_event_size=None) as (read, write),
    ):
        yield read, Outbox(write.send, limits, end.tell, write.aclose)


@asynccontextmanager
async def _sse(entry: Sse, limits: McpLimits, end: End) -> AsyncIterator[Streams]:
    def client(headers: object = None, timeout: object = None, auth: object = None) -> httpx2.AsyncClient:
        return _client(entry, limits, end)

    async with sse_client(entry.url, httpx_client_factory=client) as (read, write):
        yield read, Outbox(write.send, limits, end.tell, write.aclose)


def _client(entry: Http, limits: McpLimits, end: End) -> httpx2.AsyncClient:
    """Without a limit on silence: a call has its own. What is compressed is not taken: it may become any size. Raises
    `LinkError`."""

    async def look(response: httpx2.Response) -> None:
        if (response.is_error and not _is_lacking(entry, response)) or response.has_redirect_location:
            end.suspect(f"it answered with HTTP status {response.status_code}")
        elif response.request.method == "POST":
            # It answers again. (The request that ends a session is no POST, and takes nothing back.)
            end.suspect("")
        if response.headers.pop("content-encoding", "identity").lower() != "identity":
            end.tell("it compressed its answer, which was not asked for")
            raise LinkError(end.how)
        response.stream = Body(response, limits, end.tell)

    return httpx2.AsyncClient(
        headers=[("accept-encoding", "identity"), *_headers(entry)],
        timeout=httpx2.Timeout(30, read=None),
        trust_env=not is_this_machine(_address(entry)),
        event_hooks={"response": [look]},
    )


def _is_lacking(entry: Http, response: httpx2.Response) -> bool:
    """Whether a server says that it has no stream besides its answers, or ends no session: it need not."""
    return (
        not isinstance(entry, Sse)
        and response.request.method != "POST"
        and response.status_code == httpx2.codes.METHOD_NOT_ALLOWED
    )


def _headers(entry: Http) -> list[tuple[str, str]]:
    for header, value in entry.headers:
        if not _HEADER.fullmatch(header) or not value.isascii() or not (value.isprintable() or not value):
            raise LinkError(f"the header {header!r} is none: it holds characters that a header cannot have")
    return list(entry.headers)


def _address(entry: Http) -> str:
    """The host of the server. Raises `LinkError`."""
    parts = split(entry.url)
    if parts is not None and parts.scheme in ("http", "https") and parts.hostname:
        return parts.hostname
    raise LinkError("its address is no http or https URL")


# --- the client itself ------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _lent(entry: Lent, limits: McpLimits, end: End) -> AsyncIterator[Streams]:
    """Through the ACP connection."""
    async with await entry.connect() as channel:

        async def following() -> bytes | None:
            # As a text again: so it is bounded and read as what any other server sends.
            try:
                return json.dumps(await channel.receive()).encode()
            except ChannelClosed:
                end.tell("the client has closed the connection to it")
                return None

        async def send(item: SessionMessage) -> None:
            try:
                await channel.send(as_json(item))
            except ChannelClosed:
                raise anyio.ClosedResourceError from None

        yield Inbox(following, limits), Outbox(send, limits, end.tell)
