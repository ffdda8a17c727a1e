"""What may be asked of an agent, by what it announced; the rest is refused here, before anything is sent."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from duologue import codec
from duologue.client.paths import sent_path
from duologue.local.arguments import several
from duologue.peer.errors import NotOffered
from duologue.protocol.base import Unknown
from duologue.protocol.changes.memory import AgentExtras
from duologue.protocol.common.mcp import AcpMcpServer
from duologue.protocol.v1 import mcp as v1
from duologue.protocol.v2.capabilities import McpCapabilities, PromptCapabilities, SessionCapabilities
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.mcp import HttpMcpServer, McpServer, StdioMcpServer
from duologue.session.blocks import block_problem

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection


def check_prompt(connection: ClientConnection, prompt: Sequence[ContentBlock]) -> None:
    """Raises `NotOffered` for a block that the agent does not take."""
    offered = _sessions(connection).prompt or PromptCapabilities()
    for block in prompt:
        problem = block_problem(block, offered)
        if problem is not None:
            raise NotOffered(problem)


def sent_servers(connection: ClientConnection, servers: Sequence[McpServer]) -> list[McpServer]:
    """MCP servers as they are sent: the commands of processes as absolute paths.

    Raises `NotOffered` for one that the agent cannot reach, `ValueError` for a command that is not found and for a type
    of one's own that does not begin with an underscore.
    """
    servers = several(servers, "mcp_servers")
    for server in servers:
        if isinstance(server, Struct):
            # For the error alone, which names the place; what is sent is held against its type with the request.
            codec.sendable(type(server), server)
        _check_reached(connection, server)
    return [_with_absolute_command(server) for server in servers]


def _check_reached(connection: ClientConnection, server: Any) -> None:
    offered, said = _sessions(connection).mcp or McpCapabilities(), connection.peer.said_in_v1
    match server:
        case StdioMcpServer(name=name):
            kind, reached = "stdio", bool(offered.stdio) or said is not None
        case HttpMcpServer(name=name):
            kind, reached = "http", bool(offered.http)
        case AcpMcpServer(name=name):
            kind, reached = "acp", bool(offered.acp)
        case v1.SseMcpServer(name=name) | Unknown(raw={"type": "sse", "name": name}):
            kind, reached = "sse", isinstance(said, AgentExtras) and said.sse
        case Unknown():
            name, kind, reached = server.raw.get("name"), str(server.raw.get("type")), True
            if not kind.startswith("_"):
                raise ValueError(f"a type of one's own begins with an underscore: {kind!r}")
        case _:
            found = type(server).__name__
            raise TypeError(f"an MCP server is one of duologue.protocol.v2, such as StdioMcpServer, not {found}")
    if not reached:
        raise NotOffered(f"the agent does not take MCP servers of type {kind}, such as {name}")


def _with_absolute_command(server: McpServer) -> McpServer:
    if not isinstance(server, StdioMcpServer):
        return server
    command = server.command
    # The agent may run on another system than this one.
    if any(kind(command).is_absolute() for kind in (PurePosixPath, PureWindowsPath)):
        return server
    found = shutil.which(command)
    if found is None:
        raise ValueError(f"the command {command!r} of the MCP server {server.name} was not found")
    return replace(server, command=str(sent_path(found)))


def check_replay(connection: ClientConnection) -> None:
    """Raises `NotOffered` for an agent that reopens sessions without telling their history."""
    said = connection.peer.said_in_v1
    if isinstance(said, AgentExtras) and not said.load:
        raise NotOffered("the agent does not offer session/load; resume the session with replay=False")


def further_roots(connection: ClientConnection, cwd: Path, folders: Sequence[Path | str]) -> list[Path]:
    """Additional directories as they are sent: absolute, each once, none of them `cwd`. Raises `NotOffered` and
    what `sent_path` raises."""
    named = [sent_path(folder, "a further folder") for folder in several(folders, "additional_directories")]
    found = [path for path in dict.fromkeys(named) if path != cwd]
    if found and not _sessions(connection).additional_directories:
        raise NotOffered("the agent does not take additional directories")
    return found


def _sessions(connection: ClientConnection) -> SessionCapabilities:
    return connection.capabilities.session or SessionCapabilities()
