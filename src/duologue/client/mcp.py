"""MCP servers of the client itself, which an agent reaches over their connection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from duologue.jsonrpc.errors import RpcError
from duologue.local.ids import fresh_id
from duologue.mcp import McpChannel, Tunnels
from duologue.peer.overriding import check_async
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.mcp import (
    AcpMcpServer,
    ConnectMcpRequest,
    ConnectMcpResponse,
    DisconnectMcpRequest,
    DisconnectMcpResponse,
)
from duologue.protocol.v2 import table as v2

if TYPE_CHECKING:
    from duologue.peer import Peer, Scope

log = logging.getLogger("duologue.client")

#: Serves one connection of an agent, and returns when the channel has ended.
Serve = Callable[[McpChannel], Awaitable[None]]

#: How long a server may go on after its channel has ended, in seconds.
END_SECONDS = 3.0


class McpServers:
    """The servers that a client lends to its agent."""

    def __init__(self) -> None:
        self._servers: dict[str, Serve] = {}

    def offer(self, name: str, serve: Serve) -> AcpMcpServer:
        """Lend a server; put what this returns into `mcp_servers` of a session. `serve` is called for each connection
        that the agent opens, several at once. Agents that cannot reach such servers are refused there. Raises
        `TypeError` for what is no async function."""
        check_async(f"what serves {name}, such as the function serve of a ToolServer,", serve)
        entry = AcpMcpServer(name=name, server_id=f"{name}-{fresh_id()}")
        self._servers[entry.server_id] = serve
        return entry

    def withdraw(self, server: AcpMcpServer) -> None:
        """Lend a server no more; connections that are open go on."""
        self._servers.pop(server.server_id, None)

    def register(self, peer: Peer) -> None:
        """Answer the agent at the other end of a connection."""
        _Serving(self._servers, peer)


class _Serving:
    """The open connections of one peer to the servers, each in a task of its own."""

    def __init__(self, servers: dict[str, Serve], peer: Peer) -> None:
        self._servers = servers
        self._tasks: set[asyncio.Task[None]] = set()
        self._tunnels = Tunnels(peer)
        peer.handle(v2.MCP_CONNECT, self._connect)
        peer.handle(v2.MCP_DISCONNECT, self._disconnect)

    async def _connect(self, params: ConnectMcpRequest, scope: Scope) -> ConnectMcpResponse:
        serve = self._servers.get(params.server_id)
        if serve is None:
            about = {"serverId": params.server_id}
            raise RpcError(ErrorCode.RESOURCE_NOT_FOUND, f"no such MCP server: {params.server_id}", about)
        channel = self._tunnels.open(fresh_id(), _nothing)
        # Behind the answer: the agent knows the connection when the server begins to speak.
        scope.on_sent.append(lambda: self._start(serve, channel))
        return ConnectMcpResponse(connection_id=channel.connection_id)

    async def _disconnect(self, params: DisconnectMcpRequest, scope: Scope) -> DisconnectMcpResponse:
        self._tunnels.end(params.connection_id)
        return DisconnectMcpResponse()

    def _start(self, serve: Serve, channel: McpChannel) -> None:
        task = asyncio.get_running_loop().create_task(_run(serve, channel))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _run(serve: Serve, channel: McpChannel) -> None:
    serving = asyncio.ensure_future(serve(channel))
    try:
        ended = asyncio.ensure_future(channel.wait_ended())
        await asyncio.wait({serving, ended}, return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        await asyncio.wait({serving}, timeout=END_SECONDS)
    finally:
        serving.cancel()
        await channel.close()
    if serving.done() and not serving.cancelled() and serving.exception() is not None:
        log.error("an MCP server failed", exc_info=serving.exception())


async def _nothing() -> None:
    """The agent alone can disconnect; what it sends to a connection that the server has ended is refused."""
