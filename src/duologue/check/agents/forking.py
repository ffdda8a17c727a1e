"""session/fork, and what a list tells of the further roots of sessions."""

from __future__ import annotations

from typing import Any

from duologue.check.agents.reopening import HISTORY, reopen, text_of, with_a_past
from duologue.check.agents.sessions import listed
from duologue.check.agents.words import WORLD
from duologue.check.bench import Bench
from duologue.check.judging import Skipped, demand, left_to_others, probe
from duologue.check.reason import Reason
from duologue.check.record import Said
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side

DIRECTORIES = "additionalDirectories"


async def fork(bench: Bench, wire: Wire, session: str) -> tuple[Said, str]:
    """A fork in its least form; skips the probe where none can be had."""
    answer = await wire.ask("session/fork", {"sessionId": session, "cwd": str(bench.folder), "mcpServers": []})
    made = answer.result.get("sessionId")
    if not isinstance(made, str):
        raise Skipped(Reason.BUILDS_ON)
    return answer, made


def need_forks(bench: Bench, wire: Wire) -> None:
    bench.need(wire, v1=("sessionCapabilities", "fork"), v2=("session", "fork"))


@probe(Side.AGENT, "allu-session-01")
async def forks_in_a_folder(bench: Bench) -> None:
    wire = await bench.greet()
    need_forks(bench, wire)
    past, session, _ = await with_a_past(bench)
    nowhere = await past.ask("session/fork", {"sessionId": session, "mcpServers": []})
    demand(nowhere.code == ErrorCode.INVALID_PARAMS, "session/fork without a cwd is not refused with -32602", nowhere)
    params = {"sessionId": session, "cwd": str(bench.folder)}
    least = await past.ask("session/fork", params if bench.version == 2 else {**params, "mcpServers": []})
    # Which sessions can be forked is the agent's to say, but not with the code of wrong params.
    demand(
        least.code != ErrorCode.INVALID_PARAMS, "session/fork with a sessionId and a cwd is refused with -32602", least
    )


@probe(Side.AGENT, "allu-session-02")
async def forks_leave_the_source(bench: Bench) -> None:
    wire = await bench.greet()
    need_forks(bench, wire)
    past, session, _ = await with_a_past(bench)
    answer, made = await fork(bench, past, session)
    demand(made != session, "a fork has the id of the session that it was made of", answer)
    await bench.turn(past, made, WORLD)
    method, more = _telling(bench, past)
    _, told_by, told = await left_to_others(reopen(bench, past, method, session, **more))
    strange = [said for said in told if said.kind in HISTORY and WORLD in text_of(said)]
    demand(not strange, "what was said in a fork is told of its source", told_by, *strange)


def _telling(bench: Bench, wire: Wire) -> tuple[str, dict[str, Any]]:
    """How a session is opened again so that its past is told."""
    if bench.version == 2:
        return "session/resume", {"replayFrom": {"type": "start"}}
    bench.need(wire, v1=("loadSession",), v2=())
    return "session/load", {}


@probe(Side.AGENT, "allu-session-04")
async def forks_without_roots(bench: Bench) -> None:
    wire, session = await _with_roots(bench)
    need_forks(bench, wire)
    _, made = await fork(bench, wire, session)
    page, roots = await _roots(bench, wire, made)
    demand(not roots, "a fork has further roots that nobody asked for", page)


@probe(Side.AGENT, "all-session-28")
async def reopens_without_roots(bench: Bench) -> None:
    wire, session = await _with_roots(bench)
    params = {"sessionId": session, "cwd": str(bench.folder), "mcpServers": []}
    bench.need(wire, v1=("sessionCapabilities", "resume"), v2=("session",))
    answer = await wire.ask("session/resume", params)
    if answer.code is not None:
        raise Skipped(Reason.BUILDS_ON)
    page, roots = await _roots(bench, wire, session)
    demand(not roots, "a session that is opened again without further roots has those of before", page)


async def _with_roots(bench: Bench) -> tuple[Wire, str]:
    """A session with a further root, of which the agent's list tells; skips the probe otherwise."""
    wire = await bench.greet()
    bench.need(wire, v1=("sessionCapabilities", DIRECTORIES), v2=("session", DIRECTORIES))
    bench.need(wire, v1=("sessionCapabilities", "list"), v2=("session",))
    further = bench.folder / "further"
    further.mkdir(exist_ok=True)
    session = await bench.open(wire, **{DIRECTORIES: [str(further)]})
    _, roots = await _roots(bench, wire, session)
    if not roots:
        raise Skipped(Reason.NOT_OBSERVED)
    return wire, session


async def _roots(bench: Bench, wire: Wire, session: str) -> tuple[Said, Any]:
    """The further roots that the list tells of a session; None where it is not listed."""
    page, sessions = await listed(wire, cwd=str(bench.folder))
    return page, next((each.get(DIRECTORIES) for each in sessions if each.get("sessionId") == session), None)
