"""Cancelling the coding agent in each phase of a turn: it ends as cancelled, nothing goes on, the next one works."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Person, Scripted, opened, take_turn
from coder_kit import Step, asks, call, says

from duologue.client import Session
from duologue.coder.models.base import Model, ModelEvent, ModelRequest, TextDelta
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.v2.updates import AgentMessageChunk, TerminalOutputChunkEvent, ToolCallUpdateEvent

#: How a call that was stopped ends: version 1 has no word of its own for it.
STOPPED = {1: "failed", 2: "cancelled"}

LONG = "echo begun; sleep 60; touch late"


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def silent(text: str = "", asked: asyncio.Event | None = None) -> Any:
    async def step(request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if asked is not None:
            asked.set()
        if text:
            yield TextDelta(text)
        await asyncio.sleep(3600)

    return step


async def cancel_when(session: Session, kind: type[Any]) -> StopReason | None:
    """A turn that is cancelled at the first update of a kind."""
    turn = session.prompt("go")
    async for update in turn:
        if isinstance(update, kind):
            await turn.cancel()
    return turn.stop_reason


@pytest.mark.req("v1-cancellation-01", "v1-cancellation-03", "v2-cancellation-01", "all-cancellation-06")
async def test_before_the_first_token(tmp_path: Path, protocol: int) -> None:
    """Field bug 39."""
    asked = asyncio.Event()
    async with opened(tmp_path, silent(asked=asked), says("next"), protocol=protocol) as (session, _, _models):
        turn = asyncio.create_task(take_turn(session))
        await asked.wait()
        await session.cancel()
        assert await turn is StopReason.CANCELLED
        assert await take_turn(session) is StopReason.END_TURN


@pytest.mark.req("v1-cancellation-02", "all-cancellation-01")
async def test_in_the_middle_of_a_message(tmp_path: Path, protocol: int) -> None:
    async with opened(tmp_path, silent("half a"), says("next"), protocol=protocol) as (session, _, models):
        assert await cancel_when(session, AgentMessageChunk) is StopReason.CANCELLED
        assert await take_turn(session) is StopReason.END_TURN
        # What was said has been seen: it stays in the history.
        assert "half a" in [getattr(message, "text", "") for message in models.model.requests[-1].messages]


@pytest.mark.req("v2-cancellation-02", "v2-cancellation-03")
async def test_while_a_command_runs(tmp_path: Path, protocol: int) -> None:
    """Field bugs 40 and 48."""
    steps = [asks(call("run_command", command=LONG)), says("next")]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, person, models):
        turn = session.prompt("go")
        async for _ in turn:
            if any(terminal.output for terminal in session.transcript.terminals.values()):
                await turn.cancel()
        assert turn.stop_reason is StopReason.CANCELLED
        (told,) = session.transcript.tool_calls.values()
        assert told.status == STOPPED[protocol]
        assert not (tmp_path / "late").exists()
        assert len(models.model.requests) == 1
        assert await take_turn(session) is StopReason.END_TURN
        assert person.statuses(told.id)[-1] == STOPPED[protocol]


@pytest.mark.req("all-cancellation-13", "all-permissions-06")
async def test_while_a_question_is_open(tmp_path: Path, protocol: int) -> None:
    """Field bugs 39 and 48."""
    opened_question = asyncio.Event()

    async def wait(session: Any, request: Any) -> None:
        opened_question.set()
        await asyncio.sleep(3600)

    person = Person(at_question=wait)
    steps = [asks(call("write_file", path="a.txt", text="x")), says("next")]
    async with opened(tmp_path, *steps, protocol=protocol, person=person) as (session, _, models):
        turn = asyncio.create_task(take_turn(session))
        await opened_question.wait()
        await session.cancel()
        assert await turn is StopReason.CANCELLED
        (told,) = session.transcript.tool_calls.values()
        assert told.status == STOPPED[protocol] and not (tmp_path / "a.txt").exists()
        assert len(models.model.requests) == 1
        assert await take_turn(session) is StopReason.END_TURN


async def test_by_the_answer_to_a_question(tmp_path: Path, protocol: int) -> None:
    person = Person("cancelled")
    steps = [asks(call("write_file", path="a.txt", text="x")), says("next")]
    async with opened(tmp_path, *steps, protocol=protocol, person=person) as (session, _, _models):
        assert await take_turn(session) is StopReason.CANCELLED
        (told,) = session.transcript.tool_calls.values()
        assert told.status == STOPPED[protocol] and not (tmp_path / "a.txt").exists()


class SlowModels(Scripted):
    """A model that takes its time to be ready."""

    def __init__(self, *steps: Step) -> None:
        super().__init__(*steps)
        self.loading, self.go = threading.Event(), threading.Event()

    def load(self, spec: str) -> Model:
        self.loading.set()
        self.go.wait(20)
        return super().load(spec)


async def test_while_the_model_is_made_ready(tmp_path: Path, protocol: int) -> None:
    """Field bug 42."""
    models = SlowModels(says("never"))
    async with opened(tmp_path, protocol=protocol, models=models) as (session, _, _models):
        turn = asyncio.create_task(take_turn(session))
        assert await asyncio.to_thread(models.loading.wait, 20)
        await session.cancel()
        models.go.set()
        assert await turn is StopReason.CANCELLED
        assert not models.model.requests


@pytest.mark.req("all-cancellation-04")
async def test_twice_and_then_a_turn_that_asks(tmp_path: Path, protocol: int) -> None:
    """Field bugs 45 and 49."""
    steps = [silent("x"), asks(call("write_file", path="a.txt", text="x")), says()]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, person, _):
        turn = session.prompt("go")
        async for update in turn:
            if isinstance(update, AgentMessageChunk):
                session.send_cancel()
                session.send_cancel()
        assert turn.stop_reason is StopReason.CANCELLED
        assert await take_turn(session) is StopReason.END_TURN
        assert len(person.questions) == 1 and (tmp_path / "a.txt").exists()


@pytest.mark.req("all-cancellation-01")
async def test_the_end_of_the_connection_ends_the_command(tmp_path: Path, protocol: int) -> None:
    async with opened(tmp_path, asks(call("run_command", command=LONG)), protocol=protocol) as (session, person, _):
        turn = asyncio.create_task(take_turn(session))
        await person.told(TerminalOutputChunkEvent)
        await session.connection.close()
        await asyncio.wait({turn})
        assert turn.exception() is not None
    assert not (tmp_path / "late").exists()


async def test_closing_the_session_ends_its_command(tmp_path: Path, protocol: int) -> None:
    async with opened(tmp_path, asks(call("run_command", command=LONG)), protocol=protocol) as (session, person, _):
        turn = asyncio.create_task(take_turn(session))
        await person.told(TerminalOutputChunkEvent)
        await session.close()
        assert await turn is StopReason.CANCELLED
    assert not (tmp_path / "late").exists()


async def test_nothing_of_a_cancelled_turn_is_told_in_the_next(tmp_path: Path, protocol: int) -> None:
    """Field bug 52."""
    steps = [asks(call("run_command", "first", command="trap '' TERM; echo begun; sleep 60")), says("next")]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, _, _models):
        turn = session.prompt("go")
        async for _ in turn:
            if any(terminal.output for terminal in session.transcript.terminals.values()):
                await turn.cancel()
        after = [update async for update in session.prompt("again")]
        assert not [update for update in after if isinstance(update, ToolCallUpdateEvent)]
