"""Batches of version 2: what must follow an answer on the wire follows the array that the answer is in."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from agent_kit import Scripted, Talk

from duologue.agent import Session


class Slow(Scripted):
    """Renames each session at once; the second one takes until `go`."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()

    async def new_session(self, session: Session) -> None:
        await session.set_title("first words")
        if session.cwd.name:
            await self.go.wait()


def new(talk: Talk, cwd: str) -> dict[str, Any]:
    return talk.call("session/new", {"cwd": cwd, "mcpServers": []})


def send_batch(talk: Talk, *calls: dict[str, Any]) -> None:
    talk.wire.send(json.dumps([{"jsonrpc": "2.0", **call} for call in calls]).encode() + b"\n")


async def read_batch(talk: Talk) -> list[dict[str, Any]]:
    answers: Any = await talk.wire.read()
    assert isinstance(answers, list)
    return answers


@pytest.mark.parametrize("fails", [False, True])
async def test_no_update_passes_the_array_that_tells_its_session(fails: bool) -> None:
    agent = Slow()
    talk = await Talk.begin(agent, 2)
    last = talk.call("session/close", {"sessionId": "nope"}) if fails else new(talk, "/tmp")
    send_batch(talk, new(talk, "/"), last)
    if not fails:
        await talk.wire.silence()
        agent.go.set()
    answers = await read_batch(talk)
    assert len(answers) == 2
    ids = {answer["result"]["sessionId"] for answer in answers if "result" in answer}
    updates = [await talk.wire.read() for _ in ids]
    assert {update["params"]["sessionId"] for update in updates} == ids


async def test_a_batch_may_hold_requests_that_wait_for_each_other() -> None:
    talk = await Talk.begin(Scripted(), 2)
    session = await talk.new()
    ask = talk.call("session/resume", {"sessionId": session, "cwd": "/", "mcpServers": []})
    end = talk.call("session/close", {"sessionId": session})
    send_batch(talk, ask, end, new(talk, "/"))
    assert len(await read_batch(talk)) == 3


async def test_a_batch_in_the_same_read_as_initialize_is_served() -> None:
    talk = await Talk.open(Scripted(), 2)
    hello = talk.call("initialize", {"protocolVersion": 2, "info": {"name": "c", "version": "1"}})
    batch = json.dumps([{"jsonrpc": "2.0", **new(talk, "/")}, {"jsonrpc": "2.0", **new(talk, "/")}])
    talk.wire.send(hello, batch.encode() + b"\n")
    assert (await talk.wire.read())["result"]["protocolVersion"] == 2
    assert all("result" in answer for answer in await read_batch(talk))
