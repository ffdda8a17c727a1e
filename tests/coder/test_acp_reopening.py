"""A session of the coding agent that is reopened while it is held: it works where the client says now."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from acp_kit import Scripted, opened, take_turn
from coder_kit import asks, call, says

from duologue.agent.connection import AgentConnection
from duologue.client import Session
from duologue.coder.acp import CodingAgent
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.testing import Wire


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.req("all-session-28")
async def test_it_works_in_the_new_folder_alone_and_knows_what_was_said(tmp_path: Path, protocol: int) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "a.txt").write_text("from here")
    (there / "a.txt").write_text("from there")
    reads = [
        asks(call("read_file", path="a.txt")),
        says("one"),
        asks(call("read_file", path=str(here / "a.txt"))),
        says("two"),
    ]
    async with opened(here, says("before"), *reads, protocol=protocol) as (session, _, models):
        await take_turn(session, "remember me")
        again = await session.connection.resume_session(session.id, there, replay=False)
        await take_turn(again)
        await take_turn(again)
        told = [str(request.messages) for request in models.model.requests]
        assert "remember me" in told[1]
        assert "from there" in told[2]
        assert "from here" not in str(told)


async def test_a_turn_at_work_is_not_moved(tmp_path: Path, protocol: int) -> None:
    other = tmp_path / "other"
    other.mkdir()
    problems: list[RpcError] = []

    async def move(session: Session, request: RequestPermissionRequest) -> None:
        try:
            await session.connection.resume_session(session.id, other, replay=False)
        except RpcError as error:
            problems.append(error)

    steps = [asks(call("write_file", path="a.txt", text="x")), says("done")]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, person, _):
        person.at_question = move
        await take_turn(session)
        assert [error.code for error in problems] == [-32602]
        assert (tmp_path / "a.txt").read_text() == "x"


async def test_a_turn_that_cannot_begin_does_not_keep_the_session_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    async with opened(tmp_path, says("one")) as (session, _, _):
        with monkeypatch.context() as patch:
            patch.setattr("duologue.agent.Turn.record", raising)
            with pytest.raises(RpcError):
                await take_turn(session)
        again = await session.connection.resume_session(session.id, other, replay=False)
        assert await take_turn(again) == "end_turn"


def raising(*_: object) -> None:
    raise ValueError


@pytest.mark.parametrize("together", [True, False], ids=["one read", "while it is loaded"])
async def test_a_load_behind_a_prompt_tells_what_the_user_said(tmp_path: Path, together: bool) -> None:
    """In version 1, where a client rebuilds what it shows of a session from the load alone."""
    async with Wire() as wire:
        connection = AgentConnection(CodingAgent(models=Scripted(says("one"), says("two"))))
        await connection.start(wire.far)
        await wire.initialize(1)
        place = {"cwd": str(tmp_path), "mcpServers": []}
        session_id = (await wire.ask("session/new", place))["result"]["sessionId"]
        prompts = [
            wire.call("session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]})
            for text in ("first", "second")
        ]
        load = wire.call("session/load", {"sessionId": session_id, **place})
        if together:
            wire.send(*prompts, load)
        else:
            wire.send(*prompts)
            await asyncio.sleep(0)
            wire.send(load)
        ids = {load["id"], *(prompt["id"] for prompt in prompts)}
        texts = ""
        while ids:
            message = await wire.read()
            ids.discard(message.get("id"))
            update = message.get("params", {}).get("update", {})
            if update.get("sessionUpdate") in ("user_message_chunk", "agent_message_chunk"):
                texts += update["content"]["text"] + " "
        assert texts.split() == ["first", "one", "second", "two"]
