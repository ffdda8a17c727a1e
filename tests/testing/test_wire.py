"""Bare lines, the fixtures, and what the room loads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from duologue import Agent, ClientConnection, Turn, connect, serve
from duologue.protocol import v2
from duologue.testing import Answers, Wire, connected, settle, until, wire_to

pytest_plugins = ["duologue.testing.fixtures"]


class Asking(Agent):
    async def prompt(self, turn: Turn) -> None:
        allowed = await turn.ask_permission("May I?")
        await turn.say("yes" if allowed else "no")


async def test_lines_to_an_agent(acp_version: int) -> None:
    async with wire_to(Asking()) as wire:
        await wire.initialize(acp_version)
        answer = await wire.ask("session/new", {"cwd": "/", "mcpServers": []})
        session = answer["result"]["sessionId"]
        prompt = wire.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]})
        wire.send(prompt)
        question = await wire.read_method("session/request_permission")
        await wire.silence()
        wire.answer(
            question, {"outcome": {"outcome": "selected", "optionId": question["params"]["options"][0]["optionId"]}}
        )
        chunk = await wire.read_method("session/update")
        while chunk["params"]["update"]["sessionUpdate"] != "agent_message_chunk":
            chunk = await wire.read_method("session/update")
        assert chunk["params"]["update"]["content"] == {"type": "text", "text": "yes"}
        await settle()
        kinds = [message.get("method", "answer") for message in wire.pending()]
        assert kinds == (["answer"] if acp_version == 1 else ["session/update"])
    assert wire.closed is not None


async def test_lines_to_a_client(acp_wire: Wire) -> None:
    async def talk() -> str:
        async with connect(lambda: acp_wire.far, Answers()) as agent:
            session = await agent.new_session("/")
            return await session.prompt("go").text()

    talking = asyncio.create_task(talk())
    asked = await acp_wire.answer_initialize(1, agentInfo={"name": "lines", "version": "1"})
    assert asked["params"]["clientInfo"]["name"] == "answers"
    acp_wire.answer(await acp_wire.read_method("session/new"), {"sessionId": "s"})
    prompt = await acp_wire.read_method("session/prompt")
    acp_wire.refuse(prompt, -32001, "no more paper", data={"sheets": 0})
    with pytest.raises(Exception, match="no more paper"):
        await talking
    await until(lambda: acp_wire.closed)


async def test_a_client_shakes_hands_with_lines(acp_version: int) -> None:
    async with Wire() as wire:
        answering = asyncio.create_task(wire.answer_initialize(acp_version))
        async with connect(lambda: wire.far, protocol=2 if acp_version == 2 else 1) as agent:
            assert agent.version.number == acp_version
        assert (await answering)["params"]["protocolVersion"] == acp_version


async def test_a_wire_that_is_left_ends_the_connection() -> None:
    other = Wire()
    async with Wire() as wire:
        await wire.far.start(other)
    await settle()
    assert other.closed is not None


async def test_a_version_that_is_not_spoken_is_told() -> None:
    async with wire_to(Asking()) as wire:
        with pytest.raises(AssertionError, match="'protocolVersion': 2"):
            await wire.initialize(3)


async def test_what_is_not_silent_is_told() -> None:
    async with wire_to(Asking()) as wire:
        wire.send(b"no json\n")
        with pytest.raises(AssertionError, match=r"unexpected: .*-32700"):
            await wire.silence()


async def test_the_fixture_joins_for_the_rest_of_the_test(
    acp_connected: Callable[..., Awaitable[ClientConnection]], acp_version: int, tmp_path: Path
) -> None:
    client = Answers("reject_once", "allow_once")
    one, two = await acp_connected(Asking(), client), await acp_connected(Asking())
    assert one.version.number == two.version.number == acp_version
    session = await one.new_session(tmp_path)
    assert [await session.prompt("go").text() for _ in range(3)] == ["no", "yes", "yes"]
    assert len(client.questions) == 3
    assert [chunk.content for chunk in client.of(v2.AgentMessageChunk)] == [
        v2.TextBlock(text=text) for text in ("no", "yes", "yes")
    ]
    assert await (await two.new_session(tmp_path)).prompt("go").text() == "no"


async def test_a_kind_that_is_not_offered_cancels() -> None:
    async with connected(Asking(), Answers("allow_always")) as connection:
        turn = (await connection.new_session("/")).prompt("go")
        assert await turn.text() == "no"
        assert turn.stop_reason == v2.StopReason.CANCELLED


def test_pytest_is_loaded_by_the_fixtures_alone() -> None:
    code = (
        "import sys, duologue.testing, duologue.testing.__main__; print('pytest' in sys.modules);"
        "import duologue.testing.fixtures; print('pytest' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


async def test_a_wire_that_is_joined_to_nothing_says_so(acp_wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.testing.wire.PATIENCE", 0.01)
    with pytest.raises(TimeoutError, match=r"nothing is at the far end of the wire: give wire\.far to a client"):
        await acp_wire.initialize(1)
    serving = asyncio.create_task(serve(Asking(), acp_wire.far))
    await until(lambda: acp_wire.far.started)
    with pytest.raises(TimeoutError, match=r"no message came within 0\.01 s$"):
        await acp_wire.read_method("session/new")
    await acp_wire.close()
    await serving


async def test_a_wire_that_is_not_open_says_so() -> None:
    with pytest.raises(RuntimeError, match="the wire is not open"):
        await Wire().ask("initialize", {})


def test_the_fixtures_say_what_they_need() -> None:
    code = "import sys; sys.modules['pytest_asyncio'] = None; import duologue.testing.fixtures"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "needs pytest and pytest-asyncio: pip install pytest pytest-asyncio" in done.stderr
