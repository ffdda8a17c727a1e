"""`duologue agent` as a process, with MCP servers and the offline model: no network, no key."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Person
from coder_kit import gone, written
from mcp_servers_kit import official, stub
from test_mcp_remote import EDITOR

from duologue import connect
from duologue.transports.spawn import SpawnTransport
from procs import alive

AGENT = [sys.executable, "-P", "-m", "duologue", "agent", "--model", "offline"]


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> Any:
    return int(request.param)


@pytest.mark.req("v1-mcp-01", "all-mcp-02")
async def test_tools_are_called_when_they_are_asked_for_by_name(tmp_path: Path, protocol: Any) -> None:
    person = Person()
    async with connect(AGENT, person, protocol=protocol) as agent:
        lent = agent.mcp.offer("editor", EDITOR.serve)
        session = await agent.new_session(tmp_path, mcp_servers=[official(), stub(), lent])
        request = 'Use the tool echo of server official with {"text": "out of a process"}'
        told = ""
        while "`official__echo` gave" not in told:
            # On a busy machine it may be late, and is then there for a later turn.
            told = await session.prompt(request).text()
        assert "out of a process" in told
        assert "selected all" in await session.prompt('call selection with {"what": "all"}').text()
        assert '{"path": "x"}' in await session.prompt('call the tool read.file with {"path": "x"}').text()
        assert "Several tools are called that" in await session.prompt("call echo").text()
        assert [question.title for question in person.questions] == [
            *("official: echo", "editor: selection", "stub: read.file")
        ]


async def test_servers_do_not_outlive_an_agent_that_is_killed(tmp_path: Path) -> None:
    files = [tmp_path / "one", tmp_path / "two"]
    servers = [stub("one", PID_FILE=str(files[0])), stub("two", "deaf", PID_FILE=str(files[1]))]
    transports: list[SpawnTransport] = []

    def start() -> SpawnTransport:
        transports.append(SpawnTransport(AGENT))
        return transports[-1]

    async with connect(start, Person()) as agent:
        session = await agent.new_session(tmp_path, mcp_servers=servers)
        await session.prompt("call the tool about of one").text()
        pids = [int(await written(file)) for file in files]
        assert all(alive(pid) for pid in pids)
        pid = transports[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert await asyncio.gather(*map(gone, pids)) == [True, True]
