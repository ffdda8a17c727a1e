"""What an author gets wrong is said in words that tell what to do, and costs the turn alone."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Sequence
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Agent, AgentConnection, Session, Turn, plan_entry, run, serve
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.v2.config import BooleanConfigOption, SessionConfigOption
from duologue.protocol.v2.plan import PlanEntryStatus
from duologue.testing import connected, wire_to


class Partly(Agent):
    # A static method: from Python 3.14 on, a partial function is bound like any other.
    prompt = staticmethod(functools.partial(lambda turn: None))  # type: ignore[assignment] # the mistake


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


class Fixed(Scripted):
    def config_options(self, session: Session) -> Sequence[SessionConfigOption]:
        return [BooleanConfigOption(config_id="loud", name="Loud", current_value=False)]


async def test_an_option_that_nothing_sets_says_so() -> None:
    async with connected(Fixed()) as connection:
        session = await connection.new_session(".")
        with pytest.raises(
            RpcError, match="the config option loud cannot be changed: the agent has no set_config_option"
        ):
            await session.set_config_option("loud", True)


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


async def test_run_in_a_running_loop_names_serve_and_takes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    agent = Agent()
    with pytest.raises(RuntimeError, match=r"write await serve\(agent\) in place of run\(agent\)"):
        run(agent)
    os.write(1, b"still here")
    assert capfd.readouterr().out == "still here"
    # It can be served after that.
    AgentConnection(agent)


async def test_serve_takes_a_transport() -> None:
    with pytest.raises(TypeError, match=r"needs a Transport, such as stdio_transport\(\), not 'stdin'"):
        await serve(Agent(), "stdin")  # type: ignore[arg-type] # the mistake


def test_an_agent_that_was_given_wrong_limits_can_be_served_after_that() -> None:
    agent = Agent()
    for given in ({"limits": 3}, {"trace": "messages.log"}):
        with pytest.raises(TypeError, match="takes a"):
            AgentConnection(agent, **given)
    AgentConnection(agent)


class Extra(Agent):
    def v1_capabilities(self) -> Any:
        return {"load": True}


async def test_what_an_agent_says_of_itself_in_version_1(version: int, caplog: pytest.LogCaptureFixture) -> None:
    async with wire_to(Extra()) as wire:
        params = {"protocolVersion": version, "info": {"name": "x", "version": "1"}, "capabilities": {}}
        assert (await wire.ask("initialize", params))["error"]["code"] == -32603
    assert "v1_capabilities must return AgentExtras, not dict" in caplog.text
