"""MCP servers that the client lends to the agent over their connection."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from duologue.jsonrpc.errors import RpcError
from duologue.mcp import McpChannel, Tunnels
from duologue.peer import ConnectionClosed
from duologue.protocol.common.mcp import (
    AcpMcpServer,
    ConnectMcpRequest,
    ConnectMcpResponse,
    DisconnectMcpRequest,
)
from duologue.protocol.v2 import table as v2

if TYPE_CHECKING:
    from duologue.peer import Peer


class McpConnector:
    """Connects to servers of type `acp` in a session's `mcp_servers`. An agent that does so says it in
    `Agent.mcp_capabilities`; clients offer it no such server otherwise."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._tunnels = Tunnels(peer)

    async def connect(self, server: AcpMcpServer) -> McpChannel:
        """Open a new connection to a server; closing the channel ends it. Raises `RpcError` (no such server)."""
        made: list[McpChannel] = []

        def connected(response: ConnectMcpResponse) -> None:
            made.append(self._tunnels.open(response.connection_id, lambda: self._disconnect(response.connection_id)))

        await self._peer.request(v2.MCP_CONNECT, ConnectMcpRequest(server_id=server.server_id), applied=connected)
        return made[0]

    async def _disconnect(self, connection_id: str) -> None:
        # A connection that the client has forgotten, or that went with the ACP connection, is closed as well.
        with contextlib.suppress(RpcError, ConnectionClosed):
            await self._peer.request(v2.MCP_DISCONNECT, DisconnectMcpRequest(connection_id=connection_id))
