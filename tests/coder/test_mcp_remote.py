"""MCP servers that are no programs of the agent: behind an address, and of the client itself."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Person, Scripted, opened, said, take_turn
from coder_kit import asks, call, says, written
from mcp_servers_kit import HERE, QUICK, data, results
from msgspec import UNSET

from duologue.coder.acp import CodingAgent
from duologue.coder.mcp.entries import Http
from duologue.coder.mcp.links import End
from duologue.coder.mcp.links import _client as client_of
from duologue.mcp import McpChannel, Tool, ToolServer
from duologue.protocol.common.mcp import HttpHeader
from duologue.protocol.v1.mcp import SseMcpServer
from duologue.protocol.v2.mcp import HttpMcpServer
from duologue.testing import connected


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@asynccontextmanager
async def serving(kind: str, folder: Path) -> AsyncIterator[str]:
    """The official server at an address of this machine."""
    file = folder / "address"
    command = [sys.executable, str(HERE / "mcp_official.py"), kind, str(file)]
    process = await asyncio.create_subprocess_exec(*command)
    try:
        while not file.exists():
            assert process.returncode is None
            await asyncio.sleep(0.02)
        yield await written(file)
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def answering(status: bytes, *lines: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """An address that answers each request so, and what was asked there."""
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(
            b"\r\n".join([b"HTTP/1.1 " + status, *lines, b"content-length: 0", b"connection: close", b"", b""])
        )
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", asked


@pytest.mark.req("v1-mcp-05")
async def test_what_can_be_reached_is_announced(tmp_path: Path, protocol: int) -> None:
    async with opened(tmp_path, protocol=protocol) as (session, _, _models):
        capabilities = session.connection.capabilities
        assert capabilities.session
        mcp = capabilities.session.mcp
        assert mcp and mcp.stdio is not UNSET and mcp.http is not UNSET and mcp.acp is not UNSET
        if protocol == 1:
            assert getattr(session.connection.peer.said_in_v1, "sse", False)


@pytest.mark.req("all-mcp-02", "all-mcp-03")
async def test_a_server_behind_http_gets_its_headers_and_is_called(tmp_path: Path, protocol: int) -> None:
    async with serving("http", tmp_path) as url:
        headers = [HttpHeader(name="Authorization", value="Bearer abc-123"), HttpHeader(name="X-Team", value="blue")]
        servers = [HttpMcpServer(name="web", url=url, headers=headers)]
        steps = [asks(call("web__echo", "c1", text="far"), call("web__asked", "c2")), says("done")]
        async with opened(tmp_path, *steps, protocol=protocol, servers=servers, mcp_limits=QUICK) as (
            session,
            _,
            models,
        ):
            await take_turn(session)
            echo, asked = results(models)
            assert echo.text == "far"
            assert all((each["authorization"], each["x-team"]) == ("Bearer abc-123", "blue") for each in data(asked))
            assert said(session) == ["done"]


async def test_a_server_behind_sse_is_called(tmp_path: Path) -> None:
    async with serving("sse", tmp_path) as url:
        headers = [HttpHeader(name="X-Team", value="blue")]
        servers: list[Any] = [SseMcpServer(name="old", url=url, headers=headers)]
        steps = [asks(call("old__echo", "c1", text="far"), call("old__asked", "c2")), says("done")]
        async with opened(tmp_path, *steps, servers=servers, mcp_limits=QUICK) as (session, _, models):
            await take_turn(session)
            echo, asked = results(models)
            assert echo.text == "far"
            assert all(each["x-team"] == "blue" for each in data(asked))


async def test_a_call_over_http_is_cancelled_with_its_turn(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with serving("http", tmp_path) as url:
        steps = [asks(call("web__waits", "c1", file=str(note)))]
        servers = [HttpMcpServer(name="web", url=url)]
        async with opened(tmp_path, *steps, servers=servers, mcp_limits=QUICK) as (session, _, _models):
            turn = asyncio.create_task(take_turn(session))
            assert await written(note) == "began"
            await session.cancel()
            assert await turn == "cancelled"
            while await written(note) != "cancelled":  # noqa: ASYNC110 (another process writes it)
                await asyncio.sleep(0.01)


async def told_of(
    url: str, tmp_path: Path, *headers: tuple[str, str], kind: type[HttpMcpServer | SseMcpServer] = HttpMcpServer
) -> str:
    """What the user is told of a server at an address."""
    pairs = [HttpHeader(name=name, value=value) for name, value in headers]
    servers: list[Any] = [kind(name="web", url=url, headers=pairs)]
    async with opened(tmp_path, says("one"), servers=servers, mcp_limits=QUICK) as (session, _, _models):
        await take_turn(session)
        notice, answer = said(session)
        assert answer == "one" and "the MCP server `web`" in notice
        return notice


async def test_an_address_that_refuses_is_told_without_secrets(tmp_path: Path) -> None:
    async with answering(b"401 Unauthorized") as (url, asked):
        told = await told_of(f"{url}?key=s3cr3t-query", tmp_path, ("Authorization", "Bearer s3cr3t-header"))
        assert asked and b"s3cr3t-header" in asked[0]
    assert "HTTP status 401" in told and url in told and "s3cr3t" not in told


@pytest.mark.parametrize("kind", [HttpMcpServer, SseMcpServer])
async def test_one_that_does_not_allow_the_first_request_is_told(
    tmp_path: Path, kind: type[HttpMcpServer | SseMcpServer]
) -> None:
    async with answering(b"405 Method Not Allowed") as (url, _):
        told = await told_of(url, tmp_path, kind=kind)
    assert "it answered with HTTP status 405" in told


async def test_nobody_at_an_address_is_told(tmp_path: Path) -> None:
    async with answering(b"200 OK") as (url, _):
        pass
    assert "cannot be reached" in await told_of(url, tmp_path)


async def test_a_redirect_to_another_place_is_not_followed(tmp_path: Path) -> None:
    async with answering(b"200 OK") as (other, seen):
        async with answering(b"307 Temporary Redirect", b"location: " + other.encode()) as (url, asked):
            told = await told_of(url, tmp_path, ("X-Key", "s3cr3t-header"))
            assert asked
        assert not seen
    assert "HTTP status 307" in told and "s3cr3t" not in told


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "no url", "http://", "http://[::1/x"])
async def test_what_is_no_http_address_is_told(tmp_path: Path, url: str) -> None:
    assert "no http or https URL" in await told_of(url, tmp_path)


async def test_a_header_that_is_none_is_told_without_its_value(tmp_path: Path) -> None:
    told = await told_of("http://127.0.0.1:1/", tmp_path, ("X-Key", "s3cr3t\r\nX-Other: 1"))
    assert "X-Key" in told and "s3cr3t" not in told


# --- servers of the client ------------------------------------------------------------------------------------------


async def selection(given: dict[str, Any]) -> str:
    return f"selected {given.get('what', 'nothing')}"


EDITOR = ToolServer(
    "editor",
    "1",
    [Tool(name="selection", description="What is selected.", parameters={"what": {"type": "string"}}, call=selection)],
)


@asynccontextmanager
async def lending(folder: Path, protocol: int, serve: Any, *steps: Any) -> AsyncIterator[tuple[Any, Person, Scripted]]:
    models, person = Scripted(*steps), Person()
    agent = CodingAgent(models=models, mcp_limits=QUICK)
    async with connected(agent, person, protocol=protocol) as connection:  # type: ignore[arg-type]
        server = connection.mcp.offer("editor", serve)
        yield await connection.new_session(folder, mcp_servers=[server]), person, models


async def test_a_server_of_the_client_is_called_through_the_connection(tmp_path: Path, protocol: int) -> None:
    steps = [asks(call("editor__selection", what="all")), says("done")]
    async with lending(tmp_path, protocol, EDITOR.serve, *steps) as (session, person, models):
        await take_turn(session)
        assert results(models)[0].text == "selected all"
        assert [question.title for question in person.questions] == ["editor: selection"]


async def test_a_call_of_it_is_cancelled_with_its_turn(tmp_path: Path, protocol: int) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def wait(given: dict[str, Any]) -> str:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    server = ToolServer("editor", "1", [Tool(name="wait", description="Waits.", parameters={}, call=wait)])
    async with lending(tmp_path, protocol, server.serve, asks(call("editor__wait"))) as (session, _, _models):
        turn = asyncio.create_task(take_turn(session))
        await began.wait()
        await session.cancel()
        assert await turn == "cancelled"
        await ended.wait()


async def test_one_that_ends_is_told_to_the_model_and_connected_again(tmp_path: Path, protocol: int) -> None:
    over = asyncio.Event()

    async def serve(channel: McpChannel) -> None:
        serving = asyncio.create_task(EDITOR.serve(channel))
        if not over.is_set():
            await over.wait()
            serving.cancel()
        await asyncio.wait({serving})

    def selects(id: str) -> Any:
        return asks(call("editor__selection", id))

    async with lending(tmp_path, protocol, serve, says("one")) as (session, _, models):
        await take_turn(session)
        over.set()
        models.model.steps = [selects("c1"), selects("c2"), says()]
        await take_turn(session)
        one, two = results(models)
        assert not one.ok and "call it once more" in one.text
        assert two.text == "selected nothing"


async def test_what_was_answered_since_is_no_reason_for_the_end() -> None:
    end = End()
    async with (
        answering(b"500 Internal Server Error") as (bad, _),
        answering(b"200 OK") as (good, _),
        client_of(Http("web", bad), QUICK, end) as client,
    ):
        await client.post(bad)
        await client.delete(good)
        assert end.how == "it answered with HTTP status 500"
        await client.post(good)
        assert end.how == ""
