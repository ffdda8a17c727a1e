"""An MCP server behind an address of this machine, without a library: what answers a call is written down bytes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from coder_kit import call

#: Writes the answer to a call: the status line, the head and the body, of the request's id.
Answer = Callable[[bytes, asyncio.StreamWriter], Any]

ECHO = call("web__echo", "last")
OF_METHOD: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "web", "version": "1"},
    },
    "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("does", "echo")]},
    "tools/call": {"content": [{"type": "text", "text": "well"}]},
}


def head(kind: str, *more: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", f"content-type: {kind}", "connection: close", *more, "", ""]).encode()


def event(data: bytes) -> bytes:
    return b"event: message\ndata: " + data + b"\n\n"


async def repeat(writer: asyncio.StreamWriter, first: bytes, piece: bytes) -> None:
    """Write without an end, until nobody reads any more."""
    writer.write(first)
    while True:
        writer.write(piece)
        await writer.drain()


class Web:
    """Serves one request a connection. `does` is how the tool of that name answers; `heeds` says whether answers of the
    client are answered. With `sse` all messages go over one stream of events, as in the older transport. With `session`
    it names a session, so that the client asks for a stream of events and ends the session: both are refused with 405,
    as a server may."""

    def __init__(self, does: Answer, *, heeds: bool = True, sse: bool = False, session: bool = False) -> None:
        self._does = does
        self._heeds = heeds
        self._more = ["mcp-session-id: s1"] if session else []
        self._sse = sse
        self._stream: asyncio.StreamWriter | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).lower()
        if asked.startswith((b"get", b"delete")):
            await self._open(reader, writer)
            return
        length = int(asked.partition(b"content-length:")[2].split()[0])
        message = json.loads(await reader.readexactly(length))
        if "method" not in message and not self._heeds:
            await asyncio.sleep(600)
        if "id" not in message or "method" not in message:
            writer.write(b"HTTP/1.1 202 Accepted\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            return
        if self._sse:
            writer.write(b"HTTP/1.1 202 Accepted\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            writer.close()
        id = json.dumps(message["id"]).encode()
        if (message.get("params") or {}).get("name") == "does":
            await self._does(id, self._stream or writer)
            return
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": OF_METHOD.get(message["method"], {})}
        if self._stream is not None:
            self._stream.write(event(json.dumps(answer).encode()))
        else:
            writer.write(head("application/json", *self._more) + json.dumps(answer).encode())

    async def _open(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._sse:
            writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            return
        self._stream = writer
        writer.write(head("text/event-stream") + b"event: endpoint\ndata: /messages\n\n")
        await reader.read()


@asynccontextmanager
async def web(does: Answer, **more: bool) -> AsyncIterator[str]:
    """The address of such a server."""
    serving: set[asyncio.Task[None]] = set()
    one = Web(does, **more)

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(one.serve(reader, writer)))

    listening = await asyncio.start_server(begin, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp"
    finally:
        listening.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
