"""session/cancel."""

from __future__ import annotations

from duologue.check.agents.words import HELLO, SLEEP
from duologue.check.bench import NO_SESSION, Bench, Turn, stop_reason
from duologue.check.judging import Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Said
from duologue.check.wire import Wire
from duologue.protocol.method import Side


async def waiting(bench: Bench, wire: Wire, session: str, text: str = SLEEP) -> Turn:
    """A turn that certainly runs, since it waits for permission; skips the probe where none is asked for."""
    bench.client.permission = None
    turn = bench.begin(wire, session, text)
    if await turn.asked(bench.client) is None:
        raise Skipped(Reason.NOT_OBSERVED)
    return turn


def cancel(bench: Bench, wire: Wire, session: str) -> None:
    """Cancel as a client has to: open questions are answered with cancelled."""
    wire.send(wire.tell("session/cancel", {"sessionId": session}))
    bench.client.answer_open(wire, {"outcome": "cancelled"})


@probe(Side.AGENT, "v1-cancellation-01", "v2-cancellation-01", "v1-cancellation-02", "v2-cancellation-03")
async def ends_as_cancelled(bench: Bench) -> None:
    wire, session = await bench.session()
    turn = await waiting(bench, wire, session)
    cancel(bench, wire, session)
    end = await turn.must_end()
    problem = "" if stop_reason(end) == "cancelled" else f"a cancelled turn ends as {stop_reason(end)}"
    if bench.version == 2:
        bench.note("v2-cancellation-03", problem, end)
    elif end.code is not None:
        bench.note("v1-cancellation-02", "a cancelled prompt is answered with an error", end)
        raise Skipped(Reason.BUILDS_ON)
    else:
        demand(not problem, problem, end)
    await wire.barrier()


@probe(Side.AGENT, "all-cancellation-01")
async def ends_soon(bench: Bench) -> None:
    """A command that would take longer than the patience of the check, cancelled while it runs."""
    wire, session = await bench.session()
    turn = bench.begin(wire, session, SLEEP)
    await wire.look(lambda: _at_work(turn) or turn.over(), longest=bench.patience)
    if turn.over() or not _at_work(turn):
        raise Skipped(Reason.NOT_OBSERVED)
    cancel(bench, wire, session)
    await turn.must_end()


def _at_work(turn: Turn) -> Said | None:
    calls = turn.updates("tool_call", "tool_call_update")
    return next((said for said in calls if said.update.get("status") == "in_progress"), None)


@probe(Side.AGENT, "all-cancellation-04")
async def cancels_nothing(bench: Bench) -> None:
    wire, session = await bench.session()
    since = len(wire.talk.said)
    for each in (session, NO_SESSION):
        wire.send(wire.tell("session/cancel", {"sessionId": each}))
    await wire.barrier()
    answers = [said for said in wire.talk.heard(since) if said.answers]
    demand(len(answers) == 1, "a cancel is answered", *answers)


@probe(Side.AGENT, "all-cancellation-05")
async def cancels_one_session(bench: Bench) -> None:
    wire, one = await bench.session()
    other = await bench.open(wire)
    turn = await waiting(bench, wire, one)
    wire.send(wire.tell("session/cancel", {"sessionId": other}))
    await wire.barrier()
    demand(turn.over() is None, "a cancel ends the turn of another session", turn.over())
    cancel(bench, wire, one)
    await turn.end()


@probe(Side.AGENT, "all-cancellation-06")
async def goes_on_after_a_cancel(bench: Bench) -> None:
    """The cancel comes in the same write as its prompt."""
    wire, session = await bench.session()
    turn = bench.begin(wire, session, HELLO, wire.tell("session/cancel", {"sessionId": session}))
    await turn.end()
    end = await (await bench.turn(wire, session, HELLO)).end()
    demand(stop_reason(end) != "cancelled", "a cancel ends a later turn", end)


@probe(Side.AGENT, "all-cancellation-13")
async def takes_its_questions_back(bench: Bench) -> None:
    wire, session = await bench.session()
    turn = await waiting(bench, wire, session)
    question = bench.client.open[0]
    wire.send(wire.tell("session/cancel", {"sessionId": session}))
    withdrawn = await wire.look(lambda: _withdrawal(wire, question))
    bench.client.answer_open(wire, {"outcome": "cancelled"})
    await turn.end()
    demand(withdrawn or _withdrawal(wire, question), "an open question is not taken back", question)


def _withdrawal(wire: Wire, question: Said) -> Said | None:
    return next(
        (
            said
            for said in wire.talk.theirs
            if said.method == "$/cancel_request" and said.params.get("requestId") == question.json["id"]
        ),
        None,
    )
