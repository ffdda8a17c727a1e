"""Sessions that are opened again: what is told of the past, and when."""

from __future__ import annotations

from typing import Any

from duologue.check.agents.words import HELLO
from duologue.check.bench import Bench, demand
from duologue.check.judging import Skipped, probe
from duologue.check.reason import Reason
from duologue.check.record import Said
from duologue.check.wire import Wire
from duologue.protocol.method import Side

HISTORY = ("user_message", "user_message_chunk", "agent_message", "agent_message_chunk", "tool_call")
OF_THE_USER = ("user_message", "user_message_chunk")


async def with_a_past(bench: Bench) -> tuple[str, list[Said]]:
    """A session with one turn in which the agent said something, on a connection that has ended since."""
    wire, session = await bench.session()
    turn = await bench.turn(wire, session, HELLO)
    said = turn.updates("agent_message", "agent_message_chunk")
    await wire.close()
    if not said:
        raise Skipped(Reason.NOT_OBSERVED)
    return session, said


async def reopen(bench: Bench, method: str, session: str, **more: Any) -> tuple[Wire, Said, list[Said]]:
    """The answer to load or resume on a fresh connection, and what was told of the past before it."""
    wire = await bench.greet()
    params = {"sessionId": session, "cwd": str(bench.folder), "mcpServers": [], **more}
    answer = await wire.ask(method, {name: value for name, value in params.items() if value is not ...})
    if answer.code is not None:
        raise Skipped(Reason.BUILDS_ON)
    return wire, answer, [said for said in wire.talk.updates(*HISTORY) if said.line.number < answer.line.number]


@probe(Side.AGENT, "v1-session-05", "v1-session-06", "v1-session-07")
async def loads_the_past(bench: Bench) -> None:
    bench.need(await bench.greet(), v1=("loadSession",), v2=())
    session, said = await with_a_past(bench)
    wire, answer, told = await reopen(bench, "session/load", session)
    await wire.barrier()
    late = [each for each in wire.talk.updates(*HISTORY) if each.line.number > answer.line.number]
    bench.note("v1-session-06", "something of the past is told after the answer" if late else "", *late)
    users = [each for each in told if HELLO in _text(each)]
    sound = users and all(each.kind == "user_message_chunk" and each.session == session for each in users)
    if users or not late:
        bench.note("v1-session-07", "" if sound else "the user's words are not told as user_message_chunk", answer)
    demand(_whole(said) in _whole(told + late), "not all that was said is told again", answer)


@probe(Side.AGENT, "v1-session-11", "v2-session-06")
async def resumes_in_silence(bench: Bench) -> None:
    bench.need(await bench.greet(), v1=("sessionCapabilities", "resume"), v2=("session",))
    session, _ = await with_a_past(bench)
    _, _, told = await reopen(bench, "session/resume", session)
    demand(not told, "session/resume tells of the past", *told)


@probe(Side.AGENT, "v1-session-13")
async def resumes_without_servers(bench: Bench) -> None:
    bench.need(wire := await bench.greet(), v1=("sessionCapabilities", "resume"), v2=("session",))
    session, _ = await with_a_past(bench)
    await reopen(bench, "session/resume", session)
    params = {"sessionId": session, "cwd": str(bench.folder)}
    answer = await wire.ask("session/resume", params)
    demand("result" in answer.json, "session/resume without mcpServers fails", answer)


@probe(Side.AGENT, "v2-session-07", "v2-session-08")
async def resumes_from_the_start(bench: Bench) -> None:
    bench.need(await bench.greet(), v1=(), v2=("session",))
    session, said = await with_a_past(bench)
    _, answer, told = await reopen(bench, "session/resume", session, replayFrom={"type": "start"})
    messages = {(each.update["messageId"], each.kind[:12]) for each in told if "messageId" in each.update}
    unique = len({id for id, _ in messages}) == len(messages)
    bench.note("v2-session-08", "" if unique else "two messages of the past have one messageId", *told)
    demand(_whole(said) in _whole(told), "not all that was said is told again before the answer", answer)


@probe(Side.AGENT, "v2-session-10")
async def knows_one_beginning(bench: Bench) -> None:
    wire, session = await bench.session()
    params = {"sessionId": session, "cwd": str(bench.folder), "replayFrom": {"type": "_duologue"}}
    answer = await wire.ask("session/resume", params)
    demand("error" in answer.json, "an unknown replayFrom is not refused", answer)


def _text(said: Said) -> str:
    """The text of a message or of a chunk of one."""
    content = said.update.get("content")
    blocks = content if isinstance(content, list) else [content]
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def _whole(messages: list[Said]) -> str:
    """What the agent said in them."""
    return "".join(_text(said) for said in messages if said.kind in {"agent_message", "agent_message_chunk"}).strip()
