"""What is not stable: suggested edits, providers, and MCP servers that a client lends."""

from __future__ import annotations

from typing import Any

from duologue.check.clients.bench import ABLE, ClientBench
from duologue.check.clients.oddities import GOOD
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Json, Said, inside
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side

CLIENT = Side.CLIENT
NES: Json = {
    "events": {"document": {"didOpen": {}, "didChange": {"syncKind": "incremental"}, "didClose": {}, "didSave": {}}},
    "context": {"recentFiles": {"maxCount": 1}},
}
PROVIDER: Json = {"providerId": "duologue", "supported": ["_duologue", "anthropic"], "required": True, "current": None}
HELLO: Json = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}


def offer(bench: ClientBench, **more: Any) -> None:
    """Say more capabilities in the handshake."""
    name = "agentCapabilities" if bench.version == 1 else "capabilities"
    bench.introduction[name] = {**ABLE[bench.version], **more}


async def called(bench: ClientBench, method: str) -> tuple[Wire, Said]:
    """The client's first request of a method; skips the probe where it prompts and has not called it."""
    wire, said = await bench.awaits(method)
    if said is None:
        raise Skipped(Reason.NOT_OBSERVED)
    return wire, said


# --- suggested edits and providers ------------------------------------------------------------------------------------


@probe(CLIENT, "allu-nes-04")
async def logs_in_and_tries_again(bench: ClientBench) -> None:
    """Judged where the client logs in by itself; another one may wait for a person."""
    offer(bench, nes=NES)
    bench.introduction["authMethods"] = [GOOD]
    bench.refused.add("nes/start")
    wire, first = await called(bench, "nes/start")
    login = await wire.look(lambda: _later(wire, first, "authenticate", "auth/login"), longest=bench.patience)
    if login is None:
        raise Skipped(Reason.NOT_OBSERVED)
    await wire.wait(lambda: _later(wire, login, "nes/start"), "nes/start is not tried again after the login")


def _later(wire: Wire, first: Said, *methods: str) -> Said | None:
    return next(
        (said for said in wire.talk.theirs if said.method in methods and said.line.number > first.line.number), None
    )


@probe(CLIENT, "v2u-nes-03")
async def passes_over_unknown_suggestions(bench: ClientBench) -> None:
    offer(bench, nes=NES)
    wire, asked = await called(bench, "nes/suggest")
    odd = {"kind": "_duologue", "suggestionId": "odd", "size": 3}
    edit = {"kind": "edit", "suggestionId": "good", "uri": asked.params.get("uri"), "edits": [EDIT]}
    wire.reply(asked, {"result": {"suggestions": [odd, edit]}})
    await wire.barrier()


NOWHERE = {"line": 0, "character": 0}
EDIT: Json = {"range": {"start": NOWHERE, "end": NOWHERE}, "newText": ""}


@probe(CLIENT, "allu-providers-15")
async def survives_unknown_types(bench: ClientBench) -> None:
    offer(bench, providers={})
    bench.providers.append(PROVIDER)
    wire, _ = await called(bench, "providers/list")
    await wire.barrier()


# --- MCP servers ------------------------------------------------------------------------------------------------------


async def lent(bench: ClientBench) -> tuple[Wire, Any]:
    """The id of a server that the client lends; skips the probe where it lends none."""
    more = {1: {"mcpCapabilities": {"acp": True}}, 2: {"session": {**ABLE[2]["session"], "mcp": {"acp": {}}}}}
    offer(bench, **more[bench.version])
    wire, _ = await bench.working()
    for said in wire.talk.theirs:
        servers = said.params.get("mcpServers") if said.method == "session/new" else None
        for server in servers if isinstance(servers, list) else []:
            if inside(server, "type") == "acp":
                return wire, server.get("serverId")
    raise Skipped(Reason.CAPABILITY)


@probe(CLIENT, "allu-mcp-10", "allu-mcp-06", "allu-mcp-07", "allu-mcp-09")
async def serves_what_it_lends(bench: ClientBench) -> None:
    wire, server = await lent(bench)
    nowhere = await wire.ask("mcp/connect", {"serverId": "duologue-no-server"})
    connections = [await wire.ask("mcp/connect", {"serverId": server}) for _ in range(2)]
    about = {"connectionId": connections[0].result.get("connectionId")}
    hello = await wire.ask("mcp/message", {**about, "method": "initialize", "params": HELLO})
    wire.send(wire.tell("mcp/message", {**about, "method": "notifications/initialized"}))
    bare = "protocolVersion" in hello.result
    bench.note("allu-mcp-06", "" if bare else "the answer to mcp/message is not that of MCP as it is", hello)
    strange = await wire.ask("mcp/message", {**about, "method": "duologue/unknown", "params": None})
    problem = "" if strange.code == ErrorCode.METHOD_NOT_FOUND else "an error of MCP is not that of mcp/message"
    bench.note("allu-mcp-07", problem, strange)
    end = await wire.ask("mcp/disconnect", about)
    late = await wire.ask("mcp/message", {**about, "method": "ping"})
    sound = isinstance(end.json.get("result"), dict) and "error" in late.json
    bench.note("allu-mcp-09", "" if sound else "a connection that was ended is still served", end, late)
    demand("error" in nowhere.json, "mcp/connect to a server that is not lent succeeds", nowhere)
