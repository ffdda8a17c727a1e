"""MCP servers, and MCP tunnelled through this connection."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from duologue.protocol.base import Extensible, Maybe, Secretive
from duologue.protocol.common.ids import McpConnectionId, McpServerAcpId


class HttpHeader(Secretive):
    """A header to send to an MCP server."""

    hidden = frozenset({"value"})

    name: str
    value: str


class McpServerAcp(Extensible):
    """An MCP server that the client itself provides over this connection."""

    name: str
    server_id: McpServerAcpId


class AcpMcpServer(McpServerAcp, tag_field="type", tag="acp"):
    """An MCP server reached through this connection."""


class ConnectMcpRequest(Extensible):
    """Opens a connection to an MCP server that the client lends."""

    server_id: McpServerAcpId


class ConnectMcpResponse(Extensible):
    """The connection that was opened."""

    connection_id: McpConnectionId


class MessageMcpRequest(Extensible):
    """An MCP request passed through."""

    connection_id: McpConnectionId
    method: str
    params: dict[str, Any] | UnsetType | None = UNSET


class MessageMcpNotification(Extensible):
    """An MCP notification passed through."""

    connection_id: McpConnectionId
    method: str
    params: Maybe[dict[str, Any]] = UNSET


class DisconnectMcpRequest(Extensible):
    """Closes a tunnelled connection."""

    connection_id: McpConnectionId


class DisconnectMcpResponse(Extensible):
    """The connection is closed."""


#: What the MCP server answered, as it came.
MessageMcpResponse = Any
