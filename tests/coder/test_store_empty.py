"""Which sessions are worth going on with: those in which a turn was answered."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from acp_kit import Scripted, take_turn
from coder_kit import Step, asks, call, says
from store_kit import process, query

from duologue.coder.models.base import AssistantMessage, ModelError, ModelEvent, ModelRequest, StepEnded, TextDelta
from duologue.errors import DuologueError

REFUSED: Step = [TextDelta("no"), StepEnded(AssistantMessage("no"), reason="refusal")]


async def failed(request: ModelRequest) -> AsyncIterator[ModelEvent]:
    raise ModelError("out of order")
    yield TextDelta("never")


async def half(request: ModelRequest) -> AsyncIterator[ModelEvent]:
    yield TextDelta("half an ")
    raise ModelError("out of order")


@pytest.mark.parametrize(
    ("steps", "turns", "broken", "listed"),
    [
        ([says("one")], 1, "", True),
        ([asks(call("list_directory", path=".")), failed], 1, "", True),
        ([half], 1, "", True),
        ([failed], 1, "", False),
        ([failed, failed], 2, "", False),
        ([REFUSED], 1, "", False),
        ([says("one")], 1, "test:scripted", False),
        ([says("one"), failed], 2, "", True),
        ([failed, says("two")], 2, "", True),
        ([says("one"), REFUSED], 2, "", True),
    ],
    ids=["answer", "call", "half", "failed", "twice", "refused", "no model", "later", "before", "refused later"],
)
async def test_a_session_is_listed_once_a_turn_was_answered(
    tmp_path: Path, steps: list[Step], turns: int, broken: str, listed: bool
) -> None:
    kept = tmp_path / "kept"
    async with process(kept, models=Scripted(*steps, broken=broken)) as (agent, _, _):
        session = await agent.new_session(tmp_path)
        for _ in range(turns):
            with contextlib.suppress(DuologueError):
                await take_turn(session, "go")
    async with process(kept, says("on")) as (agent, _, _):
        assert [info.session_id async for info in agent.stored_sessions()] == ([session.id] if listed else [])
        # It can be loaded all the same, and is listed when it has come to something.
        await take_turn(await agent.resume_session(session.id, tmp_path))
    async with process(kept) as (agent, _, _):
        assert [info.session_id async for info in agent.stored_sessions()] == [session.id]
    assert query(kept, "SELECT count(*) FROM session") == [(1,)]
