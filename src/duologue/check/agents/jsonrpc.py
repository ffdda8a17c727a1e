"""JSON-RPC: what is answered, with what, and what is not."""

from __future__ import annotations

from functools import partial

from duologue.check.bench import NO_SESSION, Bench, without_login
from duologue.check.judging import Skipped, demand, left_to_others, probe
from duologue.check.reason import Reason
from duologue.check.record import Said
from duologue.check.watching.methods import RUMOURED
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side


@probe(Side.AGENT, "all-jsonrpc-05")
async def answers_what_is_no_message(bench: Bench) -> None:
    wire = await bench.greet()
    for line in (b"42\n", b'{"jsonrpc":"2.0","id":901,"method":5}\n'):
        since = len(wire.talk.said)
        wire.send(line)
        await wire.barrier()
        refused = await wire.look(partial(_refusal, wire, since))
        demand(refused, f"{line.decode().strip()} is not answered with -32600", *wire.talk.heard(since))


def _refusal(wire: Wire, since: int) -> Said | None:
    return next((said for said in wire.talk.heard(since) if said.code == ErrorCode.INVALID_REQUEST), None)


@probe(Side.AGENT, "all-jsonrpc-06")
async def answers_no_notification(bench: Bench) -> None:
    wire = await bench.greet()
    since = len(wire.talk.said)
    wire.send(
        wire.tell("unknown/duologue"),
        wire.tell("session/cancel", {"sessionId": 5}),
        wire.tell("session/prompt", {"prompt": 5}),
    )
    await left_to_others(wire.barrier())
    answers = [said for said in wire.talk.heard(since) if said.answers]
    demand(len(answers) == 1, "a notification is answered", *answers)


@probe(Side.AGENT, "all-jsonrpc-07")
async def knows_not_what_it_has_not(bench: Bench) -> None:
    wire = await bench.greet()
    answer = await wire.ask("unknown/duologue")
    demand(answer.code == ErrorCode.METHOD_NOT_FOUND, "an unknown method is not answered with -32601", answer)


@probe(Side.AGENT, "all-jsonrpc-08")
async def refuses_wrong_params(bench: Bench) -> None:
    wire = await bench.greet()
    if bench.version == 2 and wire.talk.offered(Side.AGENT, "session") is None:
        raise Skipped(Reason.CAPABILITY)
    for method, params in (("session/new", {"cwd": 5, "mcpServers": []}), ("session/prompt", {"prompt": []})):
        answer = without_login(await wire.ask(method, params), ErrorCode.METHOD_NOT_FOUND)
        demand(
            answer.code == ErrorCode.INVALID_PARAMS, f"wrong params of {method} are not answered with -32602", answer
        )


@probe(Side.AGENT, "all-jsonrpc-12")
async def answers_under_null(bench: Bench) -> None:
    wire = await bench.greet()
    since = len(wire.talk.said)
    wire.send({"jsonrpc": "2.0", "id": None, "method": "unknown/duologue"})
    await wire.barrier()
    under_null = await wire.look(
        lambda: next((s for s in wire.talk.heard(since) if s.answers and s.json.get("id", 0) is None), None)
    )
    demand(under_null, "a request under the id null is not answered", *wire.talk.heard(since))


@probe(Side.AGENT, "all-jsonrpc-17")
async def needs_no_params(bench: Bench) -> None:
    wire = await bench.greet()
    bench.need(wire, v1=("sessionCapabilities", "list"), v2=("session",))
    for params in ({"params": None}, {}):
        request = {key: value for key, value in wire.request("session/list").items() if key != "params"}
        wire.send({**request, **params})
        answer = without_login(await wire.answer(request), ErrorCode.METHOD_NOT_FOUND)
        demand("result" in answer.json, "session/list needs params that it does not need", answer)


@probe(Side.AGENT, "all-jsonrpc-19")
async def passes_over_stray_answers(bench: Bench) -> None:
    wire = await bench.greet()
    since = len(wire.talk.said)
    wire.send(
        {"jsonrpc": "2.0", "id": "duologue-nobody-asked", "result": {}},
        {"jsonrpc": "2.0", "id": 123456, "error": {"code": ErrorCode.AUTH_REQUIRED, "message": "Nobody asked"}},
    )
    await wire.barrier()
    answers = [said for said in wire.talk.heard(since) if said.answers]
    demand(len(answers) == 1, "an answer that nobody asked for is answered", *answers)


@probe(Side.AGENT, "all-jsonrpc-21")
async def serves_no_rumours(bench: Bench) -> None:
    wire = await bench.greet()
    for method in RUMOURED:
        answer = await wire.ask(method, {"sessionId": NO_SESSION})
        demand("error" in answer.json, f"{method} is served and not ACP", answer)


@probe(Side.AGENT, "all-jsonrpc-02")
async def repeats_ids_of_any_type(bench: Bench) -> None:
    wire = await bench.greet()
    for id in ("duologue", "7", 2**53 - 1, 0, -7):
        wire.send({"jsonrpc": "2.0", "id": id, "method": "_duologue/check", "params": {}})
        await wire.answer({"id": id, "method": f"a request under the id {id!r}"})
