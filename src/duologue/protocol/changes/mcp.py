"""MCP servers: v2 tags each one and lets lists be absent, v1 has an untagged stdio server, lists that are due, and SSE.

An SSE server, which v2 does not know, stays v1's own value in both vocabularies.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from duologue.protocol.base import Unknown
from duologue.protocol.changes.steps import Unspeakable
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.mcp import AcpMcpServer
from duologue.protocol.v1 import mcp as v1
from duologue.protocol.v2 import mcp as v2


def servers_down(servers: list[v2.McpServer] | UnsetType) -> list[Any]:
    """Servers for v1. Raises `Unspeakable`: left out in silence, a server would be missed much later."""
    return [] if servers is UNSET or not isinstance(servers, list) else [server_down(server) for server in servers]


def servers_up(servers: list[v1.McpServer] | UnsetType) -> Any:
    return servers if not isinstance(servers, list) else [server_up(server) for server in servers]


def server_down(server: Any) -> Any:
    match server:
        case v2.StdioMcpServer(name=name, command=command, args=args, env=env, meta=meta):
            return v1.StdioMcpServer(name=name, command=command, args=args or [], env=env or [], meta=meta)
        case v2.HttpMcpServer(name=name, url=url, headers=headers, meta=meta):
            return v1.HttpMcpServer(name=name, url=url, headers=headers or [], meta=meta)
        case AcpMcpServer() | v1.SseMcpServer():
            return server
        case Unknown(raw={"type": "sse"}):
            return server
    message = f"protocol version 1 has no MCP server of type {server.raw.get('type')!r}"
    raise Unspeakable(ErrorCode.INVALID_PARAMS, message)


def server_up(server: Any) -> Any:
    match server:
        case v1.StdioMcpServer(name=name, command=command, args=args, env=env, meta=meta):
            return v2.StdioMcpServer(name=name, command=command, args=args, env=env, meta=meta)
        case v1.HttpMcpServer(name=name, url=url, headers=headers, meta=meta):
            return v2.HttpMcpServer(name=name, url=url, headers=headers, meta=meta)
    return server
