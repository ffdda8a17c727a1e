"""Order: what the inbound loop promises about updates, answers and handlers, and the deadlocks it rules out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.jsonrpc.limits import Limits
from duologue.peer import ConnectionClosed, Peer, Scope
from duologue.protocol.common.permission import CancelledOutcome, RequestPermissionResponse
from duologue.protocol.method import Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.prompt import CancelSessionNotification, PromptRequest, PromptResponse
from duologue.protocol.v2.session import NewSessionRequest
from duologue.protocol.v2.updates import UpdateSessionNotification
from duologue.protocol.version import V2
from wire import PATIENCE, Wire, chunk, settle, text_of, until


async def client(limits: Limits | None = None) -> tuple[Peer, Wire]:
    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V2, limits=limits)
    await peer.start(wire.far)
    return peer, wire


NEW = NewSessionRequest(cwd="/tmp")


@pytest.mark.req("all-framing-07")
async def test_thousands_of_updates_reach_a_slow_handler_in_the_order_of_the_wire() -> None:
    peer, wire = await client()
    seen: list[str] = []

    async def handler(note: UpdateSessionNotification) -> None:
        if len(seen) % 7 == 0:
            await asyncio.sleep(0)
        seen.append(text_of(note))

    peer.listen(v2.SESSION_UPDATE, handler)
    for start in range(0, 5000, 50):
        wire.send(*[chunk(str(number)) for number in range(start, start + 50)])
        await asyncio.sleep(0)
    await until(lambda: len(seen) == 5000)
    assert seen == [str(number) for number in range(5000)]


async def test_a_response_resolves_after_the_handlers_of_the_updates_before_it() -> None:
    peer, wire = await client()
    seen: list[str] = []

    async def handler(note: UpdateSessionNotification) -> None:
        await asyncio.sleep(0.01)
        seen.append(text_of(note))

    peer.listen(v2.SESSION_UPDATE, handler)
    asking = asyncio.create_task(peer.request(v2.SESSION_NEW, NEW))
    request = await wire.read()
    wire.send(chunk("1"), chunk("2"), {"id": request["id"], "result": {"sessionId": "S"}}, chunk("3"))
    await asking
    assert seen == ["1", "2"]


async def test_field_bug_30_a_session_exists_before_the_update_behind_its_response_is_applied() -> None:
    peer, wire = await client()
    known: list[str] = []
    found: list[bool] = []
    peer.apply(v2.SESSION_UPDATE, lambda note: found.append(note.session_id in known))
    asking = asyncio.create_task(
        peer.request(v2.SESSION_NEW, NEW, applied=lambda response: known.append(response.session_id))
    )
    request = await wire.read()
    wire.send({"id": request["id"], "result": {"sessionId": "S"}}, chunk("first"))
    await asking
    await settle()
    assert found == [True]


async def test_an_update_handler_may_await_a_request_on_its_own_peer() -> None:
    peer, wire = await client()
    done = asyncio.Event()

    async def handler(note: UpdateSessionNotification) -> None:
        await peer.request(v2.SESSION_NEW, NEW)
        done.set()

    peer.listen(v2.SESSION_UPDATE, handler)
    wire.send(chunk("go"), chunk("next"))
    for _ in range(2):
        request = await wire.read_method("session/new")
        wire.send({"id": request["id"], "result": {"sessionId": "S"}})
    await asyncio.wait_for(done.wait(), PATIENCE)
    await asyncio.wait_for(peer.drain(), PATIENCE)


async def test_a_permission_handler_may_await_a_request_on_its_own_peer() -> None:
    peer, wire = await client()

    async def permission(params: Any, scope: Scope) -> RequestPermissionResponse:
        await peer.request(v2.SESSION_NEW, NEW)
        return RequestPermissionResponse(outcome=CancelledOutcome())

    peer.handle(v2.SESSION_REQUEST_PERMISSION, permission)
    option = {"optionId": "a", "name": "A", "kind": "allow_once"}
    wire.send(
        {
            "id": "p1",
            "method": "session/request_permission",
            "params": {"sessionId": "S", "title": "?", "options": [option]},
        }
    )
    request = await wire.read_method("session/new")
    wire.send({"id": request["id"], "result": {"sessionId": "S"}})
    assert (await wire.read_answer("p1"))["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_a_cancel_handler_may_await_its_turn_which_awaits_a_permission() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    turn_over = asyncio.Event()

    async def prompt(params: PromptRequest, scope: Scope) -> PromptResponse:
        from duologue.protocol.common.permission import PermissionOption, PermissionOptionKind
        from duologue.protocol.v2.permission import RequestPermissionRequest

        option = PermissionOption(option_id="a", name="A", kind=PermissionOptionKind.ALLOW_ONCE)
        await peer.request(
            v2.SESSION_REQUEST_PERMISSION, RequestPermissionRequest(session_id="S", title="?", options=[option])
        )
        turn_over.set()
        return PromptResponse()

    async def cancelled(note: CancelSessionNotification) -> None:
        await turn_over.wait()

    peer.handle(v2.SESSION_PROMPT, prompt)
    peer.listen(v2.SESSION_CANCEL, cancelled)
    await peer.start(wire.far)
    wire.send({"id": 1, "method": "session/prompt", "params": {"sessionId": "S", "prompt": []}})
    question = await wire.read_method("session/request_permission")
    wire.send({"method": "session/cancel", "params": {"sessionId": "S"}})
    wire.send({"id": question["id"], "result": {"outcome": {"outcome": "cancelled"}}})
    assert "result" in await wire.read_answer(1)


async def test_a_handler_that_never_returns_holds_up_neither_requests_nor_calls_inside_it() -> None:
    peer, wire = await client()
    started = asyncio.Event()

    async def forever(note: UpdateSessionNotification) -> None:
        started.set()
        await asyncio.Event().wait()

    async def permission(params: Any, scope: Scope) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome=CancelledOutcome())

    peer.listen(v2.SESSION_UPDATE, forever)
    peer.handle(v2.SESSION_REQUEST_PERMISSION, permission)
    wire.send(chunk("stuck"))
    await started.wait()
    option = {"optionId": "a", "name": "A", "kind": "allow_once"}
    params = {"sessionId": "S", "title": "?", "options": [option]}
    wire.send({"id": 7, "method": "session/request_permission", "params": params})
    assert (await wire.read_answer(7))["result"]["outcome"] == {"outcome": "cancelled"}
    await asyncio.wait_for(peer.close(), PATIENCE)


async def test_a_failing_handler_costs_neither_the_connection_nor_the_next_message() -> None:
    peer, wire = await client()
    seen: list[str] = []

    async def handler(note: UpdateSessionNotification) -> None:
        seen.append(text_of(note))
        if seen == ["1"]:
            raise RuntimeError("boom")

    peer.listen(v2.SESSION_UPDATE, handler)
    wire.send(chunk("1"), chunk("2"))
    await until(lambda: len(seen) == 2)


async def test_field_bug_89_an_update_that_does_not_fit_is_dropped_alone() -> None:
    peer, wire = await client()
    seen: list[str] = []
    peer.apply(v2.SESSION_UPDATE, lambda note: seen.append(text_of(note)))
    broken = {"sessionUpdate": "agent_message_chunk", "content": 5}
    wire.send(chunk("1"), {"method": "session/update", "params": {"sessionId": "S", "update": broken}}, chunk("2"))
    await settle()
    assert seen == ["1", "2"]


async def test_nothing_passes_an_unanswered_initialize() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, inside=V2)
    release = asyncio.Event()

    async def initialize(params: Any, scope: Scope) -> Any:
        from duologue.protocol.common.capabilities import Implementation
        from duologue.protocol.v2.initialize import InitializeResponse

        await release.wait()
        return InitializeResponse(protocol_version=2, info=Implementation(name="a", version="1"))

    def negotiate(raw: Any, scope: Scope) -> None:
        from duologue import codec

        peer.speak(V2)
        peer.answer(v2.INITIALIZE, codec.decode(v2.INITIALIZE.params, raw), scope)

    async def new(params: NewSessionRequest, scope: Scope) -> Any:
        from duologue.protocol.v2.session import NewSessionResponse

        return NewSessionResponse(session_id="S")

    peer.on_initialize(negotiate)
    peer.handle(v2.INITIALIZE, initialize)
    peer.handle(v2.SESSION_NEW, new)
    await peer.start(wire.far)
    info = {"name": "c", "version": "1"}
    wire.send(
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 2, "info": info}},
        {"id": 2, "method": "session/new", "params": {"cwd": "/"}},
    )
    await wire.silence()
    release.set()
    assert (await wire.read())["id"] == 1
    assert (await wire.read())["id"] == 2


async def test_a_request_before_initialize_is_refused_and_the_connection_lives() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, inside=V2)
    await peer.start(wire.far)
    wire.send({"id": 5, "method": "session/new", "params": {"cwd": "/"}})
    assert (await wire.read_answer(5))["error"]["code"] == -32600


async def test_field_bug_27_a_second_live_request_with_one_id_is_refused_and_the_first_untouched() -> None:
    peer, wire = await client()
    go = asyncio.Event()

    async def slow(params: Any, scope: Scope) -> Any:
        await go.wait()
        return {"done": params}

    peer.handle(Request.untyped("_slow"), slow)
    wire.send({"id": 5, "method": "_slow", "params": {"n": 1}}, {"id": 5, "method": "_slow", "params": {"n": 2}})
    assert (await wire.read())["error"]["code"] == -32600
    go.set()
    assert (await wire.read())["result"] == {"done": {"n": 1}}


async def test_field_bug_22_ids_are_echoed_with_their_exact_type() -> None:
    peer, wire = await client()

    async def echo(params: Any, scope: Scope) -> Any:
        return params

    peer.handle(Request.untyped("_echo"), echo)
    for id in (0, -1, "0", "", "7b1e-uuid", 9007199254740993, 18446744073709551616, None):
        wire.send({"id": id, "method": "_echo", "params": {}})
        answer = await wire.read()
        assert answer["id"] == id
        assert type(answer["id"]) is type(id)


async def test_calls_fail_in_order_when_the_connection_ends() -> None:
    peer, wire = await client()
    asking = asyncio.create_task(peer.request(v2.SESSION_NEW, NEW))
    await wire.read()
    await wire.near.close()
    with pytest.raises(ConnectionClosed):
        await asyncio.wait_for(asking, PATIENCE)
    with pytest.raises(ConnectionClosed):
        await peer.request(v2.SESSION_NEW, NEW)
