"""Turns as a client sees them: their events, their end, and what belongs to which."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from client_kit import Host, Run

from duologue.client import TurnFailed
from duologue.jsonrpc.errors import RpcError
from duologue.peer import ConnectionClosed
from duologue.protocol.v2.updates import AgentMessageChunk, StateUpdateEvent, UserMessageEvent
from wire import PATIENCE, settle, until

# --- one turn ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-prompt-11", "v1-prompt-10")
async def test_the_iteration_gives_the_updates_of_the_turn_and_ends_with_it(version: int) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.accept(request)
    host.say("hel", "lo")
    await until(lambda: run.said == "hello")
    assert not run.task.done()
    host.end(request)
    assert await run.end() == "end_turn"
    kinds = [event.__class__ for event in run.events]
    assert kinds[0] is UserMessageEvent
    assert kinds.count(AgentMessageChunk) == 2
    assert kinds[-1] is StateUpdateEvent
    assert host.connection.peer.inbound.undelivered == 0


async def test_the_text_of_a_turn(version: int) -> None:
    host = await Host.begin(version)
    asking = asyncio.create_task(host.session.prompt("go").text())
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.say("a", "b")
    host.end(request)
    assert await asyncio.wait_for(asking, PATIENCE) == "ab"


async def test_a_turn_can_be_awaited_for_its_stop_reason(version: int) -> None:
    host = await Host.begin(version)

    async def go() -> str | None:
        return await host.session.prompt("go")

    asking = asyncio.create_task(go())
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.say("a", "b")
    host.end(request, "max_tokens")
    assert await asyncio.wait_for(asking, PATIENCE) == "max_tokens"


@pytest.mark.req("v2-prompt-07")
@pytest.mark.parametrize(
    "reason", ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error", "paused", "_vendor"]
)
async def test_field_bug_91_every_stop_reason_ends_the_turn_and_is_told(version: int, reason: str) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.accept(request)
    host.say("text")
    host.end(request, reason)
    assert await run.end() == reason
    assert run.said == "text"


@pytest.mark.parametrize("reason", [None, 5, {}])
async def test_a_stop_reason_that_is_no_word_still_ends_the_turn(version: int, reason: Any) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.accept(request)
    host.end(request, reason)
    if version == 1:
        # Required there, so the whole answer does not fit.
        with pytest.raises(Exception, match="stopReason"):
            await run.end()
    else:
        assert await run.end() is None
    again, request = await host.prompt()
    host.accept(request)
    host.end(request)
    assert await again.end() == "end_turn"


@pytest.mark.req("v2-prompt-12")
async def test_the_user_message_may_come_before_the_acceptance() -> None:
    host = await Host.begin(2)
    run, request = await host.prompt()
    host.send(host.user_message(), host.state("running"))
    host.say("early")
    host.answer(request, {})
    host.end(request)
    assert await run.end() == "end_turn"
    assert run.said == "early"


async def test_an_agent_that_never_tells_the_user_message_still_ends_the_turn() -> None:
    host = await Host.begin(2)
    for number in range(3):
        run, request = await host.prompt()
        host.answer(request, {})
        host.send(host.state("running"))
        host.say(f"{number}")
        host.end(request)
        assert await run.end() == "end_turn"
        assert run.said == f"{number}"


async def test_an_idle_state_without_a_reason_before_the_turn_does_not_end_it() -> None:
    host = await Host.begin(2)
    run, request = await host.prompt()
    host.answer(request, {})
    host.send(host.state("idle"))
    host.send(host.user_message(), host.state("running"))
    host.say("work")
    host.end(request)
    assert await run.end() == "end_turn"
    assert run.said == "work"


async def test_usage_is_there_at_the_end(version: int) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.accept(request)
    usage = {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}
    if version == 1:
        host.answer(request, {"stopReason": "end_turn", "usage": usage})
    else:
        host.send(host.state("idle", stopReason="end_turn", usage=usage))
    await run.end()
    assert run.turn.usage is not None
    assert run.turn.usage.total_tokens == 7


async def test_a_turn_can_be_iterated_once() -> None:
    host = await Host.begin(2)
    run, request = await host.prompt()
    host.accept(request)
    host.end(request)
    await run.end()
    with pytest.raises(RuntimeError, match=r"session\.prompt\(\) again"):
        async for _ in run.turn:
            pass


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [{"details": "Session not found"}, "text", [1], None, 0])
async def test_field_bug_28_a_refused_prompt_keeps_code_message_and_data(version: int, data: Any) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.refuse(request, -32603, "Internal error", data=data)
    with pytest.raises(RpcError) as caught:
        await run.end()
    assert (caught.value.code, caught.value.message, caught.value.data) == (-32603, "Internal error", data)
    if data == {"details": "Session not found"}:
        assert "Session not found" in str(caught.value)
    assert run.turn.stop_reason is None


async def test_field_bug_28_a_turn_that_fails_after_it_began_keeps_what_was_said_and_the_error(version: int) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.accept(request)
    host.say("so far")
    if version == 1:
        host.refuse(request, -32000, "log in first", data={"method": "key"})
    else:
        error = {"code": -32000, "message": "log in first", "data": {"method": "key"}}
        host.send(host.state("idle", stopReason="_error", _meta={"duologue": {"error": error}}))
    with pytest.raises(TurnFailed) as caught:
        await run.end()
    assert (caught.value.code, caught.value.message, caught.value.data) == (-32000, "log in first", {"method": "key"})
    assert run.said == "so far"


async def test_field_bug_89_an_update_that_does_not_fit_costs_the_turn_nothing(version: int) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.accept(request)
    host.say("a")
    host.send(host.update({"sessionUpdate": "usage_update", "used": None, "size": 5}))
    host.send(host.update({"sessionUpdate": "sparkle_update", "x": 1}), host.update({"no": "kind"}), host.chunk("b"))
    host.end(request)
    assert await run.end() == "end_turn"
    assert run.said == "ab"


async def test_the_end_of_the_agent_ends_the_turn_with_what_was_said(version: int) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.accept(request)
    host.say("last ", "words")
    await host.wire.near.close()
    with pytest.raises(ConnectionClosed):
        await run.end()
    assert run.said == "last words"
    with pytest.raises(ConnectionClosed):
        async for _ in host.session.prompt("again"):
            pass


# --- several prompts --------------------------------------------------------------------------------------------------


async def test_queued_prompts_each_own_their_turn() -> None:
    host = await Host.begin(2)
    first, one = await host.prompt("one")
    second, two = await host.prompt("two")
    third, three = await host.prompt("three")
    for request in (one, two, three):
        host.answer(request, {})
    for request, text in ((one, "1"), (two, "2"), (three, "3")):
        host.send(host.user_message(text), host.state("running"))
        host.say(text)
        host.end(request)
    assert [await run.end() for run in (first, second, third)] == ["end_turn"] * 3
    assert [run.said for run in (first, second, third)] == ["1", "2", "3"]


async def test_an_agent_of_version_1_gets_a_prompt_when_the_one_before_has_ended() -> None:
    """Some refuse a prompt while they are at work; none needs it before."""
    host = await Host.begin(1)
    runs = [Run(host.session.prompt(text)) for text in ("one", "two", "three", "four")]
    for index, ending in enumerate(("end_turn", "an error", "cancelled")):
        request = await host.wire.read_method("session/prompt")
        assert request["params"]["prompt"][0]["text"] == ("one", "two", "three")[index]
        assert await host.heard("session/prompt") == []
        host.say(str(index))
        if ending == "an error":
            host.refuse(request, -32602, "no images")
            with pytest.raises(RpcError):
                await runs[index].end()
        else:
            host.end(request, ending)
            assert await runs[index].end() == ending
        assert runs[index].said == str(index)
    request = await host.wire.read_method("session/prompt")
    host.end(request)
    assert await runs[3].end() == "end_turn"


@pytest.mark.parametrize("how", ["cancel", "leave", "cancel all"])
async def test_a_prompt_that_is_held_back_is_dropped_without_a_word_to_the_agent(how: str) -> None:
    host = await Host.begin(1)
    first, one = await host.prompt("one")
    held, last = Run(host.session.prompt("two")), Run(host.session.prompt("three"))
    await settle()
    match how:
        case "cancel":
            await held.turn.cancel()
        case "leave":
            held.task.cancel()
        case _:
            await host.session.cancel()
    if how != "leave":
        assert await held.end() == "cancelled"
    assert len(await host.heard("session/cancel")) == (1 if how == "cancel all" else 0)
    host.end(one, "cancelled" if how == "cancel all" else "end_turn")
    await first.end()
    if how == "cancel all":
        assert await last.end() == "cancelled"
        assert await host.heard("session/prompt") == []
    else:
        three = await host.wire.read_method("session/prompt")
        assert three["params"]["prompt"][0]["text"] == "three"
        host.end(three)
        assert await last.end() == "end_turn"


async def test_a_prompt_that_is_held_back_ends_with_the_connection() -> None:
    host = await Host.begin(1)
    first, _ = await host.prompt("one")
    held = Run(host.session.prompt("two"))
    await settle()
    await host.connection.close()
    for run in (first, held):
        with pytest.raises(ConnectionClosed):
            await run.end()


async def test_a_prompt_that_is_refused_in_the_queue_does_not_shift_the_others() -> None:
    host = await Host.begin(2)
    first, one = await host.prompt("one")
    second, two = await host.prompt("two")
    third, three = await host.prompt("three")
    host.accept(one)
    host.refuse(two, -32602, "no images")
    with pytest.raises(RpcError):
        await second.end()
    host.answer(three, {})
    host.say("1")
    host.end(one)
    host.send(host.user_message("three"), host.state("running"))
    host.say("3")
    host.end(three)
    assert [await first.end(), await third.end()] == ["end_turn"] * 2
    assert (first.said, third.said) == ("1", "3")


async def test_prompts_that_the_agent_merges_end_together() -> None:
    """Steering: the second user message comes while the first turn runs; one idle state ends both."""
    host = await Host.begin(2)
    first, one = await host.prompt("one")
    host.accept(one)
    host.say("a")
    await until(lambda: first.said == "a")
    second, two = await host.prompt("two")
    host.answer(two, {})
    host.send(host.user_message("two"))
    host.say("b")
    host.end(two)
    assert [await first.end(), await second.end()] == ["end_turn"] * 2
    assert (first.said, second.said) == ("a", "b")


async def test_chunks_of_one_user_message_are_one_message() -> None:
    host = await Host.begin(2)
    first, one = await host.prompt("one")
    second, two = await host.prompt("two")
    for request in (one, two):
        host.answer(request, {})
    for piece in ("o", "ne"):
        content = {"type": "text", "text": piece}
        host.send(host.update({"sessionUpdate": "user_message_chunk", "messageId": "u1", "content": content}))
    host.say("1")
    host.end(one)
    assert await first.end() == "end_turn"
    assert not second.task.done()
    host.send(host.user_message("two"))
    host.end(two)
    assert await second.end() == "end_turn"
    assert first.said == "1"


async def test_turns_of_two_sessions_do_not_mix(version: int) -> None:
    host = await Host.begin(version)
    other = await host.opened("T")
    first, one = await host.prompt("one")
    second = Run(other.prompt("two"))
    two = await host.wire.read_method("session/prompt")
    if version == 2:
        for request, id in ((one, "S"), (two, "T")):
            host.answer(request, {})
            content = [{"type": "text", "text": "go"}]
            host.send(host.update({"sessionUpdate": "user_message", "messageId": f"u{id}", "content": content}, id))
    host.send(host.chunk("1", "S"), host.chunk("2", "T"), host.chunk("1", "S"))
    if version == 1:
        host.end(two)
    else:
        host.send(host.update({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}, "T"))
    assert await second.end() == "end_turn"
    assert not first.task.done()
    host.end(one)
    assert await first.end() == "end_turn"
    assert (first.said, second.said) == ("11", "2")


async def test_fifty_turns_one_after_the_other_leave_nothing_behind(version: int) -> None:
    host = await Host.begin(version)
    for _ in range(50):
        run, request = await host.prompt()
        host.accept(request)
        host.say("x")
        host.end(request)
        assert await run.end() == "end_turn"
    await settle()
    peer = host.connection.peer
    assert (peer.inbound.undelivered, peer.link.engine.pending_count) == (0, 0)
    if peer.edge is not None:
        assert peer.edge.memory.outbound == {}
        assert peer.edge.memory.session("S").prompts == []
