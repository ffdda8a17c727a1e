"""What is read leniently is told at debug: the place and the reason, never the value."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from duologue.peer import Peer, Scope
from duologue.protocol.common.session import ListSessionsRequest
from duologue.protocol.method import Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.session import NewSessionRequest, NewSessionResponse
from duologue.protocol.version import V2
from wire import PATIENCE, Wire, chunk, on_wire, settle


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "without what does not fit" in record.getMessage()]


async def test_of_a_request(caplog: pytest.LogCaptureFixture) -> None:
    wire = await Wire().open()
    peer = Peer(Side.AGENT, V2)
    await peer.start(wire.far)

    async def answer(params: NewSessionRequest, scope: Scope) -> NewSessionResponse:
        assert params.mcp_servers == []
        return NewSessionResponse(session_id="S")

    peer.handle(v2.SESSION_NEW, answer)
    with caplog.at_level(logging.DEBUG, "duologue.peer"):
        wire.send({"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": ["abc"]}})
        assert (await wire.read_answer(1))["result"]["sessionId"] == "S"
    (line,) = told(caplog)
    assert line.startswith("a session/new was read without what does not fit: $.params.mcpServers[0]: ")
    assert "abc" not in caplog.text


async def test_of_a_response(caplog: pytest.LogCaptureFixture) -> None:
    peer, wire = await on_wire()
    asking = asyncio.create_task(peer.request(v2.SESSION_LIST, ListSessionsRequest()))
    request = await wire.read()
    with caplog.at_level(logging.DEBUG, "duologue.peer"):
        wire.send({"id": request["id"], "result": {"sessions": [5]}})
        assert (await asyncio.wait_for(asking, PATIENCE)).sessions == []
    (line,) = told(caplog)
    assert line.startswith("a session/list was read without what does not fit: $.result.sessions[0]: ")


async def test_of_an_update(caplog: pytest.LogCaptureFixture) -> None:
    peer, wire = await on_wire()
    seen: list[Any] = []
    peer.apply(v2.SESSION_UPDATE, seen.append)
    broken = chunk("x")
    broken["params"]["update"]["content"]["annotations"] = "secret"
    with caplog.at_level(logging.DEBUG, "duologue.peer"):
        wire.send(broken)
        await settle()
    assert seen[0].update.content.text == "x"
    (line,) = told(caplog)
    assert line.startswith("a session/update was read without what does not fit: $.params.update.content.annotations: ")
    assert "secret" not in caplog.text
