"""Lines that are no messages, ids of every sort, and turns that hold up nothing: the agent reads on."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Turn
from duologue.protocol import v2
from wire import until


async def still_there(talk: Talk) -> None:
    """The connection works as before."""
    assert await talk.turn(await talk.new(), "hello") == Ended("end_turn")


@pytest.mark.parametrize("line", [b"42", b"null", b'"x"', b"[]", b"{}", b"Welcome back", b"{", b'{"id":5,"resu'])
async def test_field_bugs_12_13_23_a_line_that_is_no_message_has_at_most_an_answer_without_id(
    version: int, line: bytes
) -> None:
    """Also while a request of the client is open under id 0."""
    waiting = asyncio.Event()

    async def wait(turn: Turn) -> None:
        await waiting.wait()

    talk = await Talk.begin(Scripted(wait=wait), version)
    session = await talk.new()
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "wait"}]}
    talk.send({"id": 0, "method": "session/prompt", "params": prompt})
    talk.wire.send(line + b"\n\n")
    while "error" not in (message := await talk.wire.read()):
        assert message.get("id") in (None, 0)
    assert (message["id"], message["error"]["code"]) in ((None, -32700), (None, -32600))
    waiting.set()
    await still_there(talk)


async def test_field_bug_14_blank_lines_and_carriage_returns_are_nothing(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    one, two = (talk.call("session/new", {"cwd": "/", "mcpServers": []}) for _ in range(2))
    lines = [json.dumps({"jsonrpc": "2.0", **call}).encode() for call in (one, two)]
    talk.wire.send(lines[0] + b"\r\n\r\n\n" + lines[1] + b"\n")
    assert [(await talk.read())["id"] for _ in range(2)] == [one["id"], two["id"]]
    await talk.wire.silence()


async def test_field_bug_26_only_what_has_no_id_is_not_answered(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    talk.send({"id": None, "method": "nope"}, {"id": 0, "method": "nope"}, {"method": "nope"})
    answers = [await talk.wire.read() for _ in range(2)]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(None, -32601), (0, -32601)]
    await talk.wire.silence()


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 1_000_000])
async def test_field_bugs_1_4_a_long_line_in_small_pieces_is_one_message(version: int, size: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    session = await talk.new()
    line = json.dumps({"jsonrpc": "2.0", **talk.prompting(session, "x" * size)}).encode() + b"\n"
    for start in range(0, len(line), step := 7 if size < 100_000 else 997):
        talk.wire.send(line[start : start + step])
    await talk.heard("x" * size)
    await still_there(talk)


async def test_field_bug_47_a_cancel_is_read_while_a_turn_is_busy(version: int) -> None:
    """The turn waits for a thread, which is let go only when the client has its answer."""
    release, began = threading.Event(), asyncio.Event()

    async def busy(turn: Turn) -> None:
        began.set()
        await asyncio.to_thread(release.wait)

    talk = await Talk.begin(Scripted(busy=busy), version)
    session = await talk.new()
    id = talk.prompt(session, "busy")
    await began.wait()
    try:
        talk.cancel(session)
        assert await talk.ended(id) == [Ended("cancelled")]
    finally:
        release.set()


async def test_field_bug_40_a_cancelled_turn_tells_no_usage_that_is_not_known(version: int) -> None:
    async def tool(turn: Turn) -> None:
        async with turn.tool_call("Sleep"):
            await asyncio.Event().wait()

    talk = await Talk.begin(agent := Scripted(tool=tool), version)
    session = await talk.new()
    id = talk.prompt(session, "tool")
    await until(lambda: agent.log == ["begin tool"])
    talk.cancel(session)
    assert await talk.ended(id) == [Ended("cancelled", usage=None)]


# --- arrays of version 2 ----------------------------------------------------------------------------------------------


@pytest.mark.req("v2-jsonrpc-10", "v2-jsonrpc-11")
async def test_an_array_goes_out_as_answers_alone_and_updates_by_themselves() -> None:
    """The client sends arrays; turns of them show terminals, whose order matters."""

    async def show(turn: Turn) -> None:
        async with turn.tool_call("Make") as call:
            terminal = await call.terminal("make")
            for piece in (b"one", b"two"):
                await terminal.write(piece)
            await terminal.exited(0)

    talk = await Talk.begin(Scripted(show=show), 2)
    session = await talk.new()
    calls = [talk.prompting(session, "show"), talk.call("session/list", {}), talk.call("session/new", {"cwd": "/"})]
    array: list[Any] = [{"jsonrpc": "2.0", **call} for call in calls]
    talk.wire.send(json.dumps(array).encode() + b"\n")
    lines: list[Any] = []
    while not any(isinstance(line, dict) and "idle" in json.dumps(line) for line in lines):
        lines.append(await talk.wire.read())
    answers = [line for line in lines if isinstance(line, list)]
    assert [sorted(answer["id"] for answer in line) for line in answers] == [[call["id"] for call in calls]]
    assert all("method" not in answer for answer in answers[0])
    told = [line["params"]["update"] for line in lines if isinstance(line, dict)]
    kinds = [update["sessionUpdate"] for update in told if update["sessionUpdate"].startswith("terminal")]
    assert kinds == ["terminal_update", *["terminal_output_chunk"] * 2, "terminal_update"]


async def test_field_bug_15_text_that_comes_byte_by_byte_is_exact(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    session = await talk.new()
    text = "aé漢🍸"
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    line = json.dumps({"jsonrpc": "2.0", "id": 77, "method": "session/prompt", "params": prompt}, ensure_ascii=False)
    for byte in line.encode() + b"\n":
        talk.wire.send(bytes([byte]))
        await asyncio.sleep(0)
    await talk.heard(f"echo {text}")


async def test_field_bug_95_a_login_without_its_method_is_invalid_and_says_so(version: int) -> None:
    class Closed(Scripted):
        def auth_methods(self) -> Sequence[v2.AuthMethod]:
            return [v2.AgentAuthMethod(method_id="x", name="X")]

        async def login(self, method_id: str) -> None:
            self.log.append(method_id)

    talk = await Talk.begin(agent := Closed(), version)
    method = "authenticate" if version == 1 else "auth/login"
    for bad in ({}, {"id": "x"}, {"authMethodId": "x"}):
        refused = (await talk.ask(method, bad))["error"]
        assert refused["code"] == -32602
        assert "methodId" in json.dumps(refused)
    assert agent.log == []
    assert (await talk.ask(method, {"methodId": "x"}))["result"] == {}
    assert agent.log == ["x"]
