"""Limits of a connection: each is a named error for who breaks it, and the connection goes on where it can."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pipe_kit import line_of, on_pipes

from duologue.jsonrpc.errors import LimitError, RpcError
from duologue.jsonrpc.limits import Limits
from duologue.peer import ConnectionClosed, Peer, Scope
from duologue.protocol.common.content import TextBlock
from duologue.protocol.method import Notification, Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.updates import AgentMessageChunk, UpdateSessionNotification
from duologue.protocol.version import V2
from duologue.transports import pipes as pipes_module
from wire import PATIENCE, Wire, chunk, on_wire, settle, until

FLOOD = Notification.untyped("_flood")
ECHO = Notification.untyped("_echo")
ASK = Request.untyped("_ask")

# --- what comes in ----------------------------------------------------------------------------------------------------


async def test_beyond_inbound_bytes_the_connection_closes_with_a_named_error() -> None:
    """Reading cannot pause while a call is open, so something else has to bound it."""
    peer, wire = await on_wire(Limits(undelivered=4, inbound_bytes=100_000))
    started = asyncio.Event()

    async def handler(note: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    peer.listen(v2.SESSION_UPDATE, handler)
    asking = asyncio.create_task(peer.request(ASK, {}))
    await wire.read()
    for _ in range(40):
        wire.send(chunk("x" * 10_000))
        await asyncio.sleep(0)
    with pytest.raises(ConnectionClosed, match=r"inbound_bytes.*100000.*Limits\(inbound_bytes="):
        await asyncio.wait_for(asking, PATIENCE)
    with pytest.raises(ConnectionClosed, match="inbound_bytes"):
        peer.notify(ECHO, {})
    await until(lambda: wire.closed is not None)


async def test_messages_that_are_handled_in_time_never_count_towards_inbound_bytes() -> None:
    peer, wire = await on_wire(Limits(inbound_bytes=100_000))
    seen = 0

    async def handler(note: Any) -> None:
        nonlocal seen
        seen += 1

    peer.listen(v2.SESSION_UPDATE, handler)
    for number in range(1, 101):
        wire.send(chunk("x" * 10_000))
        await until(lambda: seen == number)  # noqa: B023
    assert peer.closed_reason is None


# --- what goes out ----------------------------------------------------------------------------------------------------


async def test_outbound_bytes_is_a_limit_error_for_who_sends_and_the_connection_lives() -> None:
    async with on_pipes(Side.AGENT, Limits(outbound_bytes=500_000)) as (peer, pipes):
        sent = 0
        with pytest.raises(LimitError, match="outbound_bytes") as caught:
            for number in range(1000):
                peer.notify(FLOOD, {"n": number, "padding": "x" * 1000})
                sent += 1
                if number % 50 == 0:
                    await asyncio.sleep(0)
        assert caught.value.value == 500_000
        assert peer.link.transport.buffered() <= 500_000
        with pytest.raises(LimitError, match="outbound_bytes"):
            await peer.request(ASK, {"padding": "x" * 100_000})
        assert peer.link.engine.pending_count == 0
        lines = await pipes.read_lines(sent)
        assert [line["params"]["n"] for line in lines] == list(range(sent))
        await until(lambda: not peer.link.outbound.blocked)
        await peer.notify(FLOOD, {"n": -1})
        assert (await pipes.read_lines(1))[0]["params"]["n"] == -1


async def test_an_update_over_the_limit_leaves_no_trace_in_what_is_sent() -> None:
    def note(text: str) -> UpdateSessionNotification:
        piece = AgentMessageChunk(message_id="m", content=TextBlock(text=text))
        return UpdateSessionNotification(session_id="S", update=piece)

    async with on_pipes(Side.AGENT, Limits(outbound_bytes=500_000)) as (peer, pipes):
        sent = 0
        with pytest.raises(LimitError, match="outbound_bytes"):
            for number in range(1000):
                peer.update(note(f"{number} " + "x" * 1000))
                sent += 1
                if number % 50 == 0:
                    await asyncio.sleep(0)
        lines = await pipes.read_lines(sent)
        texts = [line["params"]["update"]["content"]["text"].split()[0] for line in lines]
        assert texts == [str(number) for number in range(sent)]


async def test_a_handlers_answer_waits_until_the_other_side_reads() -> None:
    async with on_pipes(Side.AGENT, Limits(outbound_bytes=500_000)) as (peer, pipes):

        async def big(params: Any, scope: Scope) -> Any:
            return {"n": params["n"], "padding": "x" * 100_000}

        peer.handle(ASK, big)
        pipes.write_in_thread([line_of({"id": n, "method": "_ask", "params": {"n": n}}) for n in range(30)])
        await until(lambda: peer.link.outbound.suspended > 0)
        await settle()
        assert peer.link.transport.buffered() <= 500_000
        lines = await pipes.read_lines(30)
        assert sorted(line["result"]["n"] for line in lines) == list(range(30))
        assert peer.link.engine.live_count == 0


async def test_a_side_that_asks_without_ever_reading_is_cut_off_with_a_named_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its requests are refused at once, so that nothing slows it down; the answers must not pile up."""
    monkeypatch.setattr(pipes_module, "FLUSH_SECONDS", 0.05)
    closed: list[str] = []
    async with on_pipes(Side.AGENT, Limits(outbound_bytes=100_000)) as (peer, pipes):
        peer.on_closed(lambda reason: closed.append(reason.detail))
        pipes.write_in_thread([line_of({"id": n, "method": "_nope", "params": {}}) for n in range(20_000)])
        await until(lambda: closed)
        assert "outbound_bytes" in closed[0]


