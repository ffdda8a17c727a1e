"""`$/cancel_request` in both directions: who is cancelled, who is not, and that each request has one answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from duologue.jsonrpc.errors import RpcError
from duologue.peer import REQUEST_CANCELLED, Peer, Scope, Trace
from duologue.protocol.common.content import TextBlock
from duologue.protocol.method import Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.prompt import PromptRequest
from duologue.protocol.version import V1, V2
from wire import PATIENCE, Wire, settle

SLOW = Request.untyped("_slow")
ECHO = Request.untyped("_echo")


class Slow:
    """A handler that waits until it is let go, and counts what became of it."""

    def __init__(self) -> None:
        self.started = 0
        self.cancelled = 0
        self.go = asyncio.Event()
        self.answer: Any = None

    async def __call__(self, params: Any, scope: Scope) -> Any:
        self.started += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            if self.answer is None:
                raise
            return self.answer
        return {"finished": True}


async def answering() -> tuple[Peer, Wire, Slow]:
    wire = await Wire().open()
    peer, slow = Peer(Side.AGENT, V2), Slow()

    async def echo(params: Any, scope: Scope) -> Any:
        return params

    peer.handle(SLOW, slow)
    peer.handle(ECHO, echo)
    await peer.start(wire.far)
    return peer, wire, slow


async def asking(trace: Trace | None = None) -> tuple[Peer, Wire]:
    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V2, trace=trace)
    await peer.start(wire.far)
    return peer, wire


def call(id: Any, method: str = "_slow") -> dict[str, Any]:
    return {"id": id, "method": method, "params": {}}


def cancel(id: Any) -> dict[str, Any]:
    return {"method": "$/cancel_request", "params": {"requestId": id}}


# --- this side asks ---------------------------------------------------------------------------------------------------


@pytest.mark.req("all-cancellation-07", "all-cancellation-08")
async def test_cancelling_the_caller_withdraws_the_request_under_its_exact_id() -> None:
    lines: list[bytes] = []
    peer, wire = await asking(lambda direction, line: lines.append(line))
    task = asyncio.create_task(peer.request(SLOW, {}))
    request = await wire.read()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await wire.read_method("$/cancel_request"))["params"] == {"requestId": request["id"]}
    assert json.loads(lines[0])["id"] == json.loads(lines[1])["params"]["requestId"]
    assert type(json.loads(lines[1])["params"]["requestId"]) is type(json.loads(lines[0])["id"])


@pytest.mark.parametrize(
    "late", [{"result": {}}, {"error": {"code": REQUEST_CANCELLED, "message": "Request cancelled"}}]
)
async def test_the_late_answer_to_a_withdrawn_request_is_ignored_and_harms_nothing(late: dict[str, Any]) -> None:
    peer, wire = await asking()
    applied: list[Any] = []
    task = asyncio.create_task(peer.request(SLOW, {}, applied=applied.append))
    request = await wire.read()
    task.cancel()
    await asyncio.wait({task})
    wire.send({"id": request["id"], **late})
    await settle()
    assert applied == []
    assert peer.closed_reason is None
    second = asyncio.create_task(peer.request(ECHO, {}))
    request = await wire.read_method("_echo")
    wire.send({"id": request["id"], "result": {"fine": 1}})
    assert await asyncio.wait_for(second, PATIENCE) == {"fine": 1}


async def test_a_withdrawn_request_frees_its_place_among_the_pending_ones() -> None:
    peer, wire = await asking()
    for _ in range(3):
        task = asyncio.create_task(peer.request(SLOW, {}))
        await wire.read_method("_slow")
        task.cancel()
        await asyncio.wait({task})
    assert peer.link.engine.pending_count == 0


async def test_a_caller_that_is_cancelled_together_with_its_answer_sends_no_cancel() -> None:
    peer, wire = await asking()
    task = asyncio.create_task(peer.request(SLOW, {}))
    request = await wire.read()
    wire.send({"id": request["id"], "result": {}})
    await settle()
    task.cancel()
    await asyncio.wait({task})
    await wire.silence()


async def test_a_timeout_around_a_call_withdraws_it() -> None:
    peer, wire = await asking()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await peer.request(SLOW, {})
    request = await wire.read_method("_slow")
    assert (await wire.read_method("$/cancel_request"))["params"] == {"requestId": request["id"]}


async def test_a_withdrawn_prompt_is_forgotten_by_the_table_of_differences() -> None:
    """A v1 wire keeps books about open prompts; a withdrawn one must not own the next turn."""
    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V1, inside=V2)
    await peer.start(wire.far)
    prompt = PromptRequest(session_id="S", prompt=[TextBlock(text="one")])
    task = asyncio.create_task(peer.request(v2.SESSION_PROMPT, prompt))
    first = await wire.read_method("session/prompt")
    task.cancel()
    await asyncio.wait({task})
    second = asyncio.create_task(peer.request(v2.SESSION_PROMPT, prompt))
    request = await wire.read_method("session/prompt")
    wire.send({"id": first["id"], "result": {"stopReason": "cancelled"}})
    wire.send({"id": request["id"], "result": {"stopReason": "end_turn"}})
    await asyncio.wait_for(second, PATIENCE)
    assert peer.edge is not None
    assert not peer.edge.memory.outbound
    assert not peer.edge.memory.session("S").prompts


# --- the other side asks ----------------------------------------------------------------------------------------------


@pytest.mark.req("all-cancellation-09", "all-cancellation-12")
async def test_a_cancelled_handler_is_answered_with_request_cancelled() -> None:
    _, wire, slow = await answering()
    wire.send(call(1))
    await settle()
    wire.send(cancel(1))
    assert (await wire.read_answer(1))["error"]["code"] == REQUEST_CANCELLED
    assert (slow.started, slow.cancelled) == (1, 1)
    await wire.silence()


@pytest.mark.req("all-cancellation-09")
async def test_the_own_answer_of_a_cancelled_handler_counts() -> None:
    _, wire, slow = await answering()
    slow.answer = {"outcome": "cancelled"}
    wire.send(call(1))
    await settle()
    wire.send(cancel(1))
    assert (await wire.read_answer(1))["result"] == {"outcome": "cancelled"}
    await wire.silence()


async def test_the_own_error_of_a_cancelled_handler_counts() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)

    async def handler(params: Any, scope: Scope) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise RpcError(-32000, "half done", {"rows": 3}) from None

    peer.handle(SLOW, handler)
    await peer.start(wire.far)
    wire.send(call("x"))
    await settle()
    wire.send(cancel("x"))
    assert (await wire.read_answer("x"))["error"] == {"code": -32000, "message": "half done", "data": {"rows": 3}}


@pytest.mark.req("all-cancellation-09")
async def test_field_bug_39_a_cancel_in_the_same_read_as_its_request_is_still_answered() -> None:
    _, wire, slow = await answering()
    wire.send(call(1), cancel(1), call(2, "_echo"))
    answers = [await wire.read(), await wire.read()]
    assert {answer["id"] for answer in answers} == {1, 2}
    assert next(answer for answer in answers if answer["id"] == 1)["error"]["code"] == REQUEST_CANCELLED
    assert slow.started == 0
    await wire.silence()


@pytest.mark.req("all-cancellation-11")
async def test_cancelling_what_is_not_open_does_nothing() -> None:
    peer, wire, slow = await answering()
    wire.send(call(1, "_echo"))
    await wire.read_answer(1)
    wire.send(cancel(1), cancel(99), cancel("never"), cancel(None), cancel([1]), cancel({"id": 1}))
    wire.send({"method": "$/cancel_request"}, {"method": "$/cancel_request", "params": [1]})
    await wire.silence()
    assert peer.closed_reason is None
    assert slow.started == 0


@pytest.mark.req("all-cancellation-08")
@pytest.mark.parametrize("wrong", [b"true", b"1.0", b'"1"', b"1e0", b"[1]", b"null", b"10"])
async def test_an_id_of_another_type_does_not_match(wrong: bytes) -> None:
    _, wire, slow = await answering()
    wire.send(call(1))
    await settle()
    wire.send(b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":' + wrong + b"}}\n")
    await wire.silence()
    assert slow.cancelled == 0
    slow.go.set()
    assert (await wire.read_answer(1))["result"] == {"finished": True}


@pytest.mark.req("all-cancellation-08")
@pytest.mark.parametrize("id", [0, -1, "", "1", 9007199254740993, 18446744073709551616, None])
async def test_field_bug_22_any_id_can_be_cancelled(id: Any) -> None:
    _, wire, _slow = await answering()
    wire.send(call(id))
    await settle()
    wire.send(cancel(id))
    assert (await wire.read_answer(id))["error"]["code"] == REQUEST_CANCELLED


@pytest.mark.req("all-cancellation-09")
async def test_cancelling_twice_answers_once() -> None:
    _, wire, slow = await answering()
    wire.send(call(1))
    await settle()
    wire.send(cancel(1), cancel(1))
    await wire.read_answer(1)
    wire.send(cancel(1))
    await wire.silence()
    assert slow.cancelled == 1


async def test_field_bug_27_a_cancel_touches_the_first_of_two_requests_with_one_id_only_once() -> None:
    _, wire, slow = await answering()
    wire.send(call(5), call(5))
    assert (await wire.read())["error"]["code"] == -32600
    wire.send(cancel(5))
    assert (await wire.read())["error"]["code"] == REQUEST_CANCELLED
    assert slow.started == slow.cancelled == 1


async def test_a_cancel_that_its_handler_swallows_leaves_the_result_of_the_work() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    rest = asyncio.Event()

    async def stubborn(params: Any, scope: Scope) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await rest.wait()
        return {"saw": scope.cancelled}

    peer.handle(SLOW, stubborn)
    await peer.start(wire.far)
    wire.send(call(1))
    await settle()
    wire.send(cancel(1))
    await wire.silence()
    rest.set()
    assert (await wire.read_answer(1))["result"] == {"saw": True}


async def test_cancelling_a_request_withdraws_what_its_handler_asked() -> None:
    """A cancel goes on to the requests that the handler waits for."""
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)

    async def handler(params: Any, scope: Scope) -> Any:
        return await peer.request(ECHO, {"inner": True})

    peer.handle(SLOW, handler)
    await peer.start(wire.far)
    wire.send(call(1))
    inner = await wire.read_method("_echo")
    wire.send(cancel(1))
    assert (await wire.read_method("$/cancel_request"))["params"] == {"requestId": inner["id"]}
    assert (await wire.read_answer(1))["error"]["code"] == REQUEST_CANCELLED
    wire.send({"id": inner["id"], "error": {"code": REQUEST_CANCELLED, "message": "Request cancelled"}})
    await wire.silence()
    assert peer.closed_reason is None


@pytest.mark.req("all-cancellation-12")
async def test_a_handler_that_cancels_itself_is_answered() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)

    async def handler(params: Any, scope: Scope) -> Any:
        raise asyncio.CancelledError

    peer.handle(SLOW, handler)
    await peer.start(wire.far)
    wire.send(call(1))
    assert (await wire.read_answer(1))["error"]["code"] == REQUEST_CANCELLED


@pytest.mark.req("all-cancellation-10")
async def test_unknown_notifications_of_the_protocol_are_ignored() -> None:
    peer, wire, _ = await answering()
    wire.send({"method": "$/progress", "params": {"token": 1}}, {"method": "$/nothing"}, call(1, "_echo"))
    assert (await wire.read())["id"] == 1
    assert peer.closed_reason is None


async def test_a_thousand_cancels_of_a_thousand_requests_in_one_read() -> None:
    _, wire, slow = await answering()
    wire.send(*[message for id in range(1000) for message in (call(id), cancel(id))])
    answers = [await wire.read() for _ in range(1000)]
    assert sorted(answer["id"] for answer in answers) == list(range(1000))
    assert all(answer["error"]["code"] == REQUEST_CANCELLED for answer in answers)
    await wire.silence()
    assert slow.started == 0
