"""The small MCP server of tools: each of its methods, its refusals, and work that is cancelled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_kit import Pair, joined, note, request, within

from duologue.client.mcp import McpServers
from duologue.mcp import McpChannel, McpMessage, McpToolError, Tool, ToolServer
from duologue.mcp.tools import REVISIONS

STRING, NUMBER = {"type": "string"}, {"type": "integer", "minimum": 0}


class Kit:
    """A tool that echoes, one that waits, and one that is broken."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.log: list[str] = []
        self.server = ToolServer(
            "kit",
            "1.2",
            [
                Tool(
                    name="echo",
                    description="Says it again.",
                    parameters={"text": STRING, "times": NUMBER},
                    required=["text"],
                    call=self.echo,
                    hints={"readOnlyHint": True},
                ),
                Tool(name="wait", description="Waits.", parameters={"on": {"type": "boolean"}}, call=self.wait),
                Tool(name="break", description="Breaks.", parameters={}, call=self.broken),
            ],
        )

    async def echo(self, given: dict[str, Any]) -> str:
        if given["text"] == "nothing":
            raise McpToolError("there is nothing to say")
        return str(given["text"]) * int(given.get("times", 1))

    async def wait(self, given: dict[str, Any]) -> str:
        self.log.append("begun")
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.log.append("cancelled")
            raise
        return "waited"

    async def broken(self, given: dict[str, Any]) -> str:
        raise ValueError("a secret of the program")


async def answer(channel: McpChannel, method: str, **params: Any) -> McpMessage:
    await channel.send(request(1, method, **params))
    return await within(channel.receive())


async def call(channel: McpChannel, name: str, **arguments: Any) -> McpMessage:
    return await answer(channel, "tools/call", name=name, arguments=arguments)


def text(said: str, failed: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], "isError": failed}


async def opened(pair: Pair, kit: Kit) -> McpChannel:
    return await pair.channel(kit.server.serve)


@pytest.mark.parametrize("revision", [*REVISIONS, "1999-01-01", None, 7])
async def test_initialize_agrees_on_a_revision(revision: Any) -> None:
    async with joined(2) as pair, await opened(pair, Kit()) as channel:
        client = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        found = await answer(channel, "initialize", **client)
        assert found["result"] == {
            "protocolVersion": revision if revision in REVISIONS else REVISIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "kit", "version": "1.2"},
        }
        await channel.send(note("notifications/initialized"))
        assert (await answer(channel, "ping"))["result"] == {}


