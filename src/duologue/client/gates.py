"""What may be asked of an agent, by what it announced; the rest is refused here, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from duologue.client.errors import NotOffered
from duologue.protocol.changes.memory import AgentExtras
from duologue.protocol.common.mcp import AcpMcpServer
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


def check_servers(connection: ClientConnection, servers: Sequence[McpServer]) -> None:
    """Raises `NotOffered` for an MCP server that the agent cannot reach."""
    offered, said = _sessions(connection).mcp or McpCapabilities(), connection.peer.said_in_v1
    for server in servers:
        match server:
            case StdioMcpServer(name=name):
                kind, reached = "stdio", bool(offered.stdio) or said is not None
            case HttpMcpServer(name=name):
                kind, reached = "http", bool(offered.http)
            case AcpMcpServer(name=name):
                kind, reached = "acp", bool(offered.acp)
            case _:
                name, kind = str(server.raw.get("name")), str(server.raw.get("type"))
                reached = kind != "sse" or (isinstance(said, AgentExtras) and said.sse)
        if not reached:
            raise NotOffered(f"the agent does not take MCP servers of type {kind}, such as {name}")


def check_replay(connection: ClientConnection) -> None:
    """Raises `NotOffered` for an agent that reopens sessions without telling their history."""
    said = connection.peer.said_in_v1
    if isinstance(said, AgentExtras) and not said.load:
        raise NotOffered("the agent does not offer session/load; resume the session with replay=False")


def further_roots(connection: ClientConnection, cwd: Path, folders: Sequence[Path | str]) -> list[Path]:
    """Additional directories as they are sent: absolute, each once, none of them `cwd`. Raises `NotOffered`."""
    found = [path for path in dict.fromkeys(Path(folder).absolute() for folder in folders) if path != cwd]
    if found and not _sessions(connection).additional_directories:
        raise NotOffered("the agent does not take additional directories")
    return found


def _sessions(connection: ClientConnection) -> SessionCapabilities:
    return connection.capabilities.session or SessionCapabilities()
