"""Back-pressure: memory stays bounded, nobody waits for ever, and no message is lost or overtaken."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from pipe_kit import PIPE_CAPACITY, line_of, on_pipes

from duologue.jsonrpc.limits import Limits
from duologue.peer import Peer
from duologue.protocol.method import Notification, Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.version import V1, V2, Version
from duologue.transports.pipes import READ_BYTES, PipeTransport
from wire import PATIENCE, Wire, chunk, on_wire, settle, until

FLOOD = Notification.untyped("_flood")
ECHO = Notification.untyped("_echo")
ASK = Request.untyped("_ask")


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [V1, V2], ids=["v1", "v2"])
async def test_field_bug_38_a_stalled_handler_stops_the_reading_and_nothing_is_lost(version: Version) -> None:
    limits = Limits(undelivered=256)
    go, seen = asyncio.Event(), 0

    async def handler(note: Any) -> None:
        nonlocal seen
        await go.wait()
        assert note.update.message_id == "m"
        assert note.update.content.text.startswith(f"{seen} ")
        seen += 1

    async with on_pipes(Side.CLIENT, limits, version) as (peer, pipes):
        peer.listen(v2.SESSION_UPDATE, handler)
        count = 5_000
        lines = [line_of(chunk(f"{number} " + "x" * 2048)) for number in range(count)]
        pipes.write_in_thread(lines)
        await until(lambda: peer.inbound.paused)
        taken = await pipes.until_writer_waits()
        in_one_read = READ_BYTES // 2048
        assert peer.inbound.undelivered <= limits.undelivered + in_one_read
        assert taken <= (limits.undelivered + in_one_read + 1) * len(lines[-1]) + READ_BYTES + PIPE_CAPACITY
        go.set()
        await until(lambda: seen == count)
        assert peer.inbound.undelivered == 0


async def test_reading_goes_on_while_a_call_is_open_and_pauses_again_behind_it() -> None:
    peer, wire = await on_wire(Limits(undelivered=10))
    release = asyncio.Event()

    async def handler(note: Any) -> None:
        await release.wait()

    peer.listen(v2.SESSION_UPDATE, handler)
    wire.send(*[chunk(str(number)) for number in range(20)])
    await until(lambda: peer.inbound.paused)
    asking = asyncio.create_task(peer.request(ASK, {}))
    request = await wire.read()
    assert not peer.inbound.paused
    wire.send(*[chunk(str(number)) for number in range(20)], {"id": request["id"], "result": {}})
    await settle()
    release.set()
    await asyncio.wait_for(asking, PATIENCE)
    release.clear()
    wire.send(*[chunk(str(number)) for number in range(40)])
    await until(lambda: peer.inbound.paused)


async def test_a_prompt_that_is_open_does_not_keep_the_reading_open() -> None:
    """Its answer may take a whole turn: on version 1 all of the turn's updates come before it."""
    from duologue.protocol.v2.prompt import PromptRequest

    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V1, inside=V2, limits=Limits(undelivered=10))
    await peer.start(wire.far)

    async def handler(note: Any) -> None:
        await asyncio.Event().wait()

    peer.listen(v2.SESSION_UPDATE, handler)
    asking = asyncio.create_task(peer.request(v2.SESSION_PROMPT, PromptRequest(session_id="S", prompt=[])))
    await wire.read_method("session/prompt")
    wire.send(*[chunk(str(number)) for number in range(50)])
    await until(lambda: peer.inbound.paused)
    asking.cancel()
    await asyncio.wait({asking})


