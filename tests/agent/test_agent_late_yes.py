"""A yes that comes with the cancel of its turn, or after it: it is none, whoever waits for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Turn
from duologue.protocol.common.elicitation_schema import BooleanProperty, ElicitationSchema

OFFERING: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
YES: dict[str, dict[str, Any]] = {
    "permission": {"outcome": {"outcome": "selected", "optionId": "allow_once"}},
    "form": {"action": "accept", "content": {"sure": True}},
    "url": {"action": "accept"},
}


async def ask_by(turn: Turn, kind: str) -> object:
    match kind:
        case "permission":
            return await turn.ask_permission("May I?")
        case "form":
            return await turn.ask_form("Sure?", ElicitationSchema(properties={"sure": BooleanProperty()}))
    return await turn.ask_url("Sign in", "https://example.org/sign-in")


@pytest.mark.req("v1-cancellation-01", "v2-cancellation-01")
@pytest.mark.parametrize("kind", YES)
@pytest.mark.parametrize("cancel_first", [True, False])
async def test_a_yes_in_the_same_read_as_the_cancel_is_none(version: int, kind: str, cancel_first: bool) -> None:
    """It may be a task of the author's that asks: the answer reaches it before the cancel of the turn's own does."""
    answers: list[object] = []

    async def ask(turn: Turn) -> None:
        async def elsewhere() -> None:
            answers.append(await ask_by(turn, kind))

        task = asyncio.ensure_future(elsewhere())
        try:
            await asyncio.shield(task)
        finally:
            await task

    talk = await Talk.begin(Scripted(ask=ask), version, offering=OFFERING)
    session = await talk.new()
    id = talk.prompt(session, "ask")
    question = await talk.read_to(lambda message: "method" in message and "id" in message)
    yes = {"id": question["id"], "result": YES[kind]}
    both = [talk.cancelling(session), yes]
    talk.send(*(both if cancel_first else reversed(both)))
    assert await talk.ended(id) == [Ended("cancelled")]
    assert [bool(answer) for answer in answers] == [False]
