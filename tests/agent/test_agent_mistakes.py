"""What an author gets wrong is said in words that tell what to do, and costs the turn alone."""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Agent, Session, Turn, plan_entry
from duologue.protocol.v2.config import SessionConfigOption
from duologue.protocol.v2.plan import PlanEntryStatus


class Partly(Agent):
    prompt = functools.partial(lambda turn: None)  # type: ignore[assignment] # the mistake


def gives(value: Any) -> Scripted:
    async def script(turn: Turn) -> Any:
        return value

    return Scripted(go=script)


async def failure(agent: Agent, version: int, log: pytest.LogCaptureFixture) -> str:
    """What the log says of a turn that fails; the client is told no more than the type, and the next turn runs."""
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    with log.at_level(logging.ERROR, "duologue.agent"):
        ended = await talk.turn(session, "go")
    error = ended.error or {}
    assert (error.get("code"), error.get("message")) == (-32603, "Internal error")
    assert error.get("data") == {"details": "TypeError"}
    if isinstance(agent, Scripted):
        assert await talk.turn(session, "hello") == Ended("end_turn")
    return log.text


async def test_a_prompt_that_cannot_be_awaited(version: int, caplog: pytest.LogCaptureFixture) -> None:
    """Of what is no function the class cannot tell: it is found when it is called."""
    assert "TypeError: prompt must be async def" in await failure(Partly(), version, caplog)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (7, "a StopReason is one of end_turn, max_tokens, max_turn_requests, refusal, cancelled, not int"),
        (False, "a StopReason is one of end_turn, max_tokens, max_turn_requests, refusal, cancelled, not bool"),
        ("done", "'done' is no StopReason: give one of end_turn, max_tokens,"),
    ],
)
async def test_a_result_that_is_no_stop_reason(
    version: int, value: object, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    text = await failure(gives(value), version, caplog)
    assert f"TypeError: prompt must return a StopReason, or None for end_turn: {problem}" in text


async def test_an_entry_of_a_plan_that_is_none(version: int, caplog: pytest.LogCaptureFixture) -> None:
    async def script(turn: Turn) -> None:
        await turn.plan([("look", "completed")])  # type: ignore[list-item] # the mistake

    text = await failure(Scripted(go=script), version, caplog)
    assert "TypeError: an entry of a plan is a string or a PlanEntry (see plan_entry), not tuple" in text


def test_a_word_of_an_entry_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="'done' is no PlanEntryStatus: give one of pending, in_progress, completed"):
        plan_entry("x", "done")
    with pytest.raises(ValueError, match="'urgent' is no PlanEntryPriority: give one of high, medium, low"):
        plan_entry("x", priority="urgent")


def test_words_of_ones_own_begin_with_an_underscore() -> None:
    assert plan_entry("x", "_blocked").status == "_blocked"
    assert plan_entry("x", "completed").status is PlanEntryStatus.COMPLETED


class NoOptions(Scripted):
    def config_options(self, session: Session) -> Sequence[SessionConfigOption]:
        raise RuntimeError("boom")


async def test_a_session_whose_options_cannot_be_told_is_closed_again(version: int) -> None:
    agent = NoOptions()
    talk = await Talk.begin(agent, version)
    answer = await talk.ask("session/new", {"cwd": "/tmp", "mcpServers": []})
    assert answer["error"]["code"] == -32603
    assert not talk.connection.sessions
    assert len(agent.log) == 1
    assert agent.log[0].startswith("closed")
