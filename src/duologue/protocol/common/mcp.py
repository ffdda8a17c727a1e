"""MCP servers, and MCP tunnelled through this connection."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from duologue.protocol.base import Extensible, Maybe, Secretive
from duologue.protocol.common.ids import McpConnectionId, McpServerAcpId


class HttpHeader(Secretive, kw_only=True):
    """A header to send to an MCP server."""

    hidden = frozenset({"value"})

    name: str
    value: str


class McpServerAcp(Extensible, kw_only=True):
    """An MCP server that the client itself provides over this connection."""

    name: str
    server_id: McpServerAcpId


class AcpMcpServer(McpServerAcp, tag_field="type", tag="acp", kw_only=True):
    """An MCP server reached through this connection."""


class ConnectMcpRequest(Extensible, kw_only=True):
    """Opens a connection to an MCP server that the client lends."""

    server_id: McpServerAcpId


class ConnectMcpResponse(Extensible, kw_only=True):
    """The connection that was opened."""

    connection_id: McpConnectionId


class MessageMcpRequest(Extensible, kw_only=True):
    """An MCP request passed through."""

    connection_id: McpConnectionId
    method: str
    params: dict[str, Any] | UnsetType | None = UNSET


class MessageMcpNotification(Extensible, kw_only=True):
    """An MCP notification passed through."""

    connection_id: McpConnectionId
    method: str
    params: Maybe[dict[str, Any]] = UNSET


class DisconnectMcpRequest(Extensible, kw_only=True):
    """Closes a tunnelled connection."""

    connection_id: McpConnectionId


class DisconnectMcpResponse(Extensible, kw_only=True):
    """The connection is closed."""


#: What the MCP server answered, as it came.
MessageMcpResponse = Any
