"""Turns of an agent over the wire of both versions: their order, their end, and what may be said when."""

from __future__ import annotations

import asyncio
import json

import pytest
from agent_kit import PATIENCE, Ended, Scripted, Talk, forever

from duologue.agent import Turn, TurnOver
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.prompt import StopReason, Usage
from wire import settle

# --- one turn ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-prompt-03", "v1-prompt-05", "v2-prompt-05", "v2-prompt-06")
async def test_a_turn_says_something_and_ends(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    session = await talk.new()
    ended = await talk.turn(session, "hello")
    assert ended == Ended("end_turn")
    assert talk.said() == "echo hello"
    await talk.wire.silence()


@pytest.mark.req("v2-prompt-01", "v2-prompt-02", "v2-prompt-03", "v2-prompt-04")
async def test_on_version_2_the_prompt_is_accepted_then_shown_then_worked_on() -> None:
    talk = await Talk.begin(Scripted(), 2)
    session = await talk.new()
    await talk.turn(session, "hello")
    assert talk.kinds() == ["answer", "user_message", "state_update", "agent_message_chunk", "state_update"]
    assert talk.states() == ["running", "end_turn"]
    shown = talk.updates()[0]
    assert shown["content"] == [{"type": "text", "text": "hello"}]
    assert shown["messageId"]


@pytest.mark.req("v1-prompt-04")
async def test_field_bug_74_on_version_1_the_prompt_is_not_echoed_and_only_the_end_is_told() -> None:
    talk = await Talk.begin(Scripted(), 1)
    session = await talk.new()
    await talk.turn(session, "hello")
    assert talk.kinds() == ["agent_message_chunk", "answer"]


@pytest.mark.parametrize(
    "reason", [StopReason.END_TURN, StopReason.MAX_TOKENS, StopReason.MAX_TURN_REQUESTS, StopReason.REFUSAL]
)
async def test_the_stop_reason_of_the_author_is_told(version: int, reason: StopReason) -> None:
    async def stop(turn: Turn) -> StopReason:
        return reason

    talk = await Talk.begin(Scripted(stop=stop), version)
    assert await talk.turn(await talk.new(), "stop") == Ended(reason.value)


async def test_usage_is_told_with_the_end_when_it_is_known_and_only_then(version: int) -> None:
    async def count(turn: Turn) -> None:
        turn.tokens = Usage(input_tokens=3, output_tokens=4, total_tokens=7)

    talk = await Talk.begin(Scripted(count=count), version)
    session = await talk.new()
    usage = (await talk.turn(session, "count")).usage
    assert usage is not None and usage["totalTokens"] == 7
    assert (await talk.turn(session, "hello")).usage is None


@pytest.mark.req("v1-prompt-05")
async def test_field_bug_36_all_updates_of_a_turn_come_before_its_end(version: int) -> None:
    async def stream(turn: Turn) -> None:
        for number in range(500):
            await turn.say(f"{number} ")

    talk = await Talk.begin(Scripted(stream=stream), version)
    await talk.turn(await talk.new(), "stream")
    assert talk.said() == "".join(f"{number} " for number in range(500))
    await talk.wire.silence()


async def test_a_sender_that_awaits_nothing_still_speaks_before_its_end(version: int) -> None:
    async def stream(turn: Turn) -> None:
        for number in range(500):
            turn.say(f"{number} ")

    talk = await Talk.begin(Scripted(stream=stream), version)
    await talk.turn(await talk.new(), "stream")
    assert talk.said() == "".join(f"{number} " for number in range(500))


async def test_messages_end_where_something_else_begins() -> None:
    async def mixed(turn: Turn) -> None:
        turn.say("a")
        turn.say("b")
        turn.think("hm")
        turn.say("c")
        turn.end_message()
        turn.say("d")
        async with turn.tool_call("look"):
            pass
        turn.say("e")

    talk = await Talk.begin(Scripted(mixed=mixed), 2)
    await talk.turn(await talk.new(), "mixed")
    chunks = [
        (update["messageId"], update["content"]["text"])
        for update in talk.updates()
        if "chunk" in update["sessionUpdate"]
    ]
    ids = [id for id, _ in chunks]
    assert [text for _, text in chunks] == ["a", "b", "hm", "c", "d", "e"]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 5


# --- failures ---------------------------------------------------------------------------------------------------------


async def test_an_error_of_the_author_is_the_answer_on_version_1_and_the_idle_state_on_version_2(version: int) -> None:
    async def fail(turn: Turn) -> None:
        await turn.say("so far")
        raise RpcError(-32000, "log in first", {"hint": "key"})

    talk = await Talk.begin(Scripted(fail=fail), version)
    session = await talk.new()
    ended = await talk.turn(session, "fail")
    assert ended == Ended(error={"code": -32000, "message": "log in first", "data": {"hint": "key"}})
    assert talk.said() == "so far"
    if version == 2:
        assert talk.states() == ["running", "_error"]
    assert await talk.turn(session, "again") == Ended("end_turn")


async def test_a_crash_tells_its_kind_and_no_more(version: int) -> None:
    async def crash(turn: Turn) -> None:
        raise KeyError("/home/me/.secret")

    talk = await Talk.begin(Scripted(crash=crash), version)
    session = await talk.new()
    ended = await talk.turn(session, "crash")
    assert ended.error is not None
    assert (ended.error["code"], ended.error["data"]) == (-32603, {"details": "KeyError"})
    assert "secret" not in json.dumps(talk.seen)
    assert await talk.turn(session, "again") == Ended("end_turn")


async def test_a_turn_that_cancels_itself_ends_as_cancelled(version: int) -> None:
    async def give_up(turn: Turn) -> None:
        raise asyncio.CancelledError

    talk = await Talk.begin(Scripted(give=give_up), version)
    assert await talk.turn(await talk.new(), "give up") == Ended("cancelled")


# --- several prompts --------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-prompt-09")
async def test_field_bugs_54_55_56_57_a_second_prompt_waits_for_the_first_and_is_not_refused(version: int) -> None:
    go = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await go.wait()
        await turn.say("slow done ")

    agent = Scripted(slow=slow)
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    first = talk.prompting(session, "slow")
    second, third = talk.prompting(session, "two"), talk.prompting(session, "three")
    talk.send(first, second, third)
    await settle()
    assert agent.log == ["begin slow"]
    if version == 2:
        for request in (first, second, third):
            assert (await talk.answer(request["id"]))["result"] == {}
    go.set()
    assert await talk.ended(first["id"], second["id"], third["id"]) == [Ended("end_turn")] * 3
    assert talk.said() == "slow done echo twoecho three"
    assert agent.log == ["begin slow", "end slow", "begin two", "end two", "begin three", "end three"]
    if version == 1:
        answers = [message["id"] for message in talk.seen if "method" not in message]
        assert answers[-3:] == [first["id"], second["id"], third["id"]]
    else:
        assert talk.states() == ["running", "end_turn"] * 3
        states_and_messages = [kind for kind in talk.kinds() if kind in ("user_message", "state_update")]
        assert states_and_messages == ["user_message", "state_update", "state_update"] * 3


@pytest.mark.req("all-prompt-04", "all-session-06")
async def test_field_bug_54_turns_of_two_sessions_run_side_by_side(version: int) -> None:
    meeting = asyncio.Barrier(2)

    async def meet(turn: Turn) -> None:
        await meeting.wait()
        await turn.say(f"met {turn.text}")

    talk = await Talk.begin(Scripted(meet=meet), version)
    left, right = await talk.new(), await talk.new()
    assert left != right
    requests = [talk.prompting(left, "meet left"), talk.prompting(right, "meet right")]
    talk.send(*requests)
    assert await talk.ended(*[request["id"] for request in requests]) == [Ended("end_turn")] * 2
    for session, name in ((left, "left"), (right, "right")):
        chunks = [update for update in talk.updates(session) if update["sessionUpdate"] == "agent_message_chunk"]
        assert [chunk["content"]["text"] for chunk in chunks] == [f"met meet {name}"]


@pytest.mark.req("v1-prompt-08")
async def test_field_bug_58_the_next_prompt_may_follow_the_end_at_once(version: int) -> None:
    """Sent in the very read of the end, five hundred times."""
    talk = await Talk.begin(Scripted(), version)
    session = await talk.new()
    id = talk.prompt(session, "0")
    for number in range(1, 501):
        ended = await talk.ended(id)
        assert ended == [Ended("end_turn")]
        talk.seen.clear()
        id = talk.prompt(session, str(number))
    assert await talk.ended(id) == [Ended("end_turn")]
    assert talk.said() == "echo 500"


async def test_many_prompts_in_one_write_are_all_worked_on_in_order(version: int) -> None:
    agent = Scripted()
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    requests = [talk.prompting(session, str(number)) for number in range(200)]
    talk.send(*requests)
    assert await talk.ended(*[request["id"] for request in requests]) == [Ended("end_turn")] * 200
    assert talk.said() == "".join(f"echo {number}" for number in range(200))


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
    for say in (turn.say, turn.think, turn.title):
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
    await held.title("A talk")
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
