"""Every turn is told to have ended, whatever its author gave; and a session is never left waiting for a user."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk, settle, until

from duologue.agent import Session, Turn
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.prompt import StopReason, Usage

ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


async def unspeakable_error(turn: Turn) -> None:
    raise RpcError(-32042, "no such file", {"path": Path("/a")})


async def unspeakable_usage(turn: Turn) -> None:
    turn.tokens = Usage(input_tokens=Path("/a"), output_tokens=1, total_tokens=1)  # type: ignore[arg-type]


async def test_data_that_cannot_be_encoded_costs_the_data_alone(version: int) -> None:
    talk = await Talk.begin(Scripted(fail=unspeakable_error), version)
    session = await talk.new()
    ended = await talk.turn(session, "fail")
    assert ended == Ended(error={"code": -32042, "message": "no such file"})
    assert await talk.turn(session, "hello") == Ended("end_turn")


async def test_field_bug_128_usage_that_cannot_be_encoded_costs_the_usage_alone(version: int) -> None:
    talk = await Talk.begin(Scripted(count=unspeakable_usage), version)
    session = await talk.new()
    assert await talk.turn(session, "count") == Ended("end_turn")
    assert await talk.turn(session, "hello") == Ended("end_turn")


async def test_a_turn_that_cannot_be_begun_fails_and_the_next_one_runs(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await Talk.begin(Scripted(), version)
    session = await talk.new()
    turns = talk.connection.sessions[session].turns
    begin, tries = turns._one, 0

    async def broken_at_first(turn: Turn) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise RuntimeError("a secret")
        await begin(turn)

    monkeypatch.setattr(turns, "_one", broken_at_first)
    first, second = talk.prompt(session, "first"), talk.prompt(session, "second")
    ends = await talk.ended(first, second)
    assert ends[0].error is not None
    assert (ends[0].error["code"], ends[0].error["data"]) == (-32603, {"details": "RuntimeError"})
    assert ends[1] == Ended("end_turn")


# --- Questions outside of a turn --------------------------------------------------------------------------------------


class Asker(Scripted):
    """Holds its last session, so that a test can ask through it."""

    session: Session

    async def new_session(self, session: Session) -> None:
        self.session = session


@pytest.mark.parametrize("version", [2])
async def test_a_question_outside_of_a_turn_leaves_the_session_idle(version: int) -> None:
    agent = Asker()
    talk = await Talk.begin(agent, version)
    await talk.new()
    asking = asyncio.ensure_future(agent.session.ask_permission("May I?"))
    request = await talk.request("session/request_permission")
    assert talk.states() == ["requires_action"]
    talk.send({"id": request["id"], "result": ALLOW})
    assert await asking
    await talk.read_to(lambda message: message.get("params", {}).get("update", {}).get("state") == "idle")
    assert talk.states() == ["requires_action", "idle"]


@pytest.mark.parametrize("version", [2])
async def test_the_end_of_a_turn_is_told_once_though_its_question_is_open(version: int) -> None:
    async def ask(turn: Turn) -> StopReason | None:
        await turn.ask_permission("May I?")
        return None

    talk = await Talk.begin(Scripted(ask=ask), version)
    session = await talk.new()
    talk.prompt(session, "ask")
    request = await talk.request("session/request_permission")
    talk.cancel(session)
    await talk.read_to(lambda message: message.get("params", {}).get("update", {}).get("stopReason"))
    talk.send({"id": request["id"], "result": ALLOW})
    await settle()
    assert [state for state in talk.states() if state in ("idle", "cancelled")] == ["cancelled"]
    assert not talk.wire.pending()


async def test_a_question_that_cannot_be_sent_leaves_no_question_open(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Asker()
    talk = await Talk.begin(agent, version)
    await talk.new()
    turns = agent.session.turns

    def broken(state: Any) -> None:
        raise RuntimeError("told nobody")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="told nobody"):
        patch.setattr(turns, "_tell", broken)
        await agent.session.ask_permission("May I?")
    assert turns._waiting == 0


async def test_a_session_that_the_client_does_not_know_yet_asks_nothing(version: int) -> None:
    class Early(Scripted):
        problem = ""

        async def new_session(self, session: Session) -> None:
            try:
                await session.ask_permission("May I?")
            except RuntimeError as error:
                self.problem = str(error)

    agent = Early()
    talk = await Talk.begin(agent, version)
    await talk.new()
    assert "not in new_session" in agent.problem
    assert [message.get("method") for message in talk.seen] == [None, None]


async def test_all_that_new_session_says_follows_its_answer(version: int) -> None:
    class Greeting(Scripted):
        async def new_session(self, session: Session) -> None:
            await session.say("hello")
            await session.set_title("A talk")
            await session.commands([])

    talk = await Talk.begin(Greeting(), version)
    await talk.new()
    talk.seen.clear()
    await until(lambda: not talk.wire._lines.empty())
    assert (await talk.read())["params"]["update"]["content"]["text"] == "hello"
    for _ in range(2):
        await talk.read()
    assert talk.kinds() == ["agent_message_chunk", "session_info_update", "available_commands_update"]
