"""Leaving and cancelling turns: one `session/cancel`, and open questions answered as cancelled."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from client_kit import Host, Run, agent_text, begun

from duologue.jsonrpc.limits import Limits
from duologue.protocol.v2.updates import AgentMessageChunk, ToolCallUpdateEvent
from wire import PATIENCE, settle, until

CANCEL = "session/cancel"


async def leave_at_the_first_word(host: Host) -> None:
    async for event in host.session.prompt("go"):
        if isinstance(event, AgentMessageChunk):
            break


# --- leaving ----------------------------------------------------------------------------------------------------------


async def test_leaving_by_break_cancels_once(version: int) -> None:
    host = await Host.begin(version)
    running = asyncio.create_task(leave_at_the_first_word(host))
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
    running = asyncio.create_task(leave_at_the_first_word(host))
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.say("one ")
    await asyncio.wait_for(running, PATIENCE)
    following = Run(host.session.prompt("next"))
    host.say("late ")
    if version == 1:
        host.end(request, "cancelled")
    next_request = await host.wire.read_method("session/prompt")
    if version == 2:
        host.answer(next_request, {})
        host.end(request, "cancelled")
        host.send(host.user_message("next"), host.state("running"))
    host.say("new")
    host.end(next_request)
    assert await following.end() == "end_turn"
    assert following.said == "new"
    assert agent_text(host.session) == "one late new"


async def test_leaving_in_the_middle_of_a_batch_gives_everything_back_to_the_count(version: int) -> None:
    """What was queued and is not given out must not count as undelivered for ever: reading would stop."""
    host = await Host.begin(version, limits=Limits(undelivered=50))
    for _ in range(20):
        running = asyncio.create_task(leave_at_the_first_word(host))
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


async def test_a_cancel_covers_what_is_queued_and_a_later_one_what_came_after_it() -> None:
    host, first, one = await begun(2)
    second, two = await host.prompt("two")
    await host.session.cancel()
    assert len(await host.heard(CANCEL)) == 1
    third, three = await host.prompt("three")
    await second.turn.cancel()
    assert await host.heard(CANCEL) == []
    await host.session.cancel()
    assert len(await host.heard(CANCEL)) == 1
    for run, request in ((first, one), (second, two), (third, three)):
        if run is not first:
            host.answer(request, {})
            host.send(host.user_message())
        host.end(request, "cancelled")
        assert await run.end() == "cancelled"
    await again(host)


@pytest.mark.req("all-cancellation-02", "all-cancellation-03")
async def test_field_bug_53_unfinished_tool_calls_of_the_turn_are_shown_as_cancelled(version: int) -> None:
    host = await Host.begin(version)
    name = "tool_call" if version == 1 else "tool_call_update"

    def call(id: str, status: str, kind: str = name) -> dict[str, Any]:
        return host.update({"sessionUpdate": kind, "toolCallId": id, "title": id, "status": status})

    # A job in the background, from before the turn.
    host.send(call("job", "in_progress"))
    run, request = await host.prompt()
    host.accept(request)
    host.send(call("done", "completed"), call("open", "in_progress"), call("late", "pending"))
    calls = host.session.transcript.tool_calls
    await until(lambda: "late" in calls)
    await run.turn.cancel()
    shown = {id: state.status for id, state in calls.items()}
    assert shown == {"job": "in_progress", "done": "completed", "open": "cancelled", "late": "cancelled"}
    host.send(call("late", "completed", "tool_call_update"))
    host.end(request, "cancelled")
    assert await run.end() == "cancelled"
    assert {id: state.status for id, state in calls.items()} == {**shown, "late": "completed"}
    updates = [event for event in run.events if isinstance(event, ToolCallUpdateEvent)]
    told = [event.status for event in updates if event.tool_call_id == "open"]
    assert told == ["in_progress", "cancelled"]
