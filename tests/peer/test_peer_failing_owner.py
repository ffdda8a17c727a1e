"""Functions of the owner that fail cost one message at most, never the connection."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from duologue.codec import CodecError
from duologue.peer import Peer
from duologue.protocol.changes.memory import OpenRequest
from duologue.protocol.method import Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.prompt import PromptRequest
from duologue.protocol.v2.session import NewSessionRequest
from duologue.protocol.version import V1, V2
from duologue.transports.base import Closed
from wire import PATIENCE, Wire, chunk, settle, text_of


async def client() -> tuple[Peer, Wire]:
    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V2)
    await peer.start(wire.far)
    return peer, wire


async def test_a_trace_function_that_raises_is_dropped_and_no_message_with_it() -> None:
    seen: list[str] = []
    calls: list[bytes] = []

    def trace(direction: str, line: bytes) -> None:
        calls.append(line)
        raise OSError("disk full")

    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V2, trace=trace)
    await peer.start(wire.far)
    peer.apply(v2.SESSION_UPDATE, lambda note: seen.append(text_of(note)))
    wire.send(chunk("1"), chunk("2"))
    await settle()
    assert (seen, len(calls)) == (["1", "2"], 1)


async def test_an_apply_function_that_raises_loses_its_message_only() -> None:
    peer, wire = await client()
    seen: list[str] = []

    def apply(note: Any) -> None:
        seen.append(text_of(note))
        if seen == ["1"]:
            raise RuntimeError("boom")

    peer.apply(v2.SESSION_UPDATE, apply)
    wire.send(chunk("1"), chunk("2"))
    await settle()
    assert seen == ["1", "2"]


async def test_a_prompt_that_cannot_be_encoded_does_not_block_the_next_one() -> None:
    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V1, inside=V2)
    await peer.start(wire.far)
    bad = PromptRequest(session_id="S", prompt=[], meta={"path": Path("/")})
    with pytest.raises(CodecError):
        await peer.request(v2.SESSION_PROMPT, bad)
    asking = asyncio.create_task(peer.request(v2.SESSION_PROMPT, PromptRequest(session_id="S", prompt=[])))
    request = await wire.read_method("session/prompt")
    wire.send({"id": request["id"], "result": {"stopReason": "end_turn"}})
    await asyncio.wait_for(asking, PATIENCE)


async def test_a_broken_last_line_is_answered_like_any_other() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    await peer.start(wire.far)
    wire.send(b'{"jsonrpc":"2.0","id":1,"meth')
    await settle()
    peer.reading.connection_lost(Closed())
    assert (await wire.read())["error"]["code"] == -32700


async def test_a_peer_that_is_not_started_says_so() -> None:
    peer = Peer(Side.CLIENT, V2)
    with pytest.raises(RuntimeError, match="not started"):
        await peer.request(Request.untyped("_x"), NewSessionRequest(cwd="/"))
    with pytest.raises(RuntimeError, match="not started"):
        await peer.wait_closed()


async def test_a_result_that_cannot_be_applied_is_the_failure_of_its_request() -> None:
    peer, wire = await client()

    def apply(result: Any) -> None:
        raise RuntimeError("boom")

    asking = asyncio.create_task(peer.request(Request.untyped("_ask"), {}, applied=apply))
    wire.send({"jsonrpc": "2.0", "id": (await wire.read_method("_ask"))["id"], "result": {}})
    with pytest.raises(RuntimeError, match="boom"):
        await asyncio.wait_for(asking, PATIENCE)


@pytest.mark.parametrize("told", [{"result": {}}, {"error": {"code": -32000, "message": "no"}}])
async def test_what_the_table_of_differences_fails_at_is_answered_and_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, told: dict[str, Any]
) -> None:
    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V1, inside=V2)
    await peer.start(wire.far)
    assert peer.edge is not None

    def fails(*_: Any) -> Any:
        raise RuntimeError("boom")

    asking = asyncio.create_task(peer.request(Request.untyped("_ask"), {}))
    ask = await wire.read_method("_ask")
    (call,) = peer._asking._calls.values()
    peer.edge.memory.outbound[call] = OpenRequest(fails)
    monkeypatch.setattr(peer.edge, "result_in", fails)
    monkeypatch.setattr(peer.edge, "error_in", fails)
    monkeypatch.setattr(peer.edge, "request_in", fails)
    asked = {"sessionId": "S", "toolCall": {"toolCallId": "c"}, "options": []}
    wire.send(
        {"jsonrpc": "2.0", "id": ask["id"], **told},
        {"jsonrpc": "2.0", "id": "p", "method": "session/request_permission", "params": asked},
    )
    with pytest.raises(RuntimeError, match="boom"):
        await asyncio.wait_for(asking, PATIENCE)
    assert (await wire.read_answer("p"))["error"]["code"] == -32603
