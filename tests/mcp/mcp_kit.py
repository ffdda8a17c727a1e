"""Two ends of one ACP connection with an MCP server between them, and either end against bare lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from duologue.agent import Agent, AgentConnection, Turn
from duologue.client import Client, ClientConnection
from duologue.mcp import McpChannel, McpMessage
from duologue.protocol.common.mcp import AcpMcpServer
from duologue.protocol.v2.capabilities import McpAcpCapabilities, McpCapabilities
from duologue.protocol.version import V1, V2
from duologue.transports.memory import memory_pair
from wire import PATIENCE, Wire

T = TypeVar("T")
Serve = Callable[[McpChannel], Awaitable[None]]


class Reaching(Agent):
    """Reaches MCP servers over ACP, and has sessions."""

    async def prompt(self, turn: Turn) -> None:
        pass

    def mcp_capabilities(self) -> McpCapabilities:
        return McpCapabilities(acp=McpAcpCapabilities())


class Pair:
    """An agent and a client that lends servers to it."""

    def __init__(self, agent: AgentConnection, client: ClientConnection) -> None:
        self.agent = agent
        self.client = client

    async def channel(self, serve: Serve, name: str = "s") -> McpChannel:
        """The agent's end of a new connection to a server."""
        return await within(self.agent.mcp.connect(self.client.mcp.offer(name, serve)))


@asynccontextmanager
async def joined(version: int, client: Client | None = None) -> AsyncIterator[Pair]:
    here, there = memory_pair()
    pair = Pair(AgentConnection(Reaching()), ClientConnection(client or Client()))
    await pair.agent.start(there)
    await pair.client.start(here, V1 if version == 1 else V2)
    try:
        yield pair
    finally:
        await pair.client.close()
        await pair.agent.close()


async def lending(version: int, serve: Serve) -> tuple[Wire, AcpMcpServer]:
    """A client with one server, and its agent as bare lines."""
    wire, client = await agent_on_wire(version, {})
    return wire, client.mcp.offer("s", serve)


async def agent_on_wire(version: int, mcp: dict[str, Any]) -> tuple[Wire, ClientConnection]:
    """A client, and its agent as bare lines, which announces these ways to reach MCP servers."""
    wire = await Wire().open()
    client = ClientConnection(Client())
    starting = asyncio.create_task(client.start(wire.far, V1 if version == 1 else V2))
    request = await wire.read()
    said: dict[str, Any] = {"agentCapabilities": {"mcpCapabilities": mcp}}
    if version == 2:
        said = {"info": {"name": "a", "version": "1"}, "capabilities": {"session": {"mcp": mcp}}}
    wire.send({"id": request["id"], "result": {"protocolVersion": version, **said}})
    await within(starting)
    return wire, client


async def reaching(version: int) -> tuple[Wire, AgentConnection]:
    """An agent, and its client as bare lines."""
    wire = await Wire().open()
    agent = AgentConnection(Reaching())
    await agent.start(wire.far)
    info = {"info": {"name": "c", "version": "1"}} if version == 2 else {}
    wire.send({"id": 0, "method": "initialize", "params": {"protocolVersion": version, **info}})
    await wire.read_answer(0)
    return wire, agent


async def connected(wire: Wire, agent: AgentConnection, id: str = "c1") -> McpChannel:
    """The agent's end of a connection that the client, as bare lines, calls `id`."""
    connecting = asyncio.create_task(agent.mcp.connect(AcpMcpServer(name="s", server_id="server")))
    request = await wire.read_method("mcp/connect")
    assert request["params"] == {"serverId": "server"}
    wire.send({"id": request["id"], "result": {"connectionId": id}})
    return await within(connecting)


async def within(work: Awaitable[T]) -> T:
    return await asyncio.wait_for(work, PATIENCE)


async def echo(channel: McpChannel) -> None:
    """Answers each request with what it was asked; `fail` with an error, `null` with null."""
    async for message in channel:
        if "id" in message and "method" in message:
            await channel.send(answer_to(message))


def answer_to(message: McpMessage) -> McpMessage:
    head = {"jsonrpc": "2.0", "id": message["id"]}
    match message["method"]:
        case "fail":
            return {**head, "error": {"code": -32042, "message": "too hot", "data": {"at": [1]}}}
        case "value":
            return {**head, "result": message["params"]["value"]}
    return {**head, "result": {key: value for key, value in message.items() if key in ("method", "params")}}


def request(id: str | int, method: str, **params: Any) -> McpMessage:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params else {})}


def note(method: str, **params: Any) -> McpMessage:
    return {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}
