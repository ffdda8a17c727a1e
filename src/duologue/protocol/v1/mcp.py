"""MCP servers of version 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from duologue.protocol.base import Extensible, Lenient, Unknown, Untagged
from duologue.protocol.common.mcp import AcpMcpServer, HttpHeader
from duologue.protocol.common.terminal import EnvVariable


class McpServerStdio(Extensible, kw_only=True):
    """An MCP server that the agent starts as a process. Some clients leave `env` out, although the schema has it."""

    name: str
    command: str
    args: list[str]
    env: Lenient[list[EnvVariable]]


class McpServerHttp(Extensible, kw_only=True):
    """An MCP server behind an HTTP endpoint."""

    name: str
    url: str
    headers: list[HttpHeader]


class McpServerSse(Extensible, kw_only=True):
    """An MCP server behind an SSE endpoint."""

    name: str
    url: str
    headers: list[HttpHeader]


class StdioMcpServer(McpServerStdio, kw_only=True):
    """An MCP server that the agent starts as a process; has no tag on the wire."""


class HttpMcpServer(McpServerHttp, tag_field="type", tag="http", kw_only=True):
    """An MCP server reached over streamable HTTP."""


class SseMcpServer(McpServerSse, tag_field="type", tag="sse", kw_only=True):
    """An MCP server reached over SSE."""


if TYPE_CHECKING:
    McpServer = StdioMcpServer | HttpMcpServer | SseMcpServer | AcpMcpServer | Unknown
else:

    class McpServer(Untagged):
        """An MCP server for the agent to use: without a tag (or with ``stdio``, as some clients send it) a process."""

        variants = (StdioMcpServer, HttpMcpServer, SseMcpServer, AcpMcpServer)

        @classmethod
        def pick(cls, raw: Any) -> Any:
            match raw.get("type") if isinstance(raw, dict) else None:
                case "http":
                    return HttpMcpServer
                case "sse":
                    return SseMcpServer
                case "acp":
                    return AcpMcpServer
                case str(kind) if kind != "stdio":
                    return Unknown
            return StdioMcpServer
