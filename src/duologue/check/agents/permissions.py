"""Permissions: that nothing happens without one."""

from __future__ import annotations

from duologue.check.agents.cancelling import waiting
from duologue.check.agents.words import TOUCH
from duologue.check.bench import Bench, Turn
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Json, Said
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side


async def asked(bench: Bench) -> tuple[Turn, Said]:
    """A turn that waits for permission; skips the probe where none is asked for."""
    wire, session = await bench.session()
    turn = await waiting(bench, wire, session, TOUCH)
    return turn, bench.client.open[0]


def touched(bench: Bench) -> bool:
    return (bench.folder / "touched.txt").exists()


@probe(Side.AGENT, "all-permissions-06")
async def waits_for_permission(bench: Bench) -> None:
    turn, question = await asked(bench)
    await turn.wire.barrier()
    demand(not touched(bench), "the command ran before it was allowed", question)
    bench.client.answer_open(turn.wire, {"outcome": "cancelled"})
    await turn.end()


async def without_permission(bench: Bench, problem: str, outcome: Json | None) -> None:
    """Answer with an outcome, or with an error, and look whether the command runs all the same."""
    turn, question = await asked(bench)
    reply = (
        {"error": {"code": ErrorCode.INTERNAL_ERROR, "message": "No"}}
        if outcome is None
        else {"result": {"outcome": outcome}}
    )
    bench.client.open.clear()
    # Another question about the same command is refused.
    bench.client.permission = "reject"
    turn.wire.reply(question, reply)
    end = await turn.end()
    demand(not touched(bench), problem, question, end)


@probe(Side.AGENT, "all-permissions-07")
async def takes_no_for_an_answer(bench: Bench) -> None:
    turn, question = await asked(bench)
    options = [each for each in question.params.get("options") or [] if isinstance(each, dict)]
    reject = next((each for each in options if str(each.get("kind")).startswith("reject")), None)
    if reject is None:
        bench.client.answer_open(turn.wire, {"outcome": "cancelled"})
        await turn.end()
        raise Skipped(Reason.NOT_OBSERVED)
    bench.client.permission = "reject"
    bench.client.answer_open(turn.wire, {"outcome": "selected", "optionId": reject.get("optionId")})
    end = await turn.must_end()
    demand(not touched(bench), "the command ran although it was refused", question, end)
    demand(end.code is None, "a refusal fails the turn", end)


@probe(Side.AGENT, "all-permissions-09")
async def takes_errors_for_no(bench: Bench) -> None:
    await without_permission(bench, "the command ran although the question was answered with an error", None)


@probe(Side.AGENT, "v2-permissions-07")
async def takes_the_unknown_for_no(bench: Bench) -> None:
    await without_permission(bench, "the command ran on an unknown outcome", {"outcome": "_duologue"})


@probe(Side.AGENT, "all-permissions-10")
async def takes_what_was_offered(bench: Bench) -> None:
    wrong = {"outcome": "selected", "optionId": "duologue-no-option"}
    await without_permission(bench, "the command ran on an option that was not offered", wrong)


@probe(Side.AGENT, "all-jsonrpc-13")
async def numbers_apart(bench: Bench) -> None:
    """A request of the checker under the id that a question of the agent has open."""
    turn, question = await asked(bench)
    id = question.json["id"]
    turn.wire.forget(id)
    turn.wire.send({"jsonrpc": "2.0", "id": id, "method": "_duologue/check", "params": {}})
    await turn.wire.answer({"id": id, "method": "a request under an id that the agent uses too"})
    bench.client.answer_open(turn.wire, {"outcome": "cancelled"})
    await turn.end()
