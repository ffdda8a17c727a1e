"""Questions to the user: who answers them, what a cancel makes of them, and that each has one answer."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from client_kit import Host, Slow, begun

from duologue.client import Client, Session
from duologue.protocol.common.permission import RequestPermissionOutcome
from duologue.protocol.v2.permission import RequestPermissionRequest
from wire import PATIENCE, settle, until


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


@pytest.mark.req("all-cancellation-14")
async def test_a_question_that_both_sides_withdraw_has_one_answer(version: int) -> None:
    client = Slow()
    host, run, request = await begun(version, client)
    host.ask()
    await until(lambda: client.asked == 1)
    await run.turn.cancel()
    host.send({"method": "$/cancel_request", "params": {"requestId": "p1"}})
    assert (await host.wire.read_answer("p1"))["result"] == {"outcome": {"outcome": "cancelled"}}
    host.end(request, "cancelled")
    assert await run.end() == "cancelled"
    await host.wire.silence()


async def test_field_bug_46_the_end_of_an_old_turn_leaves_the_question_of_the_next_one_open(version: int) -> None:
    client = Slow()
    host, first, one = await begun(version, client)
    await first.turn.cancel()
    asking = asyncio.create_task(host.prompt("two"))
    # An agent of version 1 gets no prompt while it is at work.
    if version == 2:
        await asking
    host.end(one, "cancelled")
    await first.end()
    second, two = await asking
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


async def test_field_bug_64_questions_of_two_sessions_are_open_at_once(version: int) -> None:
    client = Slow()
    host, run, request = await begun(version, client)
    opening = asyncio.create_task(host.connection.new_session("/tmp"))
    host.answer(await host.wire.read_method("session/new"), {"sessionId": "T"})
    await asyncio.wait_for(opening, PATIENCE)
    host.ask("p1", "S")
    host.ask("p2", "T")
    await until(lambda: client.asked == 2)
    client.go.set()
    for id in ("p1", "p2"):
        assert (await host.wire.read_answer(id))["result"]["outcome"] == {"outcome": "selected", "optionId": "yes"}
    host.end(request)
    assert await run.end() == "end_turn"


@pytest.mark.req("all-permissions-02", "all-permissions-05", "v1-initialize-14")
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
