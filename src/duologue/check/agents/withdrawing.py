"""$/cancel_request."""

from __future__ import annotations

from duologue.check.agents.cancelling import cancel, waiting
from duologue.check.bench import Bench
from duologue.check.judging import demand, probe
from duologue.check.record import Said
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side


def answers_under(wire: Wire, id: object) -> list[Said]:
    return [said for said in wire.talk.theirs if said.answers and said.json.get("id") == id]


@probe(Side.AGENT, "all-cancellation-09")
async def answers_once(bench: Bench) -> None:
    wire, session = await bench.session()
    turn = await waiting(bench, wire, session)
    id = turn.request["id"]
    wire.send(wire.tell("$/cancel_request", {"requestId": id}))
    # Taking a request back is a wish; session/cancel is not.
    cancel(bench, wire, session)
    await turn.end()
    await wire.barrier()
    answers = answers_under(wire, id)
    code = answers[0].code
    demand(len(answers) == 1, "a request that was taken back is answered twice", *answers)
    demand(
        code in {None, ErrorCode.REQUEST_CANCELLED},
        "a request that was taken back fails with another error than -32800",
        *answers,
    )


@probe(Side.AGENT, "all-cancellation-11")
async def takes_back_nothing(bench: Bench) -> None:
    wire = await bench.greet()
    done = await wire.barrier()
    since = len(wire.talk.said)
    for id in (done.json["id"], "duologue-no-request"):
        wire.send(wire.tell("$/cancel_request", {"requestId": id}))
    await wire.barrier()
    answers = [said for said in wire.talk.heard(since) if said.answers]
    demand(len(answers) == 1, "taking back what is over or unknown is answered", *answers)
