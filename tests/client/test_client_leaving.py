"""Leaving and cancelling turns: one `session/cancel`, and open questions answered as cancelled."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from client_kit import Host, Run

from duologue.client import Client, Session
from duologue.jsonrpc.limits import Limits
from duologue.protocol.common.permission import RequestPermissionOutcome, SelectedOutcome
from duologue.protocol.v2.permission import RequestPermissionRequest
from wire import PATIENCE, settle, until

CANCEL = "session/cancel"


class Slow(Client):
    """Answers permission requests when it is let go; counts what became of them."""

    def __init__(self) -> None:
        self.asked = 0
        self.cancelled = 0
        self.go = asyncio.Event()

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        self.asked += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return SelectedOutcome(option_id="yes")


async def begun(
    version: int, client: Client | None = None, limits: Limits | None = None
) -> tuple[Host, Run, dict[str, Any]]:
    """A turn that runs and has said something."""
    host = await Host.begin(version, client)
    run, request = await host.prompt()
    host.accept(request)
    host.say("x")
    await until(lambda: run.said)
    return host, run, request


# --- leaving ----------------------------------------------------------------------------------------------------------


async def test_leaving_by_break_cancels_once(version: int) -> None:
    host = await Host.begin(version)

    async def body() -> None:
        async for event in host.session.prompt("go"):
            if event.__class__.__name__ == "AgentMessageChunk":
                break

    running = asyncio.create_task(body())
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.say("one", "two", "three")
    await asyncio.wait_for(running, PATIENCE)
    assert len(await host.heard(CANCEL)) == 1
    host.end(request, "cancelled")
    await host.wire.silence()
    await again(host)


async def test_leaving_by_an_exception_cancels_once(version: int) -> None:
    host = await Host.begin(version)

    async def body() -> None:
        async for event in host.session.prompt("go"):
            if event.__class__.__name__ == "AgentMessageChunk":
                raise ValueError("enough")

    running = asyncio.create_task(body())
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.say("one")
    with pytest.raises(ValueError, match="enough"):
        await asyncio.wait_for(running, PATIENCE)
    assert len(await host.heard(CANCEL)) == 1
    host.end(request, "cancelled")
    await again(host)


@pytest.mark.parametrize("where", ["waiting", "body"])
async def test_leaving_by_a_cancelled_task_cancels_once(version: int, where: str) -> None:
    host = await Host.begin(version)

    async def body() -> None:
        async for event in host.session.prompt("go"):
            if where == "body" and event.__class__.__name__ == "AgentMessageChunk":
                await asyncio.Event().wait()

    running = asyncio.create_task(body())
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.say("one")
    await settle()
    running.cancel()
    await asyncio.wait({running})
    assert running.cancelled()
    assert len(await host.heard(CANCEL)) == 1
    host.end(request, "cancelled")
    await again(host)


async def test_leaving_before_the_agent_has_said_anything_cancels_too(version: int) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    run.task.cancel()
    await asyncio.wait({run.task})
    assert len(await host.heard(CANCEL)) == 1
    host.accept(request)
    host.end(request, "cancelled")
    await again(host)


async def test_leaving_a_turn_that_is_over_sends_nothing(version: int) -> None:
    host = await Host.begin(version)

    async def body() -> None:
        async for event in host.session.prompt("go"):
            if event.__class__.__name__ == "AgentMessageChunk":
                await over.wait()
                break

    over = asyncio.Event()
    running = asyncio.create_task(body())
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.say("one")
    host.end(request)
    await settle()
    over.set()
    await asyncio.wait_for(running, PATIENCE)
    gc.collect()
    assert await host.heard(CANCEL) == []
    await again(host)


@pytest.mark.req("all-cancellation-03")
async def test_field_bug_53_late_updates_reach_the_transcript_and_not_the_next_turn(
    version: int,
) -> None:
    host = await Host.begin(version)

    async def body() -> None:
        async for event in host.session.prompt("go"):
            if event.__class__.__name__ == "AgentMessageChunk":
                break

    running = asyncio.create_task(body())
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.say("one ")
    await asyncio.wait_for(running, PATIENCE)
    following, next_request = await host.prompt("next")
    if version == 2:
        host.answer(next_request, {})
    host.say("late ")
    host.end(request, "cancelled")
    if version == 2:
        host.send(host.user_message("next"), host.state("running"))
    host.say("new")
    host.end(next_request)
    assert await following.end() == "end_turn"
    assert following.said == "new"
    assert "".join(message.text for message in host.session.transcript.messages if message.role.value == "agent") == (
        "one late new"
    )


async def test_leaving_in_the_middle_of_a_batch_gives_everything_back_to_the_count(version: int) -> None:
    """What was queued and is not given out must not count as undelivered for ever: reading would stop."""
    host = await Host.begin(version, limits=Limits(undelivered=50))
    for _ in range(20):

        async def body() -> None:
            async for event in host.session.prompt("go"):
                if event.__class__.__name__ == "AgentMessageChunk":
                    break

        running = asyncio.create_task(body())
        request = await host.wire.read_method("session/prompt")
        host.accept(request)
        host.say(*["x"] * 10)
        await asyncio.wait_for(running, PATIENCE)
        await settle()
        host.say(*["late"] * 10)
        host.end(request, "cancelled")
        await settle()
    assert host.connection.peer.inbound.undelivered == 0
    assert not host.connection.peer.inbound.paused


async def again(host: Host) -> None:
    """The session is as good as new."""
    run, request = await host.prompt("again")
    host.accept(request)
    host.say("fine")
    host.end(request)
    assert await run.end() == "end_turn"
    assert run.said == "fine"
    assert host.connection.peer.inbound.undelivered == 0
    await host.wire.silence()


# --- cancelling -------------------------------------------------------------------------------------------------------


async def test_field_bug_45_cancelling_three_times_is_one_notification(version: int) -> None:
    host, run, request = await begun(version)
    await run.turn.cancel()
    await host.session.cancel()
    await run.turn.cancel()
    assert len(await host.heard(CANCEL)) == 1
    run.task.cancel()
    await asyncio.wait({run.task})
    assert await host.heard(CANCEL) == []
    host.end(request, "cancelled")
    await again(host)


async def test_a_cancelled_turn_goes_on_until_its_end(version: int) -> None:
    host, run, request = await begun(version)
    await run.turn.cancel()
    host.say(" and more")
    host.end(request, "cancelled")
    assert await run.end() == "cancelled"
    assert run.said == "x and more"


async def test_cancelling_with_nothing_open_sends_nothing(version: int) -> None:
    host = await Host.begin(version)
    await host.session.cancel()
    run, request = await host.prompt()
    host.accept(request)
    host.end(request)
    await run.end()
    await run.turn.cancel()
    await host.session.cancel()
    assert await host.heard(CANCEL) == []


async def test_a_turn_that_is_cancelled_before_it_begins_is_never_sent(version: int) -> None:
    host, run, request = await begun(version)
    other = host.session.prompt("never")
    await other.cancel()
    events = [event async for event in other]
    assert (events, other.stop_reason) == ([], "cancelled")
    assert await host.heard(CANCEL) == []
    assert not run.task.done()
    host.end(request)
    assert await run.end() == "end_turn"


async def test_a_cancel_covers_what_is_queued_and_a_later_one_what_came_after_it(version: int) -> None:
    host, first, one = await begun(version)
    second, two = await host.prompt("two")
    await host.session.cancel()
    assert len(await host.heard(CANCEL)) == 1
    third, three = await host.prompt("three")
    await second.turn.cancel()
    assert await host.heard(CANCEL) == []
    await host.session.cancel()
    assert len(await host.heard(CANCEL)) == 1
    for run, request in ((first, one), (second, two), (third, three)):
        if version == 2 and run is not first:
            host.answer(request, {})
            host.send(host.user_message())
        host.end(request, "cancelled")
        assert await run.end() == "cancelled"
    await again(host)


# --- questions --------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-permissions-04", "all-cancellation-14")
async def test_field_bug_53_a_cancel_answers_open_questions_as_cancelled(version: int) -> None:
    client = Slow()
    host, run, request = await begun(version, client)
    host.ask("p1")
    host.ask("p2")
    await until(lambda: client.asked == 2)
    await run.turn.cancel()
    for id in ("p1", "p2"):
        assert (await host.wire.read_answer(id))["result"] == {"outcome": {"outcome": "cancelled"}}
    await until(lambda: client.cancelled == 2)
    host.end(request, "cancelled")
    assert await run.end() == "cancelled"


@pytest.mark.req("all-permissions-04")
@pytest.mark.parametrize("how", ["break", "cancel"])
async def test_leaving_answers_open_questions_as_cancelled(version: int, how: str) -> None:
    client = Slow()
    host = await Host.begin(version, client)
    leave = asyncio.Event()

    async def body() -> None:
        async for event in host.session.prompt("go"):
            if event.__class__.__name__ == "AgentMessageChunk":
                await leave.wait()
                break

    running = asyncio.create_task(body())
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.say("x")
    host.ask()
    await until(lambda: client.asked == 1)
    if how == "break":
        leave.set()
    else:
        running.cancel()
    assert (await host.wire.read_answer("p1"))["result"] == {"outcome": {"outcome": "cancelled"}}
    host.end(request, "cancelled")


@pytest.mark.req("all-permissions-04")
async def test_a_question_that_crosses_the_cancel_is_answered_as_cancelled(version: int) -> None:
    """It was sent before the agent heard of the cancel; nobody is to be bothered with it."""
    client = Slow()
    host, run, request = await begun(version, client)
    await run.turn.cancel()
    host.ask()
    assert (await host.wire.read_answer("p1"))["result"] == {"outcome": {"outcome": "cancelled"}}
    assert client.asked == 0
    host.end(request, "cancelled")
    await run.end()
    following, request = await host.prompt()
    host.accept(request)
    host.ask("p2")
    client.go.set()
    assert (await host.wire.read_answer("p2"))["result"]["outcome"] == {"outcome": "selected", "optionId": "yes"}
    host.end(request)
    await following.end()


@pytest.mark.req("all-cancellation-14")
async def test_a_question_that_the_agent_withdraws_is_answered_as_cancelled(version: int) -> None:
    client = Slow()
    host, run, request = await begun(version, client)
    host.ask()
    await until(lambda: client.asked == 1)
    host.send({"method": "$/cancel_request", "params": {"requestId": "p1"}})
    assert (await host.wire.read_answer("p1"))["result"] == {"outcome": {"outcome": "cancelled"}}
    assert client.cancelled == 1
    host.end(request)
    assert await run.end() == "end_turn"


async def test_field_bug_46_the_end_of_an_old_turn_leaves_the_question_of_the_next_one_open(version: int) -> None:
    client = Slow()
    host, first, one = await begun(version, client)
    await first.turn.cancel()
    second, two = await host.prompt("two")
    host.end(one, "cancelled")
    await first.end()
    host.accept(two)
    host.ask()
    await until(lambda: client.asked == 1)
    gc.collect()
    await settle()
    client.go.set()
    assert (await host.wire.read_answer("p1"))["result"]["outcome"] == {"outcome": "selected", "optionId": "yes"}
    host.end(two)
    assert await second.end() == "end_turn"


class Broken(Client):
    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        raise OSError("no window")


@pytest.mark.req("all-permissions-02", "all-permissions-05")
@pytest.mark.parametrize("client", [Client(), Broken()], ids=["missing", "raising"])
async def test_field_bugs_64_69_a_question_that_nobody_answers_is_refused(version: int, client: Client) -> None:
    host, run, request = await begun(version, client)
    host.ask()
    answer = await host.wire.read_answer("p1")
    assert answer["result"] == {"outcome": {"outcome": "selected", "optionId": "no"}}
    host.end(request)
    assert await run.end() == "end_turn"


async def test_field_bug_68_a_refusal_never_picks_an_option_that_allows(version: int) -> None:
    host, run, request = await begun(version)
    only_allowing = [{"optionId": "always", "name": "Always", "kind": "allow_always"}]
    params: dict[str, Any] = {"sessionId": "S", "options": only_allowing}
    params |= {"title": "?"} if version == 2 else {"toolCall": {"toolCallId": "t1", "title": "?"}}
    host.send({"id": "p1", "method": "session/request_permission", "params": params})
    assert (await host.wire.read_answer("p1"))["result"] == {"outcome": {"outcome": "cancelled"}}
    host.end(request)
    await run.end()


@pytest.mark.req("all-permissions-03")
async def test_a_question_with_broken_options_is_invalid(version: int) -> None:
    host, run, request = await begun(version, Slow())
    params: dict[str, Any] = {"sessionId": "S", "options": [{"name": "no id"}]}
    params |= {"title": "?"} if version == 2 else {"toolCall": {"toolCallId": "t1"}}
    host.send({"id": "p1", "method": "session/request_permission", "params": params})
    answer = await host.wire.read_answer("p1")
    assert answer["error"]["code"] == -32602
    host.end(request)
    await run.end()


async def test_a_question_about_an_unknown_session_is_cancelled(version: int) -> None:
    client = Slow()
    host = await Host.begin(version, client)
    host.ask("p1", "ghost")
    assert (await host.wire.read_answer("p1"))["result"] == {"outcome": {"outcome": "cancelled"}}
    assert client.asked == 0


async def test_field_bug_25_a_question_has_one_answer_whatever_its_id(version: int) -> None:
    client = Slow()
    client.go.set()
    host, run, request = await begun(version, client)
    for id in ("perm-1", "", 0, -1, 2**53 + 1, None):
        params: dict[str, Any] = {"sessionId": "S", "options": [{"optionId": "yes", "name": "Y", "kind": "allow_once"}]}
        params |= {"title": "?"} if version == 2 else {"toolCall": {"toolCallId": "t1", "title": "?"}}
        host.send({"id": id, "method": "session/request_permission", "params": params})
        assert "result" in await host.wire.read_answer(id)
    host.end(request)
    await run.end()
