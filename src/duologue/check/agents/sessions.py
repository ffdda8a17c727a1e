"""Sessions: opening, listing, closing, deleting."""

from __future__ import annotations

from pathlib import Path

from duologue.check.agents.cancelling import waiting
from duologue.check.agents.words import HELLO, NOTES, READ, SECRET
from duologue.check.bench import NO_SESSION, Bench, items_of, stop_reason, without_login
from duologue.check.judging import Failed, Skipped, demand, probe
from duologue.check.reason import Reason
from duologue.check.record import Json, Said
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side

#: How many pages of a listing are followed.
MOST_PAGES = 100


@probe(Side.AGENT, "all-session-02")
async def opens_two_sessions(bench: Bench) -> None:
    wire, one = await bench.session()
    other = await bench.open(wire)
    demand(one != other, f"two sessions have the id {one}")


@probe(Side.AGENT, "all-session-04")
async def works_in_its_folder(bench: Bench) -> None:
    """A session in a folder below the one that the agent was started in; both have a file of the same name."""
    below = bench.folder / "below"
    below.mkdir(exist_ok=True)
    (below / "notes.txt").write_text(NOTES.replace(SECRET, "sesquipedalian"), encoding="utf-8")
    wire = await bench.greet()
    session = await bench.open(wire, cwd=str(below))
    turn = await bench.turn(wire, session, READ)
    told = [said for said in turn.updates() if SECRET in str(said.update)]
    demand(not told, "the session works in another folder than its cwd", *told)
    if not any("sesquipedalian" in str(said.update) for said in turn.updates()):
        raise Skipped(Reason.NOT_OBSERVED)


@probe(Side.AGENT, "all-session-07")
async def knows_no_others(bench: Bench) -> None:
    wire = await bench.greet()
    params = {"sessionId": NO_SESSION, "prompt": [{"type": "text", "text": HELLO}]}
    answer = await wire.ask("session/prompt", params)
    demand("error" in answer.json, "a prompt to an unknown session is accepted", answer)


@probe(Side.AGENT, "v2-session-04")
async def closes_and_resumes(bench: Bench) -> None:
    wire, session = await bench.session()
    for method, params in (("session/close", {}), ("session/resume", {"cwd": str(bench.folder)})):
        answer = await wire.ask(method, {"sessionId": session, **params})
        if answer.code == ErrorCode.METHOD_NOT_FOUND:
            raise Skipped(Reason.BUILDS_ON)
        if method == "session/close":
            demand("result" in answer.json, "a session cannot be closed", answer)


# --- listing ----------------------------------------------------------------------------------------------------------


async def listing(bench: Bench) -> Wire:
    """A connection to an agent that lists sessions, with one session."""
    wire = await bench.greet()
    bench.need(wire, v1=("sessionCapabilities", "list"), v2=("session",))
    await bench.open(wire)
    return wire


async def listed(wire: Wire, **params: str) -> tuple[Said, list[Json]]:
    """One page of sessions; skips the probe where there is none."""
    return await items_of(wire, "session/list", "sessions", params)


@probe(Side.AGENT, "all-session-12")
async def lists_one_folder(bench: Bench) -> None:
    wire = await listing(bench)
    below = bench.folder / "below"
    below.mkdir(exist_ok=True)
    await bench.open(wire, cwd=str(below))
    answer, sessions = await listed(wire, cwd=str(below))
    wrong = [each for each in sessions if Path(str(each.get("cwd"))) not in {below, below.resolve()}]
    demand(not wrong, "sessions of another folder are listed", answer)


@probe(Side.AGENT, "all-session-16")
async def refuses_wrong_cursors(bench: Bench) -> None:
    wire = await listing(bench)
    answer = await wire.ask("session/list", {"cursor": "duologue-no-cursor"})
    demand("error" in answer.json, "a cursor that was never given out is taken", answer)


@probe(Side.AGENT, "all-session-18")
async def lists_each_once(bench: Bench) -> None:
    wire = await listing(bench)
    await bench.open(wire)
    answer, sessions = await listed(wire)
    seen = [each.get("sessionId") for each in sessions]
    for _ in range(MOST_PAGES):
        cursor = answer.result.get("nextCursor")
        if cursor is None:
            break
        answer, sessions = await listed(wire, cursor=cursor)
        seen += [each.get("sessionId") for each in sessions]
    demand(len(set(map(str, seen))) == len(seen), "a session is listed twice", answer)


@probe(Side.AGENT, "all-session-19")
async def lists_without_a_trace(bench: Bench) -> None:
    """In a folder of the probe's own, since others open sessions meanwhile."""
    wire = await listing(bench)
    before, first = await _ids(wire, bench)
    after, second = await _ids(wire, bench)
    demand(first == second, "listing sessions changes which there are", before, after)


async def _ids(wire: Wire, bench: Bench) -> tuple[Said, set[str]]:
    answer, sessions = await listed(wire, cwd=str(bench.folder))
    return answer, {str(each.get("sessionId")) for each in sessions}


# --- closing and deleting ---------------------------------------------------------------------------------------------


@probe(Side.AGENT, "all-session-08")
async def closing_cancels(bench: Bench) -> None:
    wire, session = await bench.session()
    bench.need(wire, v1=("sessionCapabilities", "close"), v2=("session",))
    turn = await waiting(bench, wire, session)
    request = wire.request("session/close", {"sessionId": session})
    wire.send(request)
    bench.client.answer_open(wire, {"outcome": "cancelled"})
    closed = await wire.answer(request)
    if bench.version == 1:
        end = await turn.must_end()
        demand(stop_reason(end) == "cancelled", "session/close does not cancel the running turn", end)
    demand("result" in closed.json, "session/close fails while a turn runs", closed)


@probe(Side.AGENT, "all-session-09")
async def closed_is_closed(bench: Bench) -> None:
    wire, session = await bench.session()
    bench.need(wire, v1=("sessionCapabilities", "close"), v2=("session",))
    closed = await wire.ask("session/close", {"sessionId": session})
    if closed.code is not None:
        raise Skipped(Reason.BUILDS_ON)
    request = bench.prompt(wire, session, HELLO)
    wire.send(request)
    answer = await wire.answer(request)
    demand("error" in answer.json, "a closed session takes a prompt", answer)


@probe(Side.AGENT, "all-session-22", "all-session-23")
async def deletes(bench: Bench) -> None:
    wire, session = await bench.session()
    bench.need(wire, v1=("sessionCapabilities", "delete"), v2=("session", "delete"))
    await bench.turn(wire, session, HELLO)
    answer = await wire.ask("session/delete", {"sessionId": session})
    again = await wire.ask("session/delete", {"sessionId": session})
    bench.note("all-session-23", "" if "result" in again.json else "deleting a second time fails", again)
    if answer.code is not None:
        raise Failed("session/delete fails", answer.line)
    page, sessions = await listed(wire)
    left = any(each.get("sessionId") == session for each in sessions)
    demand(not left, "a deleted session is listed", page)


# --- additional directories -------------------------------------------------------------------------------------------


@probe(Side.AGENT, "all-session-27")
async def refuses_bad_directories(bench: Bench) -> None:
    wire = await bench.greet()
    path = ("additionalDirectories",)
    bench.need(wire, v1=("sessionCapabilities", *path), v2=("session", *path))
    for wrong in ("", "relative/folder"):
        answer = without_login(await wire.ask("session/new", bench.new(additionalDirectories=[wrong])))
        demand(answer.code is not None, f"the additional directory {wrong!r} is taken", answer)
