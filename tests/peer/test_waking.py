"""When a caller goes on whose answer was read: at the end of the read, after all that came with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from duologue.jsonrpc.errors import LimitError
from duologue.jsonrpc.limits import Limits
from duologue.peer import Peer, Scope
from duologue.peer.channel import session_channel
from duologue.peer.waking import Waking
from duologue.protocol.common.content import TextBlock
from duologue.protocol.method import Request, Side
from duologue.protocol.v2.updates import AgentMessageChunk
from duologue.protocol.version import V2
from duologue.transports.base import Sink
from wire import settle

ASK = Request.untyped("_ask")
WORK = Request.untyped("_work")


class Sent:
    """A transport that keeps what is written; the test says what is read."""

    def __init__(self) -> None:
        self.lines = b""

    async def start(self, sink: Sink) -> None: ...

    def write(self, data: bytes | bytearray) -> None:
        self.lines += data

    def buffered(self) -> int:
        return len(self.lines)

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def close(self) -> None: ...


def answer(id: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"result":{"of":%d}}\n' % (id, id)


async def outside_of_tasks(function: Callable[[], None]) -> None:
    """Call it as the event loop calls a transport's reader: while no task is running."""
    called = asyncio.get_running_loop().create_future()

    def call() -> None:
        try:
            function()
        except BaseException as error:
            called.set_exception(RuntimeError(repr(error)))
        else:
            called.set_result(None)

    asyncio.get_running_loop().call_soon(call)
    await called


async def asking(count: int) -> tuple[Peer, list[Any], Sent]:
    """A peer with open requests, each awaited by a task that notes its result."""
    peer, sent, results = Peer(Side.CLIENT, V2), Sent(), list[Any]()
    await peer.start(sent)

    async def ask() -> None:
        results.append(await peer.request(ASK, {}))

    for _ in range(count):
        peer.track(ask())
    await settle()
    return peer, results, sent


async def test_the_caller_goes_on_within_the_read() -> None:
    peer, results, _ = await asking(2)
    seen: list[list[Any]] = []

    def read() -> None:
        peer.reading.data_received(answer(2) + answer(1))
        seen.append(list(results))

    await outside_of_tasks(read)
    assert seen == [[{"of": 2}, {"of": 1}]]


async def test_no_caller_runs_inside_of_another_task() -> None:
    peer, results, _ = await asking(1)
    peer.reading.data_received(answer(1))
    assert results == []
    await settle()
    assert results == [{"of": 1}]


async def test_a_cancel_in_the_same_read_is_seen_first() -> None:
    peer, sent = Peer(Side.AGENT, V2), Sent()
    went_on: list[Any] = []

    async def work(params: Any, scope: Scope) -> Any:
        went_on.append(await peer.request(ASK, {}))
        return {}

    peer.handle(WORK, work)
    await peer.start(sent)
    peer.reading.data_received(b'{"jsonrpc":"2.0","id":"w","method":"_work","params":{}}\n')
    await settle()
    cancel = b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"w"}}\n'
    await outside_of_tasks(lambda: peer.reading.data_received(answer(1) + cancel))
    await settle()
    assert went_on == []
    assert b'"code":-32800' in sent.lines


async def test_a_caller_that_gave_up_does_not_go_on() -> None:
    peer, results, _ = await asking(0)
    task = asyncio.create_task(peer.request(ASK, {}))
    await settle()
    task.cancel()
    await outside_of_tasks(lambda: peer.reading.data_received(answer(1)))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert results == []


async def test_what_ends_the_program_keeps_no_other_caller_waiting() -> None:
    loop = asyncio.get_running_loop()
    waking, first, second, seen = Waking(loop), loop.create_future(), loop.create_future(), list[Any]()

    def ends(_: Any) -> None:
        raise SystemExit(3)

    first.add_done_callback(ends)
    second.add_done_callback(lambda future: seen.append(future.result()))
    waking.reading = True
    waking.succeed(first, 1)
    waking.succeed(second, 2)
    with pytest.raises(RuntimeError, match="SystemExit"):
        await outside_of_tasks(waking.go_on)
    await settle()
    assert seen == [2]


async def test_a_future_that_nobody_awaits_yet_has_its_result() -> None:
    loop = asyncio.get_running_loop()
    waking, future = Waking(loop), loop.create_future()
    waking.reading = True
    waking.succeed(future, "there")
    waking.go_on()
    assert await future == "there"


async def test_an_update_counts_once_against_what_may_lie_unread() -> None:
    peer = Peer(Side.AGENT, V2, limits=Limits(outbound_bytes=1000))
    await peer.start(Sent())
    channel = session_channel(peer, "S")
    peer.link.outbound.pause()
    channel.send(AgentMessageChunk(message_id="m", content=TextBlock(text="x" * 600)))
    with pytest.raises(LimitError):
        channel.send(AgentMessageChunk(message_id="m", content=TextBlock(text="x" * 600)))
