"""Sessions that are over: closed, or their id given to another one. Nothing is asked or done for them any more."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from client_kit import Host, Run, Slow, begun

from duologue.client import Client, LocalFiles, LocalTerminals, Session
from duologue.local.rules import Subject
from wire import PATIENCE, until

CREATE, WRITE = "terminal/create", "fs/write_text_file"


class Hesitant(Client):
    """Asks about every write and command, and says yes when it is let go, however late that is."""

    def __init__(self) -> None:
        self.files, self.terminals = LocalFiles(), LocalTerminals()
        self.asked = 0
        self.go = asyncio.Event()

    async def confirm(self, session: Session, subject: Subject) -> bool:
        self.asked += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            # A dialog that cannot be taken back.
            await self.go.wait()
        return True


async def close(host: Host) -> None:
    closing = asyncio.create_task(host.session.close())
    host.answer(await host.wire.read_method("session/close"), {})
    await asyncio.wait_for(closing, PATIENCE)


@pytest.mark.req("all-permissions-04")
async def test_what_is_asked_in_a_session_that_is_closed_is_withdrawn(version: int) -> None:
    client = Slow()
    host = await Host.begin(version, client)
    host.ask()
    await until(lambda: client.asked == 1)
    await close(host)
    assert (await host.wire.read_answer("p1"))["result"] == {"outcome": {"outcome": "cancelled"}}
    assert client.cancelled == 1


async def test_a_yes_after_the_end_of_its_session_starts_and_writes_nothing(tmp_path: Path) -> None:
    client = Hesitant()
    host = await Host.begin(1, client, cwd=tmp_path)
    # The second write waits for the first, and nobody is asked about it when that is withdrawn.
    written: dict[str, object] = {"path": str(tmp_path / "written"), "content": "x"}
    touched: dict[str, object] = {"command": "touch", "args": [str(tmp_path / "made")]}
    asked = [(CREATE, touched), (WRITE, written), (WRITE, written)]
    for number, (method, params) in enumerate(asked):
        host.send({"id": number, "method": method, "params": {"sessionId": "S", **params}})
    await until(lambda: client.asked == 2)
    await close(host)
    client.go.set()
    replies = [await host.wire.read_answer(number) for number in range(len(asked))]
    assert all("was not allowed" in reply["error"]["message"] for reply in replies)
    assert client.asked == 2
    assert not any((tmp_path / name).exists() for name in ("made", "written"))
    assert host.session.terminals == {}


async def test_an_id_that_is_given_twice_ends_the_session_that_had_it(version: int) -> None:
    host, run, _ = await begun(version)
    first = host.session
    second = await host.opened("S")
    assert second is not first and host.connection.sessions["S"] is second
    assert await run.end() == "cancelled"
    assert not first.is_open and second.is_open


async def test_what_runs_for_a_session_ends_when_its_id_is_given_to_another(tmp_path: Path) -> None:
    client = Hesitant()
    client.go.set()
    host = await Host.begin(1, client, cwd=tmp_path)
    terminal = (await host.replies(CREATE, command="sleep", args=["1000"]))["result"]["terminalId"]
    kept = host.session.terminals[terminal]
    await host.opened("S", tmp_path)
    assert kept.exit_status is not None and kept.exit_status.signal == "SIGTERM"


async def test_a_prompt_in_a_session_that_is_over_ends_though_the_agent_accepts_it(version: int) -> None:
    host = await Host.begin(version)
    await close(host)
    run = Run(host.session.prompt("go"))
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.end(request)
    assert await run.end() == "cancelled"
