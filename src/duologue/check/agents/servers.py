"""MCP servers: those that an agent starts, and those that the check lends over the connection."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from duologue.check import mcp_stand_in
from duologue.check.agents.words import HELLO
from duologue.check.bench import Bench
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Json
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side

WORDS = ["one", "two words"]
VALUE = "quagmire"


def stand_in(bench: Bench, trace: Path) -> Json:
    """A server that writes down how it was started."""
    command = {"command": sys.executable, "args": ["-P", mcp_stand_in.__file__, str(trace), *WORDS]}
    env = [{"name": mcp_stand_in.VARIABLE, "value": VALUE}]
    return {"name": "duologue-check", **command, "env": env, **({} if bench.version == 1 else {"type": "stdio"})}


@probe(Side.AGENT, "all-mcp-02", "all-mcp-03")
async def starts_servers(bench: Bench) -> None:
    """By the end of the first turn: an agent may wait with it until it knows that it needs them."""
    wire = await bench.greet()
    if bench.version == 2:
        bench.need(wire, v1=(), v2=("session", "mcp", "stdio"))
    trace = bench.folder / "server.json"
    session = await bench.open(wire, mcpServers=[stand_in(bench, trace)])
    end = await (await bench.turn(wire, session, HELLO)).end()
    demand(trace.exists(), "the MCP server of a session is not started", end)
    started = json.loads(trace.read_text(encoding="utf-8"))
    sound = started == {"args": WORDS, "env": VALUE}
    bench.note("all-mcp-03", "" if sound else f"the server was started with {started}")


async def lent(bench: Bench) -> tuple[Wire, str]:
    """The open connection of an agent to a server that was lent to it; skips the probe where there is none."""
    wire = await bench.greet()
    bench.need(wire, v1=("mcpCapabilities", "acp"), v2=("session", "mcp", "acp"))
    session = await bench.open(wire, mcpServers=[bench.client.lend("duologue-check")])
    await bench.turn(wire, session, HELLO)
    if not bench.client.connections:
        raise Skipped(Reason.NOT_OBSERVED)
    return wire, bench.client.connections[0]


@probe(Side.AGENT, "allu-mcp-08", "allu-mcp-06", "allu-mcp-07")
async def serves_the_server(bench: Bench) -> None:
    """The server asks: whether the agent is there, and something that nobody knows."""
    wire, connection = await lent(bench)
    unknown = await wire.ask("mcp/message", {"connectionId": connection, "method": "duologue/unknown"})
    ping = await wire.ask("mcp/message", {"connectionId": connection, "method": "ping"})
    problem = "an error of MCP is not that of mcp/message" if unknown.code != ErrorCode.METHOD_NOT_FOUND else ""
    bench.note("allu-mcp-07", problem, unknown)
    demand("result" in ping.json, "a ping of a lent server is not answered", ping)
    bare = not ping.result.keys() - {"_meta"}
    bench.note("allu-mcp-06", "" if bare else "the answer to mcp/message is not that of MCP as it is", ping)
