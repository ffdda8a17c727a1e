"""Bytes and lines."""

from __future__ import annotations

from functools import partial

from duologue.check.bench import Bench
from duologue.check.judging import demand, probe
from duologue.check.record import Said
from duologue.check.wire import Wire, as_line
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side


@probe(Side.AGENT, "all-framing-06")
async def takes_bytes_one_by_one(bench: Bench) -> None:
    """The name of the checker has a character of three bytes."""
    wire = await bench.connect()
    request = wire.request("initialize", bench.handshake({}))
    wire.send(request, pieces=1)
    answer = await wire.answer(request)
    demand("result" in answer.json, "a message that came in pieces is not understood", answer)


@probe(Side.AGENT, "all-framing-07")
async def takes_many_at_once(bench: Bench) -> None:
    wire = await bench.connect()
    first = wire.request("initialize", bench.handshake({}))
    others = [wire.request("_duologue/check", {"number": number}) for number in range(5)]
    wire.send(first, *others)
    for request in (first, *others):
        await wire.answer(request)


@probe(Side.AGENT, "v2-framing-01")
async def takes_batches(bench: Bench) -> None:
    wire = await bench.greet()
    request = wire.request("_duologue/check")
    wire.send(as_line([request]))
    await wire.answer(request)


@probe(Side.AGENT, "all-framing-09")
async def ends_with_its_stdin(bench: Bench) -> None:
    wire = await bench.greet()
    await wire.close()
    closed = await wire.gone()
    demand(closed.signal is None, f"the agent did not end with its stdin and was ended by {closed.signal}")


@probe(Side.AGENT, "all-jsonrpc-18")
async def survives_bad_lines(bench: Bench) -> None:
    wire = await bench.greet()
    wire.send(b"no json\n", b'{"jsonrpc":"2.0","id":7,"met\n', b"\xff\xfe\n", b"\n", b"42\n", b"null\n", b'"text"\n')
    wire.send(wire.tell("session/cancel", {"sessionId": 5}), wire.tell("session/prompt", {"prompt": 5}))
    await wire.barrier()


@probe(Side.AGENT, "all-jsonrpc-04", "v2-jsonrpc-02")
async def answers_what_is_no_json(bench: Bench) -> None:
    wire = await bench.greet()
    broken = {"all-jsonrpc-04": b'{"jsonrpc":"2.0","id":1,"method"\n'}
    if bench.version == 2:
        broken["v2-jsonrpc-02"] = b'[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc"\n'
    for row, line in broken.items():
        since = len(wire.talk.said)
        wire.send(line)
        await wire.barrier()
        heard = await wire.look(partial(_parse_error, wire, since))
        single = heard is not None and heard.json.get("id", 0) is None and isinstance(heard.line.json, dict)
        said = wire.talk.heard(since)
        bench.note(row, "" if single else "what is no JSON is not answered by one error -32700 with the id null", *said)


@probe(Side.AGENT, "v1-jsonrpc-01")
async def copes_with_a_batch(bench: Bench) -> None:
    wire = await bench.greet()
    batch = [wire.request("_duologue/check"), wire.request("_duologue/check")]
    since = len(wire.talk.said)
    wire.send(as_line(batch))
    await wire.barrier()
    ids = {request["id"] for request in batch}

    def settled() -> bool | None:
        answers = [said.json.get("id") for said in wire.talk.heard(since)]
        refused = any(
            said.code == ErrorCode.INVALID_REQUEST and said.json.get("id") is None for said in wire.talk.said[since:]
        )
        return True if refused or ids <= set(map(_plain, answers)) else None

    demand(await wire.look(settled), "a batch is neither served nor refused with -32600", *wire.talk.said[since:])


def _plain(id: object) -> object:
    return id if isinstance(id, int | str) else None


def _parse_error(wire: Wire, since: int) -> Said | None:
    return next((said for said in wire.talk.heard(since) if said.code == ErrorCode.PARSE_ERROR), None)
