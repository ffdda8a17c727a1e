"""What the page of clients shows beside turns: files and terminals, methods of one's own, questions."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from doc_pages import EXAMPLES

from duologue import Agent, Turn
from duologue.peer.extensions import handles
from duologue.protocol import v2
from duologue.protocol.v1 import table as v1
from duologue.protocol.v1.fs import ReadTextFileRequest
from duologue.protocol.v1.terminal import CreateTerminalRequest, WaitForTerminalExitRequest
from duologue.session.forms import defaults
from duologue.testing import connected

Page = Callable[[str], ModuleType]


async def test_an_editor_serves_what_is_open_and_runs_what_is_confirmed(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answered(question: str) -> str:
        asked.append(question)
        return "yes"

    class Asking(Agent):
        async def prompt(self, turn: Turn) -> None:
            peer, session = turn.session.peer, turn.session.id
            reading = ReadTextFileRequest(session_id=session, path=str(turn.session.cwd / "a.txt"))
            await turn.say((await peer.request(v1.FS_READ_TEXT_FILE, reading)).content)
            start = CreateTerminalRequest(session_id=session, command="touch", args=["b.txt"])
            made = (await peer.request(v1.TERMINAL_CREATE, start)).terminal_id
            waiting = WaitForTerminalExitRequest(session_id=session, terminal_id=made)
            await turn.say(f" {(await peer.request(v1.TERMINAL_WAIT_FOR_EXIT, waiting)).exit_code}")

    monkeypatch.setattr("builtins.input", answered)
    (tmp_path / "a.txt").write_text("saved")
    editor = page("client").Editor()
    editor.buffers.texts[tmp_path / "a.txt"] = "unsaved"
    async with connected(Asking(), editor, protocol=1) as connection:
        session = await connection.new_session(tmp_path)
        assert await session.prompt("go").text() == "unsaved 0"
    assert len(asked) == 1 and "touch b.txt" in asked[0]
    assert (tmp_path / "b.txt").exists()


async def test_methods_of_ones_own(page: Page, tmp_path: Path) -> None:
    client = page("client")
    heard: list[str] = []

    class Asking(Agent):
        @handles(client.SAVED)
        async def saved(self, where: Any) -> None:
            heard.append(where.path)

        async def prompt(self, turn: Turn) -> None:
            found = await turn.session.peer.request(client.SELECTION, client.Where(path="abc"))
            await turn.say(f"{found.start} to {found.end}")

    async with connected(Asking(), client.Selecting()) as connection:
        session = await connection.new_session(tmp_path)
        await client.saved(connection, "x")
        assert await session.prompt("go").text() == "0 to 3"
    assert heard == ["x"]


@pytest.mark.parametrize(("typed", "answer"), [("Ada", v2.AcceptElicitation), ("A", v2.DeclineElicitation)])
async def test_a_form_is_filled_in(page: Page, monkeypatch: pytest.MonkeyPatch, typed: str, answer: type[Any]) -> None:
    monkeypatch.setattr("builtins.input", lambda question: typed)
    schema = v2.ElicitationSchema(properties={"name": v2.StringProperty(min_length=2)}, required=["name"])
    assert defaults(schema) == {}
    form = v2.FormElicitation(message="Who?", requested_schema=schema)
    assert isinstance(await page("client").Asks().fill_form(None, form), answer)


ASKS = """
from duologue import Agent, Turn, run
from duologue.protocol import v2

FIELDS = {
    "name": v2.StringProperty(min_length=2),
    "count": v2.IntegerProperty(default=3),
    "sure": v2.BooleanProperty(),
}

class Asks(Agent):
    def auth_methods(self):
        return [v2.AgentAuthMethod(method_id="door", name="Door")]

    async def login(self, method_id):
        self.open = True

    async def logout(self):
        self.open = False

    async def new_session(self, session):
        if not getattr(self, "open", False):
            raise self.auth_required()

    async def prompt(self, turn: Turn) -> None:
        answer = await turn.ask_form("Who?", v2.ElicitationSchema(properties=FIELDS, required=["name"]))
        await turn.say(f"{answer.outcome} {sorted(dict(answer.content).items())}")

run(Asks())
"""


async def test_the_example_chat_logs_in_and_fills_in_forms(tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text(ASKS)
    command = [sys.executable, str(EXAMPLES / "chat.py"), sys.executable, str(tmp_path / "asks.py")]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=tmp_path, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate(b"y\ngo\nx\nBob\nseven\n\ny\ny\n")
    text = out.decode()
    assert "Door? " in text
    assert "must have at least 2 characters" in text and "must be a number" in text
    assert "accepted [('count', 3), ('name', 'Bob'), ('sure', True)]" in text
    assert process.returncode == 0
