"""What the page for agents says of forms, of the client's files and terminals, of stored sessions, and of one's own
methods, with a real client at the other end."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

from duologue import Client
from duologue.client import LocalFiles, LocalTerminals, Session
from duologue.protocol import v2
from duologue.protocol.method import Request
from duologue.testing import connected

Page = Callable[[str], ModuleType]
Protocol = Literal[1, 2]


class Willing(Client):
    """Fills in what it is told to, and visits pages."""

    def __init__(self, colour: str | None) -> None:
        self.colour = colour
        self.visited: list[str] = []
        self.done: list[str] = []

    async def fill_form(self, session: Session | None, form: v2.FormElicitation) -> v2.CreateElicitationResponse:
        if self.colour is None:
            return v2.DeclineElicitation()
        return v2.AcceptElicitation(content={"colour": self.colour})

    async def open_url(self, session: Session | None, request: v2.UrlElicitation) -> v2.CreateElicitationResponse:
        self.visited.append(request.url)
        return v2.AcceptElicitation()

    def on_url_done(self, elicitation_id: str) -> None:
        self.done.append(elicitation_id)


@pytest.mark.parametrize("protocol", [1, 2])
@pytest.mark.parametrize(("colour", "said"), [("g", "Painting it g."), (None, "I leave it as it is.")])
async def test_asker(page: Page, tmp_path: Path, protocol: Protocol, colour: str | None, said: str) -> None:
    client = Willing(colour)
    async with connected(page("agent").Asker(), client, protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        assert await session.prompt("paint").text() == said
        assert client.visited == ["https://example.org/sign-in"]
        assert len(client.done) == 1


class Host(Client):
    """Lends its files and terminals to whoever asks."""

    def __init__(self) -> None:
        self.files = LocalFiles()
        self.terminals = LocalTerminals()

    async def confirm(self, session: Session, subject: object) -> bool:
        return True


@pytest.mark.skipif(shutil.which("make") is None, reason="the page runs make")
async def test_guest(page: Page, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\techo built\n", encoding="utf-8")
    async with connected(page("agent").Guest(), Host(), protocol=1) as connection:
        session = await connection.new_session(tmp_path)
        text = await session.prompt("build").text()
        assert text.startswith("1 rules, status 0, ")
        (call,) = session.transcript.tool_calls.values()
        assert str(call.status) == "completed"


async def test_a_guest_of_nobody(page: Page, tmp_path: Path) -> None:
    async with connected(page("agent").Guest(), Host(), protocol=2) as connection:
        session = await connection.new_session(tmp_path)
        assert await session.prompt("build").text() == "I cannot see your files."


@pytest.mark.parametrize("protocol", [1, 2])
async def test_archive(page: Page, tmp_path: Path, protocol: Protocol) -> None:
    agent = page("agent").Archive()
    agent.kept = {}
    async with connected(agent, protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        await session.prompt("one").text()
        fork = await connection.fork_session(session.id, tmp_path)
        assert len(agent.kept[fork.id].messages) == len(agent.kept[session.id].messages) == 2
        assert [info.session_id async for info in connection.stored_sessions()] == [session.id, fork.id]
        await connection.delete_session(session.id)
        assert [info.session_id async for info in connection.stored_sessions()] == [fork.id]


@pytest.mark.parametrize("protocol", [1, 2])
async def test_dictionary(page: Page, protocol: Protocol) -> None:
    module = page("agent")
    explain: Request[object, object] = module.EXPLAIN
    async with connected(module.Dictionary(), protocol=protocol) as connection:
        meaning = await connection.request(explain, module.Question(word="acp"))
        assert meaning == module.Meaning(text="I do not know what acp is.")
