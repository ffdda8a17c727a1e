"""MCP servers of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from duologue.protocol.base import OPEN, Extensible, Unknown
from duologue.protocol.common.mcp import AcpMcpServer, HttpHeader
from duologue.protocol.common.terminal import EnvVariable
from duologue.protocol.v2.ids import AbsolutePath


class McpServerStdio(Extensible, kw_only=True):
    """An MCP server that the agent starts as a process."""

    name: str
    command: AbsolutePath
    args: list[str] | UnsetType = UNSET
    env: list[EnvVariable] | UnsetType = UNSET


class McpServerHttp(Extensible, kw_only=True):
    """An MCP server behind an HTTP endpoint."""

    name: str
    url: str
    headers: list[HttpHeader] | UnsetType = UNSET


class StdioMcpServer(McpServerStdio, tag_field="type", tag="stdio", kw_only=True):
    """An MCP server that the agent starts as a process."""


class HttpMcpServer(McpServerHttp, tag_field="type", tag="http", kw_only=True):
    """An MCP server reached over streamable HTTP."""


#: An MCP server for the agent to use.
if TYPE_CHECKING:
    McpServer = StdioMcpServer | HttpMcpServer | AcpMcpServer | Unknown
else:
    McpServer = Annotated[StdioMcpServer | HttpMcpServer | AcpMcpServer, OPEN]
