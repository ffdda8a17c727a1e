"""Batches, which version 2 has."""

from __future__ import annotations

from typing import Any, Protocol

from duologue.check.bench import Bench
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Line, Said
from duologue.check.wire import Wire, as_line
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side


class Noting(Protocol):
    """Takes findings down."""

    def note(self, row: str, problem: str = "", *said: Said, reason: Reason | None = None) -> None: ...


NOTICE = {"jsonrpc": "2.0", "method": "_duologue/notice", "params": {}}


async def said_to(wire: Wire, batch: list[Any]) -> list[Line]:
    """The lines that answer a batch, as far as they come before and shortly after the next answer."""
    since = len(wire.talk.lines)
    wire.send(as_line(batch))
    barrier = await wire.barrier()

    def more() -> list[Line] | None:
        lines = [line for line in wire.talk.lines[since:] if not line.ours and line is not barrier.line]
        return lines or None

    return await wire.look(more) or []


@probe(Side.AGENT, "v2-jsonrpc-03")
async def refuses_the_empty_batch(bench: Bench) -> None:
    await empty_batch(await bench.greet())


async def empty_batch(wire: Wire) -> None:
    """Fails unless an empty batch is refused as it should be."""
    lines = await said_to(wire, [])
    said = [line.json for line in lines]
    sound = len(said) == 1 and isinstance(said[0], dict) and said[0].get("id", 0) is None
    sound = sound and said[0].get("error", {}).get("code") == ErrorCode.INVALID_REQUEST
    _demand(sound, "an empty batch is not answered by one error -32600 with the id null", lines)


@probe(Side.AGENT, "v2-jsonrpc-04", "v2-jsonrpc-05", "v2-jsonrpc-07")
async def answers_in_one_array(bench: Bench) -> None:
    await mixed_batch(bench, await bench.greet())


async def mixed_batch(bench: Noting, wire: Wire) -> None:
    """Judges what is said to a batch of two requests, a notification and a number."""
    first, second = wire.request("_duologue/check"), wire.request("_duologue/check")
    lines = await said_to(wire, [first, NOTICE, 5, second])
    answers = [message for line in lines for message in line.messages]
    ids = [message.get("id") for message in answers]
    if first["id"] not in ids:
        raise Skipped(Reason.BUILDS_ON)
    invalid = [message for message in answers if message.get("id", 0) is None]
    sound = [message.get("error", {}).get("code") for message in invalid] == [ErrorCode.INVALID_REQUEST] and second[
        "id"
    ] in ids
    bench.note("v2-jsonrpc-07", *_about(sound, "a bad entry of a batch is not answered by one -32600", lines))
    entries = len(answers) - len(invalid)
    bench.note("v2-jsonrpc-05", *_about(entries <= 2, "a notification in a batch is answered", lines))
    _demand(len(lines) == 1 and isinstance(lines[0].json, list), "a batch is not answered by one array", lines)


@probe(Side.AGENT, "v2-jsonrpc-06")
async def answers_no_notices(bench: Bench) -> None:
    await silent_batch(await bench.greet())


async def silent_batch(wire: Wire) -> None:
    """Fails where a batch of notifications is answered."""
    lines = await said_to(wire, [NOTICE, NOTICE])
    if any(
        message.get("error", {}).get("code") == ErrorCode.INVALID_REQUEST for line in lines for message in line.messages
    ):
        raise Skipped(Reason.BUILDS_ON)  # batches are refused as such
    _demand(not lines, "a batch of notifications is answered", lines)


def _about(truth: bool, problem: str, lines: list[Line]) -> tuple[Any, ...]:
    return ("",) if truth else (problem, *(Said(line, {}) for line in lines))


def _demand(truth: bool, problem: str, lines: list[Line]) -> None:
    problem, *said = _about(truth, problem, lines)
    demand(truth, problem, *said)
