"""Turns of an agent over the wire of both versions: their order, their end, and what may be said when."""

from __future__ import annotations

import asyncio
import json

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Turn
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
