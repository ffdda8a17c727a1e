"""Requests that change a session: what waits for what, and what closing does."""

from __future__ import annotations

import asyncio

import pytest
from agent_kit import PATIENCE, Ended, Talk, forever
from keeper_kit import Keeper, kept_of, reopen, set_model

from duologue.agent import Turn
from wire import settle

# --- what waits for what ----------------------------------------------------------------------------------------------


async def test_changes_of_one_session_happen_one_after_the_other(version: int) -> None:
    agent = Keeper()
    agent.gates["set b"] = asyncio.Event()
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    agent.log.clear()
    first, second = talk.call(*set_model(version, session, "b")), talk.call(*set_model(version, session, "a"))
    prompt = talk.prompting(session, "hi")
    talk.send(first, second, prompt)
    await settle()
    assert agent.log == ["set b begins"]
    agent.gates["set b"].set()
    await talk.ended(prompt["id"])
    assert agent.log == ["set b begins", "set b ends", "set a begins", "set a ends", "begin hi", "end hi"]
    answers = [message["id"] for message in talk.seen if "method" not in message][-3:]
    assert answers == [first["id"], second["id"], prompt["id"]]


async def test_a_prompt_behind_a_change_waits_for_it_though_a_turn_before_it_ends(version: int) -> None:
    agent = Keeper()
    agent.gates["set b"] = asyncio.Event()
    go = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await go.wait()

    agent.scripts["slow"] = slow
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    agent.log.clear()
    requests = [
        talk.prompting(session, "slow"),
        talk.call(*set_model(version, session, "b")),
        talk.prompting(session, "x"),
    ]
    talk.send(*requests)
    await settle()
    go.set()
    assert await talk.ended(requests[0]["id"]) == [Ended("end_turn")]
    await settle()
    assert "begin x" not in agent.log
    agent.gates["set b"].set()
    assert await talk.ended(requests[0]["id"], requests[2]["id"]) == [Ended("end_turn")] * 2
    assert agent.log.index("begin x") > agent.log.index("set b ends")


async def test_changes_of_another_session_do_not_wait(version: int) -> None:
    agent = Keeper()
    agent.gates["set b"] = asyncio.Event()
    talk = await Talk.begin(agent, version)
    left, right = await talk.new(), await talk.new()
    waits = talk.call(*set_model(version, left, "b"))
    talk.send(waits)
    await settle()
    assert "result" in await talk.ask(*set_model(version, right, "a"))
    agent.gates["set b"].set()
    assert "result" in await talk.answer(waits["id"])


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
async def test_a_prompt_behind_a_reopening_waits_for_its_end(version: int, known: bool) -> None:
    agent = Keeper()
    agent.gates["resume"] = asyncio.Event()
    if not known:
        agent.stored.clear()
    talk = await Talk.begin(agent, version)
    opening, prompt = talk.call(*reopen(version, "old")), talk.prompting("old", "hi")
    talk.send(opening, prompt)
    await settle()
    assert "begin hi" not in agent.log
    agent.gates["resume"].set()
    if known:
        assert await talk.ended(prompt["id"]) == [Ended("end_turn")]
        assert "result" in await talk.answer(opening["id"])
    else:
        for request in (opening, prompt):
            assert (await talk.answer(request["id"]))["error"]["code"] == -32002
        assert agent.log == []
        await talk.wire.silence()
    assert not any(kept_of(talk.connection))


async def test_field_bug_42_a_cancel_finds_a_prompt_that_waits_for_a_reopening(version: int) -> None:
    agent = Keeper()
    agent.gates["resume"] = asyncio.Event()
    talk = await Talk.begin(agent, version)
    opening, prompt = talk.call(*reopen(version, "old")), talk.prompting("old", "hi")
    talk.send(opening, prompt, talk.cancelling("old"))
    await settle()
    agent.gates["resume"].set()
    assert await talk.ended(prompt["id"]) == [Ended("cancelled")]
    assert "begin hi" not in agent.log


async def test_two_reopenings_at_once_are_one_after_the_other(version: int) -> None:
    agent = Keeper()
    agent.gates["resume"] = asyncio.Event()
    talk = await Talk.begin(agent, version)
    calls = [talk.call(*reopen(version, "old")) for _ in range(2)]
    talk.send(*calls)
    await settle()
    agent.gates["resume"].set()
    for call in calls:
        assert "result" in await talk.answer(call["id"])
    assert agent.log == ["resume begins", "resume ends"] * 2
    assert list(talk.connection.sessions) == ["old"]


# --- closing ----------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-session-08", "v2-session-04")
async def test_closing_cancels_the_work_first_and_frees_the_session(version: int) -> None:
    async def hang(turn: Turn) -> None:
        await forever()

    agent = Keeper(hang=hang)
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    agent.log.clear()
    requests = [talk.prompting(session, "hang"), talk.prompting(session, "queued")]
    talk.send(*requests)
    await settle()
    talk.seen.clear()
    close = talk.call("session/close", {"sessionId": session})
    late = talk.prompting(session, "late")
    talk.send(close, late)
    assert await talk.ended(*[request["id"] for request in requests]) == [Ended("cancelled")] * 2
    assert "result" in await talk.answer(close["id"])
    # What is read behind the close is about a session that is not there any more.
    assert (await talk.answer(late["id"]))["error"]["code"] == -32002
    ended = ["begin hang", "cancelled hang", "end hang", "close begins", "close ends"]
    assert agent.log == ended
    assert talk.connection.sessions == {}
    assert (await talk.ask("session/close", {"sessionId": session}))["error"]["code"] == -32002


async def test_field_bug_86_opening_and_closing_many_sessions_keeps_nothing(version: int) -> None:
    talk = await Talk.begin(Keeper(), version)
    for _ in range(50):
        session = await talk.new()
        await talk.turn(session, "hi")
        assert "result" in await talk.ask("session/close", {"sessionId": session})
    connection = talk.connection
    assert connection.sessions == {} and not any(kept_of(connection))
    if connection.peer.edge is not None:
        assert connection.peer.edge.memory.sessions == {}
        assert connection.peer.edge.memory.inbound == {}


async def test_the_end_of_the_stream_lets_go_of_what_waits_for_a_change(version: int) -> None:
    agent = Keeper()
    agent.gates["set b"] = asyncio.Event()
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    talk.send(talk.call(*set_model(version, session, "b")), talk.prompting(session, "hi"))
    await settle()
    await talk.wire.near.close()
    await asyncio.wait_for(talk.connection.wait_ended(), PATIENCE)
    await asyncio.wait_for(talk.connection.close(), PATIENCE)
    assert "begin hi" not in agent.log
    assert agent.log[-1] == "close ends"
    waiting = [task for task in asyncio.all_tasks() if "Answering" in repr(task)]
    assert waiting == []
