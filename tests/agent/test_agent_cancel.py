"""`session/cancel` in both versions: from any phase, as often as one likes, and only for what was before it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk, cancelled_outcome, forever

from duologue.agent import Turn
from duologue.protocol.common.prompt import StopReason
from wire import settle

CANCELLED = Ended("cancelled")


async def hang(turn: Turn) -> None:
    await turn.say("started ")
    await forever()


# --- every phase ------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-cancellation-01", "v2-cancellation-01")
async def test_field_bugs_39_42_a_cancel_in_the_same_read_as_its_prompt(version: int) -> None:
    agent = Scripted()
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    request = talk.prompting(session, "never")
    talk.send(request, talk.cancelling(session))
    assert await talk.ended(request["id"]) == [CANCELLED]
    assert agent.log == []
    if version == 2:
        assert [kind for kind in talk.kinds() if kind == "user_message"] == ["user_message"]
        assert talk.states() == ["cancelled"]
    assert await talk.turn(session, "next") == Ended("end_turn")


@pytest.mark.parametrize("ticks", range(12))
async def test_field_bug_39_a_cancel_at_any_early_moment(version: int, ticks: int) -> None:
    talk = await Talk.begin(Scripted(hang=hang), version)
    session = await talk.new()
    id = talk.prompt(session, "hang")
    for _ in range(ticks):
        await asyncio.sleep(0)
    talk.cancel(session)
    assert await talk.ended(id) == [CANCELLED]
    assert await talk.turn(session, "next") == Ended("end_turn")


@pytest.mark.req("v1-cancellation-02", "v2-cancellation-03", "all-cancellation-06")
async def test_field_bug_39_a_cancel_after_the_first_chunk(version: int) -> None:
    talk = await Talk.begin(Scripted(hang=hang), version)
    session = await talk.new()
    id = talk.prompt(session, "hang")
    await talk.heard("started")
    talk.cancel(session)
    assert await talk.ended(id) == [CANCELLED]
    assert await talk.turn(session, "next") == Ended("end_turn")


@pytest.mark.req("v1-cancellation-03", "v2-cancellation-02")
async def test_field_bug_39_a_cancel_in_a_tool_ends_the_tool_call_before_the_turn(version: int) -> None:
    async def tool(turn: Turn) -> None:
        async with turn.tool_call("run") as call:
            await call.text("working")
            await forever()

    talk = await Talk.begin(Scripted(tool=tool), version)
    session = await talk.new()
    id = talk.prompt(session, "tool")
    await talk.read_to(lambda message: "working" in str(message))
    talk.cancel(session)
    assert await talk.ended(id) == [CANCELLED]
    statuses = [update["status"] for update in talk.updates() if "status" in update]
    # Version 1 has no status for it.
    assert statuses[-1] == ("failed" if version == 1 else "cancelled")
    await talk.wire.silence()


@pytest.mark.req("all-cancellation-13")
async def test_field_bug_39_a_cancel_while_a_permission_is_asked_for(version: int) -> None:
    after: list[str] = []

    async def ask(turn: Turn) -> None:
        await turn.ask_permission("May I?")
        after.append("went on")

    talk = await Talk.begin(Scripted(ask=ask), version)
    session = await talk.new()
    id = talk.prompt(session, "ask")
    question = await talk.request("session/request_permission")
    talk.cancel(session)
    await settle()
    await cancelled_outcome(talk, question)
    assert await talk.ended(id) == [CANCELLED]
    withdrawn = [message for message in talk.seen if message.get("method") == "$/cancel_request"]
    assert [message["params"] for message in withdrawn] == [{"requestId": question["id"]}]
    assert after == []
    assert await talk.turn(session, "next") == Ended("end_turn")


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"outcome": {"outcome": "cancelled"}}},
        {"error": {"code": -32800, "message": "Request cancelled"}},
    ],
    ids=["outcome", "error"],
)
async def test_field_bug_48_a_permission_that_the_client_cancels_ends_the_turn(
    version: int, answer: dict[str, Any]
) -> None:
    """The answer may come before the cancel, or without one."""
    attempts: list[bool] = []

    async def stubborn(turn: Turn) -> None:
        for _ in range(10):
            attempts.append(bool(await turn.ask_permission("May I?")))
            await asyncio.sleep(0)

    talk = await Talk.begin(Scripted(stubborn=stubborn), version)
    session = await talk.new()
    id = talk.prompt(session, "stubborn")
    question = await talk.request("session/request_permission")
    talk.send({"id": question["id"], **answer})
    assert await talk.ended(id) == [CANCELLED]
    assert attempts == [False]
    await talk.wire.silence()
    assert await talk.turn(session, "next") == Ended("end_turn")


async def test_field_bug_39_a_cancel_while_a_request_of_the_agent_is_open() -> None:
    """Version 1: the agent reads a file of the client."""
    from duologue.protocol.v1 import table as v1
    from duologue.protocol.v1.fs import ReadTextFileRequest

    async def read(turn: Turn) -> None:
        request = ReadTextFileRequest(session_id=turn.session.id, path="/a")
        await turn.session.peer.request(v1.FS_READ_TEXT_FILE, request)

    talk = await Talk.begin(Scripted(read=read), 1)
    session = await talk.new()
    id = talk.prompt(session, "read")
    question = await talk.request("fs/read_text_file")
    talk.cancel(session)
    assert await talk.ended(id) == [CANCELLED]
    assert [message["method"] for message in talk.seen if "method" in message][-1] == "$/cancel_request"
    talk.send({"id": question["id"], "error": {"code": -32800, "message": "Request cancelled"}})
    assert await talk.turn(session, "next") == Ended("end_turn")


async def test_field_bug_39_a_cancel_after_the_last_chunk(version: int) -> None:
    said = asyncio.Event()

    async def finish(turn: Turn) -> StopReason:
        await turn.say("all said")
        said.set()
        await asyncio.sleep(0)
        return StopReason.END_TURN

    talk = await Talk.begin(Scripted(finish=finish), version)
    session = await talk.new()
    id = talk.prompt(session, "finish")
    await said.wait()
    talk.cancel(session)
    (ended,) = await talk.ended(id)
    assert ended in (CANCELLED, Ended("end_turn"))
    await talk.wire.silence()
    assert await talk.turn(session, "next") == Ended("end_turn")


async def test_a_turn_that_finishes_in_spite_of_the_cancel_still_ends_as_cancelled(version: int) -> None:
    async def swallow(turn: Turn) -> StopReason:
        try:
            await forever()
        except asyncio.CancelledError:
            await turn.say("saving ")
        return StopReason.END_TURN

    talk = await Talk.begin(Scripted(swallow=swallow), version)
    session = await talk.new()
    id = talk.prompt(session, "swallow")
    await settle()
    talk.cancel(session)
    assert await talk.ended(id) == [CANCELLED]
    assert talk.said() == "saving "


@pytest.mark.req("v1-cancellation-02", "v2-cancellation-03")
async def test_an_error_that_the_cancel_causes_is_not_told(version: int) -> None:
    async def breaks(turn: Turn) -> None:
        try:
            await forever()
        except asyncio.CancelledError:
            raise ConnectionAbortedError("the model's stream was aborted") from None

    talk = await Talk.begin(Scripted(breaks=breaks), version)
    session = await talk.new()
    id = talk.prompt(session, "breaks")
    await settle()
    talk.cancel(session)
    assert await talk.ended(id) == [CANCELLED]


# --- twice, nothing, elsewhere ----------------------------------------------------------------------------------------


async def test_field_bug_45_a_second_cancel_does_not_touch_the_next_turn(version: int) -> None:
    async def ask(turn: Turn) -> None:
        if await turn.ask_permission("May I?"):
            await turn.say("allowed")

    talk = await Talk.begin(Scripted(hang=hang, ask=ask), version)
    session = await talk.new()
    id = talk.prompt(session, "hang")
    await settle()
    talk.cancel(session)
    assert await talk.ended(id) == [CANCELLED]
    await asyncio.sleep(0.04)
    talk.cancel(session)
    talk.seen.clear()
    id = talk.prompt(session, "ask")
    question = await talk.request("session/request_permission")
    talk.send({"id": question["id"], "result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}})
    assert await talk.ended(id) == [Ended("end_turn")]
    assert talk.said() == "allowed"


@pytest.mark.req("all-cancellation-04")
async def test_a_cancel_of_nothing_is_nothing(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    session = await talk.new()
    talk.cancel(session)
    talk.cancel("no such session")
    talk.send({"method": "session/cancel", "params": {}}, {"method": "session/cancel"})
    await talk.wire.silence()
    assert await talk.turn(session, "next") == Ended("end_turn")


@pytest.mark.req("all-cancellation-05")
async def test_a_cancel_ends_work_in_its_session_only(version: int) -> None:
    go = asyncio.Event()

    async def wait(turn: Turn) -> None:
        await go.wait()

    talk = await Talk.begin(Scripted(wait=wait), version)
    left, right = await talk.new(), await talk.new()
    stays, ends = talk.prompt(left, "wait"), talk.prompt(right, "wait")
    await settle()
    talk.cancel(right)
    assert await talk.ended(ends) == [CANCELLED]
    assert talk.connection.sessions[left].turns.running is not None
    talk.seen.clear()
    go.set()
    if version == 1:
        assert await talk.ended(stays) == [Ended("end_turn")]
    else:
        await talk.read_to(lambda message: message.get("params", {}).get("update", {}).get("state") == "idle")
        assert talk.states() == ["end_turn"]


# --- the queue --------------------------------------------------------------------------------------------------------


async def test_field_bugs_50_51_a_cancel_drops_what_was_queued_before_it(version: int) -> None:
    agent = Scripted(hang=hang)
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    requests = [talk.prompting(session, text) for text in ("hang", "two", "three")]
    talk.send(*requests)
    await settle()
    talk.cancel(session)
    assert await talk.ended(*[request["id"] for request in requests]) == [CANCELLED] * 3
    assert [entry for entry in agent.log if entry.startswith("begin")] == ["begin hang"]
    if version == 2:
        told = [kind for kind in talk.kinds() if kind in ("user_message", "state_update")]
        assert told == ["user_message", "state_update", "state_update"] + ["user_message", "state_update"] * 2
        assert talk.states() == ["running", "cancelled", "cancelled", "cancelled"]
    assert await talk.turn(session, "next") == Ended("end_turn")


async def test_field_bug_49_a_prompt_behind_the_cancel_is_not_touched(version: int) -> None:
    talk = await Talk.begin(Scripted(hang=hang), version)
    session = await talk.new()
    first = talk.prompting(session, "hang")
    dropped, later = talk.prompting(session, "dropped"), talk.prompting(session, "later")
    talk.send(first)
    await settle()
    talk.send(dropped, talk.cancelling(session), later)
    ids = [request["id"] for request in (first, dropped, later)]
    assert await talk.ended(*ids) == [CANCELLED, CANCELLED, Ended("end_turn")]
    assert talk.said() == "started echo later"


async def test_a_withdrawn_prompt_ends_alone_and_as_cancelled() -> None:
    """`$/cancel_request` for a prompt that is still open, as it is on version 1 while its turn runs or waits."""
    go = asyncio.Event()

    async def wait(turn: Turn) -> None:
        await go.wait()

    talk = await Talk.begin(Scripted(wait=wait, hang=hang), 1)
    session = await talk.new()
    first, second = talk.prompt(session, "wait"), talk.prompt(session, "hang")
    await settle()
    talk.send({"method": "$/cancel_request", "params": {"requestId": second}})
    await settle()
    go.set()
    assert await talk.ended(first, second) == [Ended("end_turn"), CANCELLED]
    third = talk.prompt(session, "hang")
    await settle()
    talk.send({"method": "$/cancel_request", "params": {"requestId": third}})
    assert await talk.ended(third) == [CANCELLED]


# --- the request form -------------------------------------------------------------------------------------------------


async def test_field_bug_24_a_cancel_as_a_request_cancels_and_is_answered(version: int) -> None:
    talk = await Talk.begin(Scripted(hang=hang), version)
    session = await talk.new()
    id = talk.prompt(session, "hang")
    await settle()
    answer = await talk.ask("session/cancel", {"sessionId": session})
    assert answer["result"] == {}
    assert await talk.ended(id) == [CANCELLED]
    assert (await talk.ask("session/cancel", {"sessionId": "unknown"}))["result"] == {}
    assert (await talk.ask("session/cancel", {}))["error"]["code"] == -32602


async def test_field_bug_24_a_cancel_as_a_request_finds_a_prompt_of_the_same_read(version: int) -> None:
    agent = Scripted(hang=hang)
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    prompt, cancel = talk.prompting(session, "hang"), talk.call("session/cancel", {"sessionId": session})
    talk.send(prompt, cancel)
    assert await talk.ended(prompt["id"]) == [CANCELLED]
    assert (await talk.answer(cancel["id"]))["result"] == {}
    assert agent.log == []
