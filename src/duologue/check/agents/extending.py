"""What the specification does not know: members, methods, notifications, _meta."""

from __future__ import annotations

from duologue.check.bench import Bench, without_login
from duologue.check.judging import demand, probe
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side


@probe(Side.AGENT, "all-extensibility-01")
async def takes_meta(bench: Bench) -> None:
    wire = await bench.connect()
    params = {**bench.handshake({}), "_meta": {"duologue": {"deep": [1, None]}, "traceparent": 5}}
    answer = await wire.ask("initialize", params)
    demand("result" in answer.json, "_meta of initialize fails it", answer)
    answer = await wire.ask("session/new", bench.new(_meta=None))
    demand(
        answer.code not in {ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_PARAMS},
        "a _meta of null fails session/new",
        answer,
    )


@probe(Side.AGENT, "all-extensibility-03")
async def takes_unknown_members(bench: Bench) -> None:
    wire = await bench.connect()
    params = {**bench.handshake({}), "duologueMember": {"deep": [1, None]}}
    answer = await wire.ask("initialize", params)
    demand("result" in answer.json, "a member that nobody knows fails initialize", answer)


@probe(Side.AGENT, "all-extensibility-07")
async def answers_methods_of_others(bench: Bench) -> None:
    wire = await bench.greet()
    answer = await wire.ask("_duologue/unknown", {"anything": True})
    demand(answer.code == ErrorCode.METHOD_NOT_FOUND, "a method of someone else is not answered with -32601", answer)


@probe(Side.AGENT, "all-extensibility-08")
async def passes_over_notices_of_others(bench: Bench) -> None:
    await _is_passed_over(bench, "_duologue/notice", "a notification of someone else is answered")


@probe(Side.AGENT, "all-cancellation-10")
async def passes_over_notices_of_the_protocol(bench: Bench) -> None:
    await _is_passed_over(bench, "$/duologue", "an unknown notification below $/ is answered")


async def _is_passed_over(bench: Bench, method: str, problem: str) -> None:
    """A notification gets no answer: the barrier's is the only one."""
    wire = await bench.greet()
    since = len(wire.talk.said)
    wire.send(wire.tell(method, {"anything": True}))
    await wire.barrier()
    answers = [said for said in wire.talk.heard(since) if said.answers]
    demand(len(answers) == 1, problem, *answers)


@probe(Side.AGENT, "v1-mcp-01")
async def takes_stdio_servers(bench: Bench) -> None:
    await _opens_with(bench, {"name": "check", "command": "/nonexistent/duologue", "args": [], "env": []})


@probe(Side.AGENT, "v2-mcp-03")
async def takes_short_servers(bench: Bench) -> None:
    wire = await bench.greet()
    bench.need(wire, v1=(), v2=("session", "mcp", "stdio"))
    await _opens_with(bench, {"type": "stdio", "name": "check", "command": "/nonexistent/duologue"})


@probe(Side.AGENT, "v2-mcp-04")
async def survives_unknown_servers(bench: Bench) -> None:
    wire = await bench.greet()
    server = {"type": "_duologue", "name": "check", "command": "/nonexistent/duologue"}
    answer = await wire.ask("session/new", bench.new(mcpServers=[server]))
    demand(
        answer.code != ErrorCode.INTERNAL_ERROR,
        "a server of an unknown type is neither passed over nor refused",
        answer,
    )


async def _opens_with(bench: Bench, server: dict[str, object]) -> None:
    """A server that does not start may fail the session, but it is a server that is understood."""
    wire = await bench.greet()
    answer = without_login(await wire.ask("session/new", bench.new(mcpServers=[server])))
    demand(
        answer.code not in {ErrorCode.INVALID_REQUEST, ErrorCode.METHOD_NOT_FOUND, ErrorCode.INVALID_PARAMS},
        "a server over stdio is refused",
        answer,
    )
