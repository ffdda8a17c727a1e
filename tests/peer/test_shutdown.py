"""The end of a connection: who waits is told why, at once, and what was read before it is still handled."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from duologue.peer import ConnectionClosed, Peer, Scope, ending
from duologue.protocol.common.capabilities import Implementation
from duologue.protocol.method import Notification, Request, Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.initialize import InitializeRequest
from duologue.protocol.v2.prompt import PromptRequest
from duologue.protocol.version import V1, V2, Version
from duologue.transports.base import Closed
from duologue.transports.spawn import SpawnTransport
from wire import PATIENCE, Wire, chunk, settle, text_of, until

ASK = Request.untyped("_ask")
TELL = Notification.untyped("_tell")
INITIALIZE = InitializeRequest(protocol_version=2, info=Implementation(name="c", version="1"))

#: Reads one request, then does what the test says; `reply` answers it.
CHILD = """
import json, os, signal, sys, time
request = json.loads(sys.stdin.readline())
def reply(end="\\n"):
    result = {{"protocolVersion": {version}, "info": {{"name": "a", "version": "1"}}, "capabilities": {{}}}}
    sys.stdout.write(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": result}}) + end)
    sys.stdout.flush()
{code}
"""


@asynccontextmanager
async def child(folder: Path, code: str, version: Version = V2) -> AsyncIterator[Peer]:
    script = folder / "agent.py"
    script.write_text(CHILD.format(code=textwrap.dedent(code), version=version.number), encoding="utf-8")
    peer = Peer(Side.CLIENT, version, inside=V2)
    await peer.start(SpawnTransport([sys.executable, "-S", str(script)], grace_seconds=0.3))
    try:
        yield peer
    finally:
        await asyncio.wait_for(peer.close(), PATIENCE)


async def fails(call: Any) -> Closed:
    with pytest.raises(ConnectionClosed) as caught:
        await asyncio.wait_for(call, PATIENCE)
    return caught.value.reason


# --- a child that goes away -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [V1, V2], ids=["v1", "v2"])
async def test_field_bug_143_an_exit_during_initialize_has_its_code_and_stderr(
    tmp_path: Path, version: Version
) -> None:
    async with child(tmp_path, "sys.stderr.write('no key set\\n'); sys.exit(1)", version) as peer:
        reason = await fails(peer.request(v2.INITIALIZE, INITIALIZE))
        assert (reason.exit_code, reason.stderr_tail) == (1, "no key set\n")


@pytest.mark.parametrize("version", [V1, V2], ids=["v1", "v2"])
async def test_field_bug_143_an_exit_during_a_prompt_fails_all_calls_and_the_later_ones_at_once(
    tmp_path: Path, version: Version
) -> None:
    code = "reply(); sys.stdin.readline(); sys.stderr.write('out of memory\\n'); sys.exit(9)"
    async with child(tmp_path, code, version) as peer:
        await peer.request(v2.INITIALIZE, INITIALIZE)
        prompt = PromptRequest(session_id="S", prompt=[])
        calls = [asyncio.create_task(peer.request(v2.SESSION_PROMPT, prompt)) for _ in range(3)]
        for call in calls:
            reason = await fails(call)
            assert (reason.exit_code, reason.stderr_tail) == (9, "out of memory\n")
        with pytest.raises(ConnectionClosed, match="exit code 9"):
            await peer.request(ASK, {})
        with pytest.raises(ConnectionClosed, match="out of memory"):
            peer.notify(TELL, {})
        assert (await peer.wait_closed()).exit_code == 9


async def test_field_bug_143_a_child_that_only_closes_its_stdout_fails_the_calls(tmp_path: Path) -> None:
    async with child(tmp_path, "os.close(1); time.sleep(60)") as peer:
        reason = await fails(peer.request(v2.INITIALIZE, INITIALIZE))
        assert reason.exit_code is None
        assert "closed" in reason.detail


async def test_field_bug_143_a_killed_child_is_reported_by_its_signal(tmp_path: Path) -> None:
    async with child(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)") as peer:
        assert (await fails(peer.request(v2.INITIALIZE, INITIALIZE))).signal == "SIGSEGV"


async def test_field_bug_10_a_last_line_without_a_newline_is_delivered(tmp_path: Path) -> None:
    async with child(tmp_path, "sys.stdout.write('[boot] ok\\n'); reply(end='')") as peer:
        response = await asyncio.wait_for(peer.request(v2.INITIALIZE, INITIALIZE), PATIENCE)
        assert response.protocol_version == 2
        assert (await asyncio.wait_for(peer.wait_closed(), PATIENCE)).exit_code == 0


async def test_field_bug_10_an_update_that_is_cut_off_is_dropped_and_the_end_is_told(tmp_path: Path) -> None:
    code = 'sys.stdout.write(\'{"jsonrpc":"2.0","method":"session/upd\'); sys.stdout.flush()'
    async with child(tmp_path, code) as peer:
        assert (await fails(peer.request(v2.INITIALIZE, INITIALIZE))).exit_code == 0


async def test_a_child_that_ends_while_much_is_to_be_written_to_it_ends_the_call(tmp_path: Path) -> None:
    async with child(tmp_path, "sys.exit(2)") as peer:
        await peer.notify(TELL, {"start": True})
        reason = await fails(peer.request(ASK, {"padding": "x" * 5_000_000}))
        assert reason.exit_code == 2


# --- what was read before the end -------------------------------------------------------------------------------------


async def test_updates_that_were_read_before_the_end_are_handled_before_the_calls_fail() -> None:
    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V2)
    seen: list[str] = []

    async def handler(note: Any) -> None:
        await asyncio.sleep(0.01)
        seen.append(text_of(note))

    peer.listen(v2.SESSION_UPDATE, handler)
    await peer.start(wire.far)
    asking = asyncio.create_task(peer.request(ASK, {}))
    await wire.read()
    wire.send(chunk("1"), chunk("2"))
    await wire.near.close()
    await fails(asking)
    assert seen == ["1", "2"]


async def test_a_handler_that_never_ends_does_not_keep_the_calls_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "CLOSE_SECONDS", 0.05)
    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V2)
    cancelled = asyncio.Event()

    async def handler(note: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    peer.listen(v2.SESSION_UPDATE, handler)
    await peer.start(wire.far)
    asking = asyncio.create_task(peer.request(ASK, {}))
    await wire.read()
    wire.send(chunk("1"), chunk("2"))
    await settle()
    await wire.near.close()
    await fails(asking)
    await asyncio.wait_for(cancelled.wait(), PATIENCE)


async def test_requests_that_were_read_before_the_end_are_answered() -> None:
    """`printf ... | agent`: the other side has ended its own half only."""
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)

    async def quick(params: Any, scope: Scope) -> Any:
        await asyncio.sleep(0.01)
        return params

    peer.handle(ASK, quick)
    await peer.start(wire.far)
    wire.send(*[{"id": n, "method": "_ask", "params": {"n": n}} for n in range(100)])
    await settle()
    peer.reading.data_received(
        json.dumps({"jsonrpc": "2.0", "id": 100, "method": "_ask", "params": {"n": 100}}).encode()
    )
    peer.reading.connection_lost(Closed("the other side closed the stream"))
    answers = [await wire.read() for _ in range(101)]
    assert sorted(answer["result"]["n"] for answer in answers) == list(range(101))
    await asyncio.wait_for(peer.wait_closed(), PATIENCE)


async def test_a_handler_that_does_not_end_is_cancelled_with_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "LAST_ANSWERS_SECONDS", 0.05)
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    ended = asyncio.Event()

    async def slow(params: Any, scope: Scope) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    peer.handle(ASK, slow)
    await peer.start(wire.far)
    wire.send({"id": 1, "method": "_ask", "params": {}})
    await settle()
    await wire.near.close()
    await asyncio.wait_for(ended.wait(), PATIENCE)
    assert peer.closed_reason is not None


# --- closing from this side -------------------------------------------------------------------------------------------


async def test_what_was_sent_before_the_close_arrives() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    await peer.start(wire.far)
    for number in range(10):
        peer.notify(TELL, {"n": number})
    await peer.close()
    assert [(await wire.read())["params"]["n"] for _ in range(10)] == list(range(10))
    await until(lambda: wire.closed is not None)


async def test_closing_twice_and_before_the_start_is_nothing() -> None:
    peer = Peer(Side.AGENT, V2)
    await peer.close()
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    told: list[Closed] = []
    peer.on_closed(told.append)
    await peer.start(wire.far)
    await asyncio.gather(peer.close(), peer.close())
    assert len(told) == 1


async def test_one_that_fails_to_hear_of_the_end_holds_up_nobody() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    told: list[Closed] = []

    def fail(reason: Closed) -> None:
        raise LookupError("lost")

    peer.on_closed(fail)
    peer.on_closed(told.append)
    await peer.start(wire.far)
    await peer.close()
    assert told == [await peer.wait_closed()]


async def test_closing_fails_the_calls_though_a_handler_sits_before_them() -> None:
    wire = await Wire().open()
    peer = Peer(Side.CLIENT, V2)

    async def handler(note: Any) -> None:
        await asyncio.Event().wait()

    peer.listen(v2.SESSION_UPDATE, handler)
    await peer.start(wire.far)
    asking = asyncio.create_task(peer.request(ASK, {}))
    request = await wire.read()
    wire.send(chunk("1"), {"id": request["id"], "result": {"n": 1}})
    await settle()
    assert not asking.done()
    await asyncio.wait_for(peer.close(), PATIENCE)
    # It was answered before the end, and its answer only waited for its turn.
    assert await asyncio.wait_for(asking, PATIENCE) == {"n": 1}


async def test_a_peer_may_be_closed_from_any_of_its_handlers() -> None:
    for kind in ("notification", "request"):
        wire = await Wire().open()
        peer = Peer(Side.AGENT, V2)

        async def close(*_: Any, peer: Peer = peer) -> Any:
            await peer.close()
            return {}

        peer.handle(ASK, close)
        peer.listen(TELL, close)
        await peer.start(wire.far)
        wire.send({"method": "_tell", "params": {}} if kind == "notification" else {"id": 1, "method": "_ask"})
        await asyncio.wait_for(peer.wait_closed(), PATIENCE)
        await until(lambda: wire.closed is not None)  # noqa: B023


async def test_nothing_that_still_comes_is_handled_after_the_close() -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    seen: list[Any] = []

    async def tell(params: Any) -> None:
        seen.append(params)

    peer.listen(TELL, tell)
    await peer.start(wire.far)
    closing = asyncio.create_task(peer.close())
    await asyncio.sleep(0)
    peer.reading.data_received(b'{"jsonrpc":"2.0","method":"_tell","params":{}}\n')
    await closing
    await settle()
    assert seen == []


async def test_a_suspended_sender_is_let_go_and_told() -> None:
    wire = await Wire().open()
    wire.near.pause_reading()
    peer = Peer(Side.AGENT, V2)
    await peer.start(wire.far)

    async def send() -> None:
        while True:
            await peer.notify(TELL, {"padding": "x" * 10_000})

    sending = asyncio.create_task(send())
    await until(lambda: peer.link.outbound.suspended == 1)
    await peer.close()
    await fails(sending)
