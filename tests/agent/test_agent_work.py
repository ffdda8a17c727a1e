"""What an agent says outside of turns, its own work, and the end of the connection."""

from __future__ import annotations

import asyncio

import pytest
from agent_kit import PATIENCE, Ended, Scripted, Talk, forever

from duologue.agent import Turn, TurnOver
from wire import settle

# --- after the end, and outside of turns ------------------------------------------------------------------------------


async def test_a_turn_that_is_over_speaks_no_more_and_its_session_does(version: int) -> None:
    kept: list[Turn] = []

    async def keep(turn: Turn) -> None:
        kept.append(turn)

    talk = await Talk.begin(Scripted(keep=keep), version)
    session = await talk.new()
    await talk.turn(session, "keep")
    turn = kept[0]
    assert turn.over
    for say in (turn.say, turn.think, turn.set_title):
        with pytest.raises(TurnOver, match=r"turn\.session"):
            say("late")
    with pytest.raises(TurnOver):
        await turn.ask_permission("late?")
    with pytest.raises(TurnOver):
        async with turn.tool_call("late"):
            pass
    await talk.wire.silence()
    await turn.session.say("between turns")
    await talk.heard("between turns")


@pytest.mark.req("v2-prompt-09")
async def test_field_bug_185_a_session_speaks_at_any_time(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    session = await talk.new()
    held = talk.connection.sessions[session]
    await held.say("hello ")
    await held.set_title("A talk")
    await talk.request("session/update")
    title = await talk.request("session/update")
    assert title["params"]["update"]["title"] == "A talk"
    assert await talk.turn(session, "go") == Ended("end_turn")


async def test_work_of_the_agents_own_is_shown_as_running_and_idle() -> None:
    talk = await Talk.begin(Scripted(), 2)
    session = talk.connection.sessions[await talk.new()]
    async with session.work() as turn:
        assert turn.prompt is None
        await turn.say("background")
    await talk.read_to(lambda message: message.get("params", {}).get("update", {}).get("state") == "idle")
    assert talk.states() == ["running", "end_turn"]
    assert "user_message" not in talk.kinds()


async def test_own_work_waits_for_its_place_and_prompts_wait_behind_it(version: int) -> None:
    go, leave = asyncio.Event(), asyncio.Event()

    async def slow(turn: Turn) -> None:
        await go.wait()
        await turn.say("1 ")

    talk = await Talk.begin(Scripted(slow=slow), version)
    session_id = await talk.new()
    session = talk.connection.sessions[session_id]
    begun = asyncio.Event()

    async def work() -> None:
        async with session.work() as turn:
            begun.set()
            await turn.say("2 ")
            await leave.wait()
            await turn.say("3 ")

    first = talk.prompt(session_id, "slow")
    await settle()
    working = asyncio.create_task(work())
    await settle()
    second = talk.prompt(session_id, "last")
    await settle()
    assert not begun.is_set()
    go.set()
    await asyncio.wait_for(begun.wait(), PATIENCE)
    # The end of the first turn is the end of the first prompt only.
    assert await talk.ended(first) == [Ended("end_turn")]
    leave.set()
    await asyncio.wait_for(working, PATIENCE)
    assert await talk.ended(first, second) == [Ended("end_turn")] * 2
    assert talk.said() == "1 2 3 echo last"
    if version == 2:
        # No idle between own work and the prompt behind it: clients would take it for the end of the prompt.
        assert talk.states() == ["running", "end_turn", "running", "running", "end_turn"]


async def test_a_prompt_that_comes_during_own_work_is_not_ended_by_the_end_of_that_work(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    session_id = await talk.new()
    session = talk.connection.sessions[session_id]
    async with session.work():
        id = talk.prompt(session_id, "mine")
        await settle()
    assert await talk.ended(id) == [Ended("end_turn")]
    assert talk.said() == "echo mine"


async def test_a_cancel_cancels_the_body_of_own_work(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    session_id = await talk.new()
    session = talk.connection.sessions[session_id]
    outcome: list[str] = []

    async def work() -> None:
        try:
            async with session.work():
                await forever()
        except asyncio.CancelledError:
            outcome.append("cancelled")
            raise

    working = asyncio.create_task(work())
    await settle()
    talk.cancel(session_id)
    await asyncio.wait({working}, timeout=PATIENCE)
    assert outcome == ["cancelled"]
    if version == 2:
        await talk.read_to(lambda message: message.get("params", {}).get("update", {}).get("state") == "idle")
        assert talk.states() == ["running", "cancelled"]
    assert await talk.turn(session_id, "next") == Ended("end_turn")


async def test_own_work_that_is_given_up_before_its_turn_says_nothing() -> None:
    go = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await go.wait()

    talk = await Talk.begin(Scripted(slow=slow), 2)
    session_id = await talk.new()
    session = talk.connection.sessions[session_id]

    async def work() -> None:
        async with session.work():
            raise AssertionError("its turn never came")

    first = talk.prompt(session_id, "slow")
    await settle()
    working = asyncio.create_task(work())
    await settle()
    working.cancel()
    await asyncio.wait({working})
    go.set()
    await talk.ended(first)
    assert await talk.turn(session_id, "next") == Ended("end_turn")
    assert talk.states() == ["running", "end_turn"]


async def test_an_error_in_own_work_leaves_the_session_usable(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    session_id = await talk.new()
    session = talk.connection.sessions[session_id]
    with pytest.raises(ZeroDivisionError):
        async with session.work():
            raise ZeroDivisionError
    await settle()
    await talk.wire.read() if version == 2 else None
    talk.wire.pending()
    assert await talk.turn(session_id, "next") == Ended("end_turn")


# --- the end of the connection ----------------------------------------------------------------------------------------


async def test_field_bugs_144_149_the_end_of_the_stream_ends_turns_and_closes_sessions(version: int) -> None:
    async def hang(turn: Turn) -> None:
        await forever()

    agent = Scripted(hang=hang)
    talk = await Talk.begin(agent, version)
    for name in ("a", "b"):
        session = await talk.new()
        talk.connection.sessions[session].state = name
        talk.prompt(session, f"hang {name}")
        talk.prompt(session, f"queued {name}")
    await settle()
    await talk.wire.near.close()
    await asyncio.wait_for(talk.connection.wait_ended(), PATIENCE)
    assert [entry for entry in agent.log if entry.startswith("begin")] == ["begin hang a", "begin hang b"]
    assert {"cancelled hang a", "cancelled hang b", "closed a", "closed b"} <= set(agent.log)
    assert agent.log.index("closed a") > agent.log.index("end hang a")
    assert talk.connection.sessions == {}


async def test_the_end_of_the_connection_lets_go_of_own_work_that_waits(version: int) -> None:
    async def speak(turn: Turn) -> None:
        while True:
            await turn.say("x")
            await asyncio.sleep(0)

    talk = await Talk.begin(Scripted(speak=speak), version)
    session_id = await talk.new()
    session = talk.connection.sessions[session_id]
    talk.prompt(session_id, "speak")
    await settle()

    async def work() -> None:
        async with session.work():
            pass

    waiting = asyncio.create_task(work())
    await settle()
    await talk.wire.near.close()
    await asyncio.wait({waiting}, timeout=PATIENCE)
    assert waiting.done()


async def test_a_turn_that_does_not_end_keeps_no_other_session_from_being_closed(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from duologue.agent import connection

    monkeypatch.setattr(connection, "END_SECONDS", 0.1)
    release = asyncio.Event()

    async def stubborn(turn: Turn) -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    agent = Scripted(stubborn=stubborn)
    talk = await Talk.begin(agent, version)
    for name in ("a", "b"):
        session = await talk.new()
        talk.connection.sessions[session].state = name
    talk.prompt(next(iter(talk.connection.sessions)), "stubborn")
    await settle()
    await talk.wire.near.close()
    await asyncio.wait_for(talk.connection.wait_ended(), PATIENCE)
    assert {"closed a", "closed b"} <= set(agent.log)
    release.set()
    await settle()


async def test_what_a_turn_still_says_after_the_end_raises_no_alarm(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def talkative(turn: Turn) -> None:
        try:
            await forever()
        finally:
            await turn.say("bye")

    talk = await Talk.begin(Scripted(talkative=talkative), version)
    talk.prompt(await talk.new(), "talkative")
    await settle()
    await talk.wire.near.close()
    await asyncio.wait_for(talk.connection.wait_ended(), PATIENCE)
    await settle()
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