@pytest.mark.parametrize("protocol", [1, 2])
async def test_the_body_of_an_iteration_may_await_a_request_behind_a_full_queue(protocol: int) -> None:
    from duologue.client import Client, ClientConnection

    wire = await Wire().open()
    connection = ClientConnection(Client(), limits=Limits(undelivered=10))
    session = await opened(connection, wire, protocol)
    seen: list[str] = []

    async def body() -> None:
        async for event in session.prompt("go"):
            if getattr(event, "content", None) is None or event.__class__.__name__ != "AgentMessageChunk":
                continue
            if not seen:
                answer = await connection.peer.request(ASK, {})
                assert answer == {"fine": True}
            seen.append(event.content.text)

    running = asyncio.create_task(body())
    prompt = await wire.read_method("session/prompt")
    if protocol == 2:
        wire.send({"id": prompt["id"], "result": {}}, update(user_message()), update(running_state()))
    wire.send(*[chunk(str(number)) for number in range(200)])
    request = await wire.read_method("_ask")
    wire.send({"id": request["id"], "result": {"fine": True}})
    wire.send(
        {"id": prompt["id"], "result": {"stopReason": "end_turn"}}
        if protocol == 1
        else update({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"})
    )
    await asyncio.wait_for(running, PATIENCE)
    assert seen == [str(number) for number in range(200)]
    assert connection.peer.inbound.undelivered == 0


# --- both ways --------------------------------------------------------------------------------------------------------


async def test_two_peers_that_flood_each_other_and_answer_from_their_handlers_finish() -> None:
    """Both pipes full, both queues full, and every handler awaits a send."""
    limits = Limits(undelivered=16)
    left_read, right_write = os.pipe()
    right_read, left_write = os.pipe()
    peers = [Peer(Side.CLIENT, V2, limits=limits), Peer(Side.AGENT, V2, limits=limits)]
    floods: list[list[int]] = [[], []]
    echoes: list[list[int]] = [[], []]
    count, padding = 1500, "x" * 2000

    def serve(index: int) -> None:
        peer = peers[index]

        async def flooded(params: Any) -> None:
            floods[index].append(params["n"])
            await peer.notify(ECHO, {"n": params["n"], "padding": padding})

        async def echoed(params: Any) -> None:
            echoes[index].append(params["n"])

        peer.listen(FLOOD, flooded)
        peer.listen(ECHO, echoed)

    async def flood(index: int) -> None:
        for number in range(count):
            await peers[index].notify(FLOOD, {"n": number, "padding": padding})

    serve(0)
    serve(1)
    await peers[0].start(PipeTransport(left_read, left_write))
    await peers[1].start(PipeTransport(right_read, right_write))
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(flood(0), flood(1))
        await until(lambda: all(len(seen) == count for seen in (*floods, *echoes)))
    assert floods == echoes == [list(range(count))] * 2
    for peer in peers:
        await peer.close()


# --- writing ----------------------------------------------------------------------------------------------------------


async def test_field_bug_153_a_sender_waits_for_a_side_that_does_not_read_and_goes_on_in_order() -> None:
    async with on_pipes(Side.AGENT) as (peer, pipes):
        sent = 0

        async def send() -> None:
            nonlocal sent
            for number in range(2000):
                await peer.notify(FLOOD, {"n": number, "padding": "x" * 1000})
                sent += 1

        sending = asyncio.create_task(send())
        await until(lambda: peer.link.outbound.suspended == 1)
        waited_at = sent
        await settle()
        assert sent == waited_at < 2000
        # What waits is bounded by the kernel's pipe, the transport's high-water mark and one gathered write.
        assert peer.link.transport.buffered() <= 3 * PIPE_CAPACITY
        lines = await pipes.read_lines(2000)
        await asyncio.wait_for(sending, PATIENCE)
        assert [line["params"]["n"] for line in lines] == list(range(2000))
        assert peer.link.outbound.suspended == 0


async def test_a_suspended_sender_that_is_cancelled_leaves_the_others_and_the_stream_whole() -> None:
    async with on_pipes(Side.AGENT) as (peer, pipes):
        begun = {"first": 0, "second": 0}

        async def send(name: str) -> None:
            for number in range(200):
                begun[name] += 1
                await peer.notify(FLOOD, {"name": name, "n": number, "padding": "x" * 4000})

        first, second = asyncio.create_task(send("first")), asyncio.create_task(send("second"))
        await until(lambda: peer.link.outbound.suspended == 2)
        first.cancel()
        await asyncio.wait({first})
        assert peer.link.outbound.suspended == 1
        lines = await pipes.read_lines(begun["first"] + 200)
        await asyncio.wait_for(second, PATIENCE)
        for name, count in (("first", begun["first"]), ("second", 200)):
            assert [line["params"]["n"] for line in lines if line["params"]["name"] == name] == list(range(count))


async def test_the_first_message_of_a_tick_goes_out_at_once_and_the_next_ones_together() -> None:
    peer, wire = await on_wire()
    await settle()
    peer.notify(FLOOD, {"n": 1})
    first = wire.far.buffered()
    assert first > 0
    peer.notify(FLOOD, {"n": 2})
    peer.notify(FLOOD, {"n": 3})
    assert wire.far.buffered() == first
    assert [(await wire.read())["params"]["n"] for _ in range(3)] == [1, 2, 3]


async def test_an_update_that_is_sent_alone_goes_out_at_once() -> None:
    from duologue.protocol.common.content import TextBlock
    from duologue.protocol.v2.updates import AgentMessageChunk, UpdateSessionNotification

    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    await peer.start(wire.far)
    piece = AgentMessageChunk(message_id="m", content=TextBlock(text="a"))
    await peer.update(UpdateSessionNotification(session_id="S", update=piece))
    assert wire.far.buffered() > 0


async def test_a_sender_in_a_tight_loop_lets_the_loop_turn() -> None:
    peer, wire = await on_wire()
    reading = asyncio.create_task(wire.read())
    for number in range(5000):
        await peer.notify(FLOOD, {"n": number, "padding": "x" * 100})
        if reading.done():
            break
    assert reading.done()


# --- helpers ----------------------------------------------------------------------------------------------------------


async def opened(connection: Any, wire: Wire, protocol: int) -> Any:
    """Shake hands and open session S."""
    starting = asyncio.create_task(connection.start(wire.far, V1 if protocol == 1 else V2))
    request = await wire.read()
    version = {"protocolVersion": protocol}
    agent = {"info": {"name": "a", "version": "1"}, "capabilities": {"session": {}}} if protocol == 2 else {}
    wire.send({"id": request["id"], "result": {**version, **agent}})
    await starting
    opening = asyncio.create_task(connection.new_session("/tmp"))
    request = await wire.read_method("session/new")
    wire.send({"id": request["id"], "result": {"sessionId": "S"}})
    return await opening


def update(body: dict[str, Any]) -> dict[str, Any]:
    return {"method": "session/update", "params": {"sessionId": "S", "update": body}}


def user_message() -> dict[str, Any]:
    return {"sessionUpdate": "user_message", "messageId": "u1", "content": [{"type": "text", "text": "go"}]}


def running_state() -> dict[str, Any]:
    return {"sessionUpdate": "state_update", "state": "running"}
