"""A transcript of what goes on now: the latest state is that of a whole one, and it does not grow."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue import Agent, Client, Turn, connect
from duologue.agent import AgentConnection, plan_entry
from duologue.client import Session
from duologue.protocol.base import Unknown
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.updates import SessionInfoUpdateEvent
from duologue.protocol.v2.plan import ItemsPlan
from duologue.protocol.v2.terminal import TerminalOutput
from duologue.protocol.v2.tools import ToolCallStatus, ToolContent
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    PlanUpdateEvent,
    SessionUpdate,
    TerminalUpdateEvent,
    ToolCallContentChunkEvent,
    ToolCallUpdateEvent,
    UserMessageEvent,
)
from duologue.session import CurrentTranscript, Transcript
from duologue.session.current import KEPT, KEPT_CONTENT
from duologue.transports.memory import memory_pair

CONTENT = ToolContent(content=TextBlock(text="x"))


def call(number: int, **members: object) -> ToolCallUpdateEvent:
    return ToolCallUpdateEvent(tool_call_id=f"c{number}", **members)  # type: ignore[arg-type]


def updates_of(number: int) -> list[Any]:
    return [
        UserMessageEvent(message_id=f"u{number}", content=[TextBlock(text="do")]),
        AgentMessageChunk(message_id=f"m{number}", content=TextBlock(text="on it")),
        PlanUpdateEvent(plan=ItemsPlan(plan_id=f"p{number}", entries=[plan_entry("act")])),
        call(number, title="Act", raw_input={"a": 1}, content=[CONTENT]),
        TerminalUpdateEvent(terminal_id=f"t{number}", output=TerminalOutput(data="eA==")),
        Unknown({"sessionUpdate": "sparkle"}),
        call(number, status=ToolCallStatus.COMPLETED),
        SessionInfoUpdateEvent(title=f"Title {number}"),
    ]


def test_it_does_not_grow_and_knows_the_latest() -> None:
    kept, whole = CurrentTranscript(), Transcript()
    for number in range(10 * KEPT):
        for update in updates_of(number):
            for transcript in (kept, whole):
                transcript.apply(update)
    assert len(kept.entries) == len(kept.plans) == KEPT
    assert not kept.messages and not kept.terminals
    assert kept.let_go + len(kept.entries) == 20 * KEPT  # A call and an unknown update each time.
    assert set(kept.tool_calls) == {entry.id for entry in kept.entries if not isinstance(entry, Unknown)}
    assert kept.title == whole.title and list(kept.plans) == list(whole.plans)[-KEPT:]
    assert all(call.status == ToolCallStatus.COMPLETED and not call.content for call in kept.tool_calls.values())


def test_a_call_has_its_content_when_its_end_is_told_and_not_for_long() -> None:
    transcript = CurrentTranscript()
    transcript.apply(call(1, title="Act"))
    for _ in range(2 * KEPT_CONTENT):
        transcript.apply(ToolCallContentChunkEvent(tool_call_id="c1", content=CONTENT))
    assert len(transcript.tool_calls["c1"].content) == KEPT_CONTENT
    transcript.apply(call(1, status=ToolCallStatus.FAILED))
    assert transcript.tool_calls["c1"].content
    transcript.apply(call(2, title="Next"))
    assert not transcript.tool_calls["c1"].content and transcript.tool_calls["c1"].title == "Act"


class Busy(Agent):
    async def prompt(self, turn: Turn) -> None:
        """Many calls, and after \"go\" one that does not end."""
        for number in range(2 * KEPT):
            async with turn.tool_call(f"Call {number}"):
                pass
        if turn.text == "go":
            async with turn.tool_call("The last"):
                await asyncio.sleep(3600)


class Frugal(Client):
    def transcript(self) -> Transcript:
        return CurrentTranscript()

    def on_update(self, session: Session, update: SessionUpdate) -> None:
        if isinstance(update, ToolCallUpdateEvent) and update.title == "The last":
            self.last.set_result(session)

    def __init__(self) -> None:
        self.last: asyncio.Future[Session] = asyncio.get_running_loop().create_future()


@pytest.mark.parametrize("protocol", [1, 2])
async def test_a_cancel_still_marks_what_is_open(protocol: int) -> None:
    here, there = memory_pair()
    await AgentConnection(Busy()).start(there)
    client = Frugal()
    async with connect(lambda: here, client, protocol=2 if protocol == 2 else 1) as agent:
        session = await agent.new_session(".")
        await session.prompt("fill").text()
        turn = session.prompt("go")
        reading = asyncio.ensure_future(turn.text())
        await client.last
        assert session.transcript.let_go > KEPT
        await turn.cancel()
        (last,) = [call for call in session.transcript.tool_calls.values() if call.title == "The last"]
        assert last.status == ToolCallStatus.CANCELLED
        await reading
