"""Sessions that are opened again: what is told of the past, and when."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from duologue.check.agents.words import HELLO
from duologue.check.bench import Bench
from duologue.check.judging import Failed, Skipped, demand, left_to_others, probe
from duologue.check.reason import Reason
from duologue.check.record import Said
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side

HISTORY = ("user_message", "user_message_chunk", "agent_message", "agent_message_chunk", "tool_call")
OF_THE_USER = ("user_message", "user_message_chunk")


async def with_a_past(bench: Bench) -> tuple[Wire, str, list[Said]]:
    """A session with one turn in which the agent said something; it is still open."""
    wire, session = await bench.session()
    turn = await bench.turn(wire, session, HELLO)
    said = turn.updates("agent_message", "agent_message_chunk")
    if not said:
        raise Skipped(Reason.NOT_OBSERVED)
    return wire, session, said


async def reopen(bench: Bench, past: Wire, method: str, session: str, **more: Any) -> tuple[Wire, Said, list[Said]]:
    """The answer to load or resume, and what was told of the past before it. A refusal fails the probe.

    Ends the connection of the past where the session is not opened as long as that is there.
    """
    params = {"sessionId": session, "cwd": str(bench.folder), "mcpServers": [], **more}
    refusals = []
    async for wire in _places(bench, past):
        since = len(wire.talk.lines)
        answer = await wire.ask(method, params)
        if answer.code is None:
            told = [said for said in wire.talk.updates(*HISTORY) if since <= said.line.number < answer.line.number]
            return wire, answer, told
        if bench.version == 2 and answer.code == ErrorCode.METHOD_NOT_FOUND:
            raise Skipped(Reason.BUILDS_ON)
        refusals.append(answer.line)
    raise Failed(f"{method} is offered, and opens no session again", *refusals)


async def _places(bench: Bench, past: Wire) -> AsyncIterator[Wire]:
    """Where a session may be opened again."""
    yield await bench.greet()
    # An agent that keeps nothing beyond its process.
    yield past
    # One that keeps a session to the process that has it open.
    await past.close()
    yield await bench.greet()


@probe(Side.AGENT, "v1-session-05", "v1-session-06", "v1-session-07")
async def loads_the_past(bench: Bench) -> None:
    bench.need(await bench.greet(), v1=("loadSession",), v2=())
    past, session, said = await with_a_past(bench)
    wire, answer, told = await reopen(bench, past, "session/load", session)
    await wire.barrier()
    late = [each for each in wire.talk.updates(*HISTORY) if each.line.number > answer.line.number]
    bench.note("v1-session-06", "something of the past is told after the answer" if late else "", *late)
    # What comes late is told all the same: that breaks the requirement before, and neither of these.
    told += late
    sound = any(each.kind == "user_message_chunk" and HELLO in text_of(each) for each in told)
    bench.note("v1-session-07", "" if sound else "the user's words are not told as user_message_chunk", answer)
    demand(_whole(said) in _whole(told), "not all that was said is told again", answer)


@probe(Side.AGENT, "v1-session-11", "v2-session-06")
async def resumes_in_silence(bench: Bench) -> None:
    bench.need(await bench.greet(), v1=("sessionCapabilities", "resume"), v2=("session",))
    past, session, _ = await with_a_past(bench)
    _, _, told = await reopen(bench, past, "session/resume", session)
    demand(not told, "session/resume tells of the past", *told)


@probe(Side.AGENT, "v1-session-13")
async def resumes_without_servers(bench: Bench) -> None:
    bench.need(await bench.greet(), v1=("sessionCapabilities", "resume"), v2=("session",))
    past, session, _ = await with_a_past(bench)
    wire, _, _ = await left_to_others(reopen(bench, past, "session/resume", session))
    params = {"sessionId": session, "cwd": str(bench.folder)}
    answer = await wire.ask("session/resume", params)
    demand("result" in answer.json, "session/resume without mcpServers fails", answer)


@probe(Side.AGENT, "v2-session-07", "v2-session-08")
async def resumes_from_the_start(bench: Bench) -> None:
    bench.need(await bench.greet(), v1=(), v2=("session",))
    past, session, said = await with_a_past(bench)
    _, answer, told = await reopen(bench, past, "session/resume", session, replayFrom={"type": "start"})
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


def text_of(said: Said) -> str:
    """The text of a message or of a chunk of one."""
    content = said.update.get("content")
    blocks = content if isinstance(content, list) else [content]
    return "".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def _whole(messages: list[Said]) -> str:
    """What the agent said in them."""
    return "".join(text_of(said) for said in messages if said.kind in {"agent_message", "agent_message_chunk"}).strip()
