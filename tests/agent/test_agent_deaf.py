"""Turns that do not listen to a cancel, and clients that do not read."""

from __future__ import annotations

import asyncio

import pytest
from agent_kit import PATIENCE, Ended, Scripted, Talk

from duologue.agent import Turn
from wire import settle, until

CANCELLED = Ended("cancelled")


# --- turns that do not listen -----------------------------------------------------------------------------------------


async def test_field_bug_52_a_turn_that_ignores_the_cancel_is_left_behind_and_silenced(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    go, done = asyncio.Event(), asyncio.Event()

    async def deaf(turn: Turn) -> None:
        async with turn.tool_call("deaf") as call:
            while not go.is_set():
                try:
                    await go.wait()
                except asyncio.CancelledError:
                    continue
            done.set()
            await call.text("late output")

    agent = Scripted(deaf=deaf)
    agent.cancel_seconds = 0.05
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    id = talk.prompt(session, "deaf")
    await settle()
    talk.cancel(session)
    assert await talk.ended(id) == [CANCELLED]
    talk.seen.clear()
    next_id = talk.prompt(session, "hang on")
    await talk.ended(next_id)
    go.set()
    await asyncio.wait_for(done.wait(), PATIENCE)
    await settle()
    assert await talk.turn(session, "after") == Ended("end_turn")
    assert "late output" not in str(talk.seen)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_turn_that_is_left_behind_cannot_ask(version: int) -> None:
    """A question of the old turn must not show up in the next one."""
    from duologue.agent import TurnOver

    asked: list[str] = []
    go = asyncio.Event()

    async def deaf(turn: Turn) -> None:
        while not go.is_set():
            try:
                await go.wait()
            except asyncio.CancelledError:
                continue
        try:
            await turn.ask_permission("late?")
        except TurnOver:
            asked.append("refused")

    agent = Scripted(deaf=deaf)
    agent.cancel_seconds = 0.05
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    id = talk.prompt(session, "deaf")
    await settle()
    talk.cancel(session)
    await talk.ended(id)
    go.set()
    await until(lambda: asked)
    await talk.wire.silence()


async def test_field_bug_153_a_cancel_reaches_a_turn_that_waits_for_the_client_to_read(version: int) -> None:
    """The client stops reading in the middle of a stream, cancels, and reads on: nothing is lost or out of order."""
    sent: list[int] = []

    async def stream(turn: Turn) -> None:
        for number in range(100_000):
            sent.append(number)
            await turn.say(f"{number} " + "x" * 1000)

    talk = await Talk.begin(Scripted(stream=stream), version)
    session = await talk.new()
    talk.wire.near.pause_reading()
    request = talk.prompting(session, "stream")
    talk.send(request)
    outbound = talk.connection.peer.link.outbound
    await until(lambda: outbound.suspended == 1)
    talk.cancel(session)
    await settle()
    talk.wire.near.resume_reading()
    assert await talk.ended(request["id"]) == [CANCELLED]
    heard = [
        int(update["content"]["text"].split()[0]) for update in talk.updates() if "chunk" in update["sessionUpdate"]
    ]
    assert heard == sent
    assert await talk.turn(session, "next") == Ended("end_turn")


async def test_a_turn_that_awaits_no_send_ends_though_the_client_does_not_read(version: int) -> None:
    """The limit of outbound bytes fails the turn; its end is told as soon as the client reads again."""
    from duologue.jsonrpc.limits import Limits

    async def pour(turn: Turn) -> None:
        for _ in range(1000):
            turn.say("x" * 1000)
            await asyncio.sleep(0)

    talk = await Talk.begin(Scripted(pour=pour), version, limits=Limits(outbound_bytes=200_000))
    session = await talk.new()
    talk.wire.near.pause_reading()
    request = talk.prompting(session, "pour")
    talk.send(request)
    await until(lambda: talk.connection.sessions[session].turns.running is not None)
    await until(lambda: (turn := talk.connection.sessions[session].turns.running) is not None and turn.over)
    talk.wire.near.resume_reading()
    (ended,) = await talk.ended(request["id"])
    assert ended.error is not None
    assert ended.error["data"] == {"details": "LimitError"}
    assert await talk.turn(session, "next") == Ended("end_turn")
