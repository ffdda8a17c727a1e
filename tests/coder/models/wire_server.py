"""A local server that speaks the real streaming formats of OpenAI chat completions and Anthropic messages.

Tests script what it answers, one reply per request, and read what was asked. The path asked for decides the format.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Call:
    """A tool call whose arguments arrive in the given pieces of JSON text."""

    id: str
    name: str
    arguments: Sequence[str]


@dataclass(frozen=True)
class Answer:
    """One streamed answer. `pause` waits between its events; `until` sends only so many of them, then acts."""

    thought: Sequence[str] = ()
    text: Sequence[str] = ()
    calls: Sequence[Call] = ()
    signature: str = "c2lnbmF0dXJl"
    redacted: str | None = None
    finish: str | None = None
    usage: Mapping[str, Any] | None = None
    pause: float = 0.0
    until: int | None = None
    then: str = "end"
    """After `until` events: "hang" keeps the connection silent, "drop" breaks it, "end" ends the body cleanly."""


@dataclass(frozen=True)
class Fail:
    """An HTTP error in place of an answer."""

    status: int
    body: str | Mapping[str, Any] = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """A stream with exactly these bytes as its body."""

    body: bytes


@dataclass(frozen=True)
class Hang:
    """Nothing at all, until the client goes away."""


Reply = Answer | Fail | Raw | Hang


@dataclass
class Asked:
    """A request the server got; `gone` is set when the client closed the connection before the reply was whole."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    streaming: asyncio.Event = field(default_factory=asyncio.Event)

    async def left(self) -> None:
        """Returns when the client has closed the connection; raises TimeoutError when it does not."""
        async with asyncio.timeout(10):
            await self.gone.wait()


class Dropped(Exception):
    """The server itself broke the connection, as scripted."""


class WireServer:
    """Serves scripted replies on a local port; the last one is repeated when the script is over."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.asked: list[Asked] = []
        self.connections = 0
        self.clients: list[Callable[[], Awaitable[None]]] = []
        """Closed with the server, so that no idle connection is left."""
        self._arrived = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> WireServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for close in self.clients:
            await close()
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def request(self, number: int) -> Asked:
        """The request of that number (from 0), as soon as it has arrived."""
        async with self._arrived, asyncio.timeout(20):
            await self._arrived.wait_for(lambda: len(self.asked) > number)
        return self.asked[number]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections += 1
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            while (asked := await _read_request(reader)) is not None:
                await self._reply(asked, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, Dropped):
            pass  # the client went away, which `gone` has noted where a test cares, or the server is closing
        finally:
            writer.close()

    async def _reply(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        async with self._arrived:
            self.asked.append(asked)
            self._arrived.notify_all()
        sending = asyncio.ensure_future(self._send(reply, asked, writer))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
                return
            asked.gone.set()
            raise ConnectionResetError("the client closed the connection")
        except ConnectionError:
            asked.gone.set()  # a write may notice it before the read does
            raise
        finally:
            sending.cancel()
            leaving.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, reply: Reply, asked: Asked, writer: asyncio.StreamWriter) -> None:
        match reply:
            case Hang():
                await asyncio.Event().wait()
            case Fail():
                body = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
                kind = "text/html" if body.startswith("<") else "application/json"
                headers = {"content-type": kind, "content-length": str(len(body.encode())), **reply.headers}
                await _write(writer, _head(reply.status, headers) + body.encode())
            case Raw(body):
                await _write(writer, _head(200, _STREAM) + _chunk(body) + _LAST_CHUNK)
            case Answer():
                await self._stream(reply, asked, writer)

    async def _stream(self, answer: Answer, asked: Asked, writer: asyncio.StreamWriter) -> None:
        write = _anthropic if asked.path.endswith("/messages") else _openai
        events = write(answer, asked.body["model"])
        await _write(writer, _head(200, _STREAM))
        sent = 0
        async for event in events:
            if answer.until is not None and sent >= answer.until:
                break
            await _write(writer, _chunk(event))
            sent += 1
            asked.streaming.set()
            await asyncio.sleep(answer.pause)
        if answer.then == "hang":
            await asyncio.Event().wait()
        if answer.then == "drop":
            writer.transport.abort()
            raise Dropped
        await _write(writer, _LAST_CHUNK)


_STREAM = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
_LAST_CHUNK = b"0\r\n\r\n"


async def _read_request(reader: asyncio.StreamReader) -> Asked | None:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:]) if name}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(lines[0].split()[1].partition("?")[0], headers, json.loads(body or b"{}"))


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def _openai(answer: Answer, model: str) -> AsyncIterator[bytes]:
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _data({**base, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in answer.thought:
        yield chunk({"reasoning_content": piece})
    for piece in answer.text:
        yield chunk({"content": piece})
    for index, call in enumerate(answer.calls):
        named = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield chunk({"tool_calls": [named]})
        for piece in call.arguments:
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    if answer.finish != "none":
        yield chunk({}, answer.finish or ("tool_calls" if answer.calls else "stop"))
    usage = answer.usage or {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    yield _data({**base, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


async def _anthropic(answer: Answer, model: str) -> AsyncIterator[bytes]:
    usage = {"input_tokens": 100, "output_tokens": 1, **(answer.usage or {})}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []}
    yield _event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
    for index, (block, deltas) in enumerate(_blocks(answer)):
        yield _event("content_block_start", index=index, content_block=block)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    reason = answer.finish or ("tool_use" if answer.calls else "end_turn")
    output = {"output_tokens": usage.get("final_output_tokens", 20)}
    yield _event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=output)
    yield _event("message_stop")


def _blocks(answer: Answer) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if answer.thought:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in answer.thought]
        deltas.append({"type": "signature_delta", "signature": answer.signature})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if answer.redacted:
        blocks.append(({"type": "redacted_thinking", "data": answer.redacted}, []))
    if answer.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in answer.text]))
    for call in answer.calls:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in call.arguments]
        blocks.append(({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas))
    return blocks


def _data(value: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