# --- messages and requests --------------------------------------------------------------------------------------------


async def test_pending_requests_is_a_limit_error_and_the_open_ones_live() -> None:
    peer, wire = await on_wire(Limits(pending_requests=2))
    asking = [asyncio.create_task(peer.request(ASK, {"n": number})) for number in range(2)]
    requests = [await wire.read() for _ in asking]
    with pytest.raises(LimitError, match="pending_requests"):
        await peer.request(ASK, {"n": 2})
    for request in requests:
        wire.send({"id": request["id"], "result": request["params"]})
    assert await asyncio.wait_for(asyncio.gather(*asking), PATIENCE) == [{"n": 0}, {"n": 1}]
    again = asyncio.create_task(peer.request(ASK, {"n": 3}))
    assert (await wire.read())["params"] == {"n": 3}
    again.cancel()
    await asyncio.wait({again})
    assert peer.inbound.paused is False


async def test_inbound_requests_refuses_what_is_too_much_and_serves_the_rest() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2, limits=Limits(inbound_requests=2))
    go = asyncio.Event()

    async def slow(params: Any, scope: Scope) -> Any:
        await go.wait()
        return params

    peer.handle(ASK, slow)
    await peer.start(wire.far)
    wire.send(*[{"id": n, "method": "_ask", "params": {"n": n}} for n in range(3)])
    refused = await wire.read()
    assert refused["id"] == 2
    assert "inbound_requests" in json.dumps(refused["error"])
    go.set()
    assert [(await wire.read())["result"]["n"] for _ in range(2)] == [0, 1]
    wire.send({"id": 3, "method": "_ask", "params": {"n": 3}})
    assert (await wire.read())["result"]["n"] == 3


async def test_field_bug_2_a_message_over_the_limit_is_answered_and_the_stream_goes_on() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2, limits=Limits(message_bytes=10_000))

    async def echo(params: Any, scope: Scope) -> Any:
        return params

    peer.handle(ASK, echo)
    await peer.start(wire.far)
    wire.send({"id": 7, "method": "_ask", "params": {"text": "x" * 20_000}}, {"id": 8, "method": "_ask", "params": {}})
    refused = await wire.read_answer(7)
    assert "message_bytes" in json.dumps(refused["error"])
    assert (await wire.read_answer(8))["result"] == {}


async def test_an_answer_over_the_limit_fails_its_caller_alone() -> None:
    peer, wire = await on_wire(Limits(message_bytes=10_000))
    asking = asyncio.create_task(peer.request(ASK, {}))
    request = await wire.read()
    wire.send({"id": request["id"], "result": {"text": "x" * 20_000}})
    with pytest.raises(LimitError, match="message_bytes"):
        await asyncio.wait_for(asking, PATIENCE)
    again = asyncio.create_task(peer.request(ASK, {}))
    request = await wire.read()
    wire.send({"id": request["id"], "error": {"code": -1, "message": "no"}})
    with pytest.raises(RpcError):
        await asyncio.wait_for(again, PATIENCE)
