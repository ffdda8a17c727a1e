"""MCP servers behind an address that send or ask too much: that call fails or that server is ended."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import Any

import pytest
from acp_kit import opened, take_turn
from coder_kit import asks, call, says
from mcp_servers_kit import QUICK, results
from mcp_web_kit import ECHO, Answer, event, head, repeat, web
from msgspec.structs import replace

from duologue.protocol.v1.mcp import SseMcpServer
from duologue.protocol.v2.mcp import HttpMcpServer

LIMITS = replace(QUICK, message=300_000, values=2000, unsent=20, restarts=0)
JSON, EVENTS = head("application/json"), head("text/event-stream")


def result(id: bytes, content: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":' + id + b',"result":{"content":[' + content + b"]}}"


def text(of: bytes) -> bytes:
    return b'{"type":"text","text":"' + of + b'"}'


def full(id: bytes) -> bytes:
    return result(id, b",".join([text(b"x")] * 2000))


def deep(id: bytes) -> bytes:
    return result(id, b'{"type":"text","text":"x","_meta":{"a":' + b"[" * 180 + b"]" * 180 + b"}}")


def in_pieces(body: bytes, size: int) -> Answer:
    """Each piece of an event alone, at a line end and in the middle of one."""

    async def does(id: bytes, writer: asyncio.StreamWriter) -> None:
        whole = body.replace(b"ID", id)
        for start in range(0, len(whole), size):
            writer.write(whole[start : start + size])
            await writer.drain()
            await asyncio.sleep(0)

    return does


def whole(begin: bytes, made: Any, *, wrap: Any = bytes) -> Answer:
    async def does(id: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(begin + wrap(made(id)))

    return does


async def called(tmp_path: Path, server: Any, limits: Any = LIMITS) -> list[Any]:
    """What a call of the tool gave, and one after it."""
    steps = [asks(call("web__does", "c1"), ECHO), says()]
    async with opened(tmp_path, *steps, servers=[server], mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        return results(models)


@pytest.mark.parametrize("begin", [JSON, EVENTS], ids=["json", "events"])
@pytest.mark.parametrize(("made", "why"), [(full, "more than 2000 values"), (deep, "deeper than 150 levels")])
async def test_an_answer_that_holds_too_much_fails_its_call_alone(
    tmp_path: Path, begin: bytes, made: Any, why: str
) -> None:
    wrap = event if begin is EVENTS else bytes
    async with web(whole(begin, made, wrap=wrap)) as url:
        told, echo = await called(tmp_path, HttpMcpServer(name="web", url=url))
    assert not told.ok and why in told.text
    assert echo.text == "well"


async def test_it_fails_its_call_alone_over_the_older_transport(tmp_path: Path) -> None:
    async with web(whole(b"", full, wrap=event), sse=True) as url:
        told, echo = await called(tmp_path, SseMcpServer(name="web", url=url, headers=[]))
    assert not told.ok and "more than 2000 values" in told.text
    assert echo.text == "well"


@pytest.mark.parametrize(
    ("first", "piece", "sse"),
    [(JSON, b" " * 1000, False), (EVENTS, b"data: " + b"x" * 1000 + b"\n", False), (b"", b"data: x\r\n" * 100, True)],
    ids=["json", "events", "the older transport"],
)
async def test_a_message_without_an_end_ends_the_connection(
    tmp_path: Path, first: bytes, piece: bytes, sse: bool
) -> None:
    async def does(id: bytes, writer: asyncio.StreamWriter) -> None:
        await repeat(writer, first, piece)

    kind = SseMcpServer if sse else HttpMcpServer
    async with web(does, sse=sse) as url:
        told, _ = await called(tmp_path, kind(name="web", url=url, headers=[]))
    assert not told.ok and "a message of more than 300000 bytes" in told.text


@pytest.mark.parametrize("endless", [True, False])
async def test_a_server_without_further_streams_is_not_blamed_for_that(tmp_path: Path, endless: bool) -> None:
    """It refuses to open one, and to end a session, with a status that says no more than that."""

    async def does(id: bytes, writer: asyncio.StreamWriter) -> None:
        if endless:
            await repeat(writer, JSON, b" " * 1000)

    async with web(does, session=True) as url:
        told, _ = await called(tmp_path, HttpMcpServer(name="web", url=url))
    why = "a message of more than 300000 bytes" if endless else "the connection to it has ended"
    assert why in told.text and "405" not in told.text


async def test_what_is_compressed_is_not_unpacked(tmp_path: Path) -> None:
    """A few bytes may become any number of them."""
    begin = head("application/json", "content-encoding: gzip")
    async with web(whole(begin, lambda id: gzip.compress(result(id, text(b"x" * 200_000))))) as url:
        told, _ = await called(tmp_path, HttpMcpServer(name="web", url=url))
    assert not told.ok and "compressed" in told.text


async def test_one_that_asks_and_does_not_take_the_answers_is_ended(tmp_path: Path) -> None:
    """The library had a task wait for each of them, without end."""

    async def does(id: bytes, writer: asyncio.StreamWriter) -> None:
        await repeat(writer, EVENTS, event(b'{"jsonrpc":"2.0","id":1,"method":"ping"}') * 10)

    async with web(does, heeds=False) as url:
        told, _ = await called(tmp_path, HttpMcpServer(name="web", url=url))
    assert not told.ok and "does not take what it is sent: 20 messages wait" in told.text


@pytest.mark.parametrize("begin", [JSON, EVENTS], ids=["json", "events"])
async def test_what_is_no_text_does_no_harm(tmp_path: Path, begin: bytes) -> None:
    wrap = event if begin is EVENTS else bytes
    async with web(whole(begin, lambda id: result(id, text(b"a\\ud800\xffb")), wrap=wrap)) as url:
        told, echo = await called(tmp_path, HttpMcpServer(name="web", url=url))
    assert told.text == "a\ufffd\ufffdb"
    assert echo.text == "well"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_events_are_whole_however_they_come(tmp_path: Path, end: bytes, size: int) -> None:
    """Each of them holds less than a message may; all of them together hold more."""
    noise = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":[1,2,3,4,5,6]}}'
    body = b"".join(event(noise) for _ in range(4)) + event(result(b"ID", text(b"seen")))
    limits = replace(LIMITS, values=20)
    async with web(in_pieces(EVENTS + body.replace(b"\n", end), size)) as url:
        told, _ = await called(tmp_path, HttpMcpServer(name="web", url=url), replace(limits, message=400))
    assert told.text == "seen"