async def test_the_list_of_tools() -> None:
    async with joined(2) as pair, await opened(pair, Kit()) as channel:
        tools = (await answer(channel, "tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["echo", "wait", "break"]
        assert tools[0] == {
            "name": "echo",
            "description": "Says it again.",
            "inputSchema": {
                "type": "object",
                "properties": {"text": STRING, "times": NUMBER},
                "required": ["text"],
            },
            "annotations": {"readOnlyHint": True},
        }
        assert (await answer(channel, "tools/list", cursor="more"))["error"]["code"] == -32602


async def test_calls_and_what_a_model_learns_from_a_wrong_one(version: int) -> None:
    async with joined(version) as pair, await opened(pair, Kit()) as channel:
        assert (await call(channel, "echo", text="a", times=3))["result"] == text("aaa")
        assert (await call(channel, "echo", text="a", times=None))["result"] == text("a")
        for arguments, problem in (
            ({"text": "nothing"}, "there is nothing to say"),
            ({}, "text is missing"),
            ({"text": None}, "text is missing"),
            ({"text": 1}, "text must be of type string"),
            ({"text": "a", "times": True}, "times must be of type integer"),
            ({"text": "a", "times": "2"}, "times must be of type integer"),
            ({"text": "a", "more": 1}, "echo has no parameter more; it has text, times"),
        ):
            assert (await call(channel, "echo", **arguments))["result"] == text(problem, failed=True)
        listed = await answer(channel, "tools/call", name="echo", arguments=["a"])
        assert listed["result"] == text("the arguments must be an object", failed=True)


async def test_refusals(caplog: pytest.LogCaptureFixture) -> None:
    async with joined(2) as pair, await opened(pair, Kit()) as channel:
        for method, params, code in (
            ("tools/call", {"name": "nobody"}, -32602),
            ("tools/call", {"name": 3}, -32602),
            ("tools/call", {}, -32602),
            ("resources/list", {}, -32601),
        ):
            assert (await answer(channel, method, **params))["error"]["code"] == code
        broken = (await call(channel, "break"))["error"]
        assert broken == {"code": -32603, "message": "Internal error: ValueError"}
        assert "a secret" in caplog.text
        await channel.send(note("notifications/unknown"))
        assert "result" in await answer(channel, "ping")


@pytest.mark.parametrize("wanted", [[], {}, None, 1.5, "none"])
async def test_a_cancel_of_nothing_does_no_harm(wanted: Any) -> None:
    async with joined(2) as pair, await opened(pair, Kit()) as channel:
        await channel.send(note("notifications/cancelled", requestId=wanted))
        assert (await answer(channel, "ping"))["result"] == {}


async def test_several_calls_at_once_and_one_cancelled() -> None:
    kit = Kit()
    async with joined(2) as pair, await opened(pair, kit) as channel:
        for id in ("slow", "cancelled"):
            await channel.send(request(id, "tools/call", name="wait", arguments={}))
        await channel.send(request("quick", "tools/call", name="echo", arguments={"text": "x"}))
        assert (await within(channel.receive()))["id"] == "quick"
        await channel.send(note("notifications/cancelled", requestId="cancelled"))
        await channel.send(request("ping", "ping"))
        assert (await within(channel.receive()))["id"] == "ping"
        kit.go.set()
        assert await within(channel.receive()) == {"jsonrpc": "2.0", "id": "slow", "result": text("waited")}
        assert kit.log == ["begun", "begun", "cancelled"]


async def test_the_end_of_the_channel_ends_the_work() -> None:
    kit = Kit()
    ended = asyncio.Event()

    async def serve(channel: McpChannel) -> None:
        await kit.server.serve(channel)
        ended.set()

    async with joined(2) as pair:
        channel = await pair.channel(serve)
        await channel.send(request(1, "tools/call", name="wait"))
        await channel.send(request(2, "ping"))
        await within(channel.receive())
        await channel.close()
        await within(ended.wait())
        assert kit.log == ["begun", "cancelled"]


def plain(given: dict[str, Any]) -> str:
    return ""


async def selection(given: dict[str, Any]) -> Any:
    return 3


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"call": plain}, "call of the tool x must be async def"),
        ({"call": None}, "call of the tool x must be async def"),
        ({"parameters": {"a": "string"}}, r"parameter a of the tool x is described by one of {'type': 'string'}"),
        ({"parameters": {"a": {"type": "list"}}}, "parameter a of the tool x is described by one of"),
        ({"required": ["a"]}, "the tool x requires 'a', which is none of its parameters"),
        ({"required": "a", "parameters": {"a": STRING}}, "required of the tool x must be given as a list, not str"),
    ],
)
def test_a_tool_that_could_not_be_called(members: dict[str, Any], problem: str) -> None:
    with pytest.raises((TypeError, ValueError), match=problem):
        Tool(**{"name": "x", "description": "", "call": selection, **members})


def test_a_tool_needs_little() -> None:
    made = Tool(name="x", description="Does it.", call=selection)
    assert made.describe()["inputSchema"] == {"type": "object", "properties": {}, "required": []}


def test_what_is_lent_is_a_function() -> None:
    with pytest.raises(TypeError, match="such as the function serve of a ToolServer, must be async def"):
        McpServers().offer("x", ToolServer("x", "1", []))  # type: ignore[arg-type]
