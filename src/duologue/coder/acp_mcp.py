"""The MCP servers of a session as the client names them, and how it is told of those that are waited for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from duologue.agent import Turn
from duologue.coder.mcp.entries import Entry, Http, Lent, Pairs, Sse, Stdio, Unusable
from duologue.coder.mcp.hub import McpHub
from duologue.mcp import McpChannel
from duologue.protocol.base import Unknown
from duologue.protocol.common.mcp import AcpMcpServer, HttpHeader
from duologue.protocol.common.terminal import EnvVariable
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.v1.mcp import SseMcpServer
from duologue.protocol.v2.mcp import HttpMcpServer, McpServer, StdioMcpServer

Connect = Callable[[AcpMcpServer], Awaitable[McpChannel]]


def entries_of(servers: Sequence[McpServer | SseMcpServer], connect: Connect) -> list[Entry]:
    """The servers in the coder's own words; `connect` opens channels to those of the client itself."""
    return [_entry(server, connect) for server in servers]


def _entry(server: McpServer | SseMcpServer, connect: Connect) -> Entry:
    match server:
        case StdioMcpServer(name=name, command=command, args=args, env=env):
            return Stdio(name, command, tuple(args or ()), _pairs(env or ()))
        case HttpMcpServer(name=name, url=url, headers=headers):
            return Http(name, url, _pairs(headers or ()))
        case SseMcpServer(name=name, url=url, headers=headers):
            return Sse(name, url, _pairs(headers or ()))
        case AcpMcpServer(name=name, server_id=id):
            return Lent(name, id, partial(connect, server))
    return _unusable(server)


def _unusable(server: Unknown) -> Entry:
    name, kind = server.raw.get("name"), server.raw.get("type")
    return Unusable(str(name), f"this agent knows no MCP servers of the type {kind!r}")


def _pairs(pairs: Sequence[EnvVariable | HttpHeader]) -> Pairs:
    return tuple((pair.name, pair.value) for pair in pairs)


async def wait_for_servers(servers: McpHub, turn: Turn) -> None:
    """Before the first turn: wait for servers that are still starting. If that takes long, a tool call shows it."""
    limits = servers.limits
    waiting = await servers.wait(limits.quiet_seconds)
    if not waiting:
        return
    async with turn.tool_call(f"Wait for MCP servers: {', '.join(waiting)}", kind=ToolKind.OTHER) as call:
        await call.start()
        await servers.wait(limits.wait_seconds - limits.quiet_seconds)
        late = servers.wait_no_longer()
        failed = [name for name in servers.given_up() if name in waiting]
        told = [f"{how}: {', '.join(names)}" for how, names in (("Not ready yet", late), ("Not used", failed)) if names]
        await call.text("; ".join(told) or "Ready")
