"""Closing the iterator or cancelling its reader closes the connection, whatever the answer was doing."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from remote_kit import WIRES, ask, collect, ended, model_on
from wire_server import Answer, Call, Fail, Hang, WireServer

from duologue.coder.models.base import TextDelta
from duologue.coder.models.config import Wire

SILENT_AFTER_TEXT = Answer(text=("One ", "two ", "three "), until=4, then="hang")
SILENT_IN_A_CALL = Answer(calls=(Call("c", "read_file", ('{"path": ', '"a"}')),), until=3, then="hang")


@pytest.mark.parametrize("wire", WIRES)
async def test_closing_the_iterator_in_mid_stream_closes_the_connection(wire: Wire) -> None:
    async with WireServer(SILENT_AFTER_TEXT) as server:
        async with aclosing(model_on(server, wire).stream(ask())) as events:
            assert isinstance(await anext(events), TextDelta)
        await (await server.request(0)).left()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("reply", [SILENT_AFTER_TEXT, SILENT_IN_A_CALL, Hang()], ids=["text", "call", "no-answer"])
async def test_cancelling_the_reader_closes_the_connection(wire: Wire, reply: Answer | Hang) -> None:
    async with WireServer(reply) as server:
        reader = asyncio.create_task(collect(model_on(server, wire).stream(ask())))
        asked = await server.request(0)
        if isinstance(reply, Answer):
            await asked.streaming.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        await asked.left()
        assert len(server.asked) == 1


async def test_closing_from_another_task_works() -> None:
    """A front end may end a turn from a task that never read the stream."""
    async with WireServer(SILENT_AFTER_TEXT) as server:
        events = model_on(server, Wire.OPENAI).stream(ask())
        await asyncio.create_task(anext(events))
        await asyncio.create_task(events.aclose())
        await (await server.request(0)).left()


async def test_cancelling_while_waiting_for_a_retry_asks_no_more() -> None:
    async with WireServer(Fail(529), Answer(text=("late",))) as server:
        reader = asyncio.create_task(collect(model_on(server, Wire.ANTHROPIC, retry_delay=30.0).stream(ask())))
        await server.request(0)
        await asyncio.sleep(0.05)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert len(server.asked) == 1


async def test_the_next_step_works_after_a_cancelled_one() -> None:
    async with WireServer(SILENT_AFTER_TEXT, Answer(text=("Again",))) as server:
        model = model_on(server, Wire.OPENAI)
        async with aclosing(model.stream(ask())) as events:
            await anext(events)
        assert ended(await collect(model.stream(ask()))).message.text == "Again"


@pytest.mark.parametrize("wire", WIRES)
async def test_two_sessions_do_not_disturb_each_other(wire: Wire) -> None:
    async with WireServer(Hang(), Answer(text=("Hi",))) as server:
        model = model_on(server, wire)
        stuck = asyncio.create_task(collect(model.stream(ask())))
        await server.request(0)
        assert ended(await collect(model.stream(ask()))).message.text == "Hi"
        stuck.cancel()
        await asyncio.gather(stuck, return_exceptions=True)
