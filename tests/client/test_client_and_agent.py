"""A client and an agent of this library at one connection, where each has what the other asks for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest

from duologue import Agent, Turn
from duologue.agent import Session as AgentSession
from duologue.client import Client, ClientConnection, LocalFiles, LocalTerminals, Login, Policy, Session, allowance
from duologue.protocol import v2
from duologue.protocol.common.elicitation import (
    AcceptElicitation,
    CreateElicitationResponse,
    FormElicitation,
    UrlElicitation,
)
from duologue.protocol.common.elicitation_schema import ElicitationSchema, IntegerProperty, StringProperty
from duologue.protocol.common.permission import RequestPermissionOutcome
from duologue.session.forms import defaults
from duologue.testing import connected
from wire import PATIENCE

FORM = ElicitationSchema(
    properties={"name": StringProperty(default="Ada"), "age": IntegerProperty(minimum=1, default=36)},
    required=["name"],
)


class Working(Agent):
    """Does what the first word of the prompt says, with what the client has."""

    async def prompt(self, turn: Turn) -> None:
        word, _, rest = turn.text.partition(" ")
        await getattr(self, word)(turn, rest)

    async def edit(self, turn: Turn, name: str) -> None:
        path = turn.session.cwd / name
        old = await turn.client_files.read(path)
        async with turn.tool_call("Edit", kind=v2.ToolKind.EDIT, locations=[path]) as call:
            await call.diff(path, old, "new\n")
            if await call.ask_permission():
                await turn.client_files.write(path, "new\n")
                await turn.say("edited")
            else:
                await call.fail("not allowed")

    async def run(self, turn: Turn, command: str) -> None:
        subject = v2.CommandSubject(command=command, cwd=str(turn.session.cwd))
        if await turn.ask_permission("Run it?", subject=subject):
            program, *args = command.split()
            async with turn.client_terminal(program, args) as terminal:
                ended = await terminal.wait()
                await turn.say(f"{ended.exit_code}: {(await terminal.output()).output}")

    async def ask(self, turn: Turn, rest: str) -> None:
        answer = await turn.ask_form("Who?", FORM)
        await turn.say(f"{answer.outcome}: {dict(answer.content)}")

    async def visit(self, turn: Turn, rest: str) -> None:
        answer = await turn.ask_url("Go there", "https://example.org/")
        await answer.complete()
        await turn.say(f"{answer.outcome}")


class Host(Client):
    """Allows once what it is asked, and has it all."""

    def __init__(self, *rules: str) -> None:
        self.files, self.terminals = LocalFiles(), LocalTerminals()
        self.policy = Policy(*rules)
        self.asked = 0
        self.done: asyncio.Queue[str] = asyncio.Queue()

    async def request_permission(
        self, session: Session, request: v2.RequestPermissionRequest
    ) -> RequestPermissionOutcome:
        self.asked += 1
        return allowance(request)

    async def fill_form(self, session: Session | None, form: FormElicitation) -> CreateElicitationResponse:
        return AcceptElicitation(content={**defaults(form.requested_schema), "age": 37})

    async def open_url(self, session: Session | None, request: UrlElicitation) -> CreateElicitationResponse:
        return AcceptElicitation()

    def on_url_done(self, elicitation_id: str) -> None:
        self.done.put_nowait(elicitation_id)


async def said(client: Client, root: Path, prompt: str, protocol: Literal[1, 2] = 1) -> str:
    async with connected(Working(), client, protocol=protocol) as connection:
        session = await connection.new_session(root)
        return await asyncio.wait_for(session.prompt(prompt).text(), PATIENCE)


@pytest.mark.parametrize(("rules", "asked"), [([], 1), (["allow edit:**"], 0)])
async def test_an_edit_is_asked_about_once(tmp_path: Path, rules: list[str], asked: int) -> None:
    (tmp_path / "a").write_text("old\n")
    client = Host(*rules)
    assert await said(client, tmp_path, "edit a") == "edited"
    assert ((tmp_path / "a").read_text(), client.asked) == ("new\n", asked)


async def test_a_rejected_edit_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old\n")
    assert await said(Host("reject edit:a"), tmp_path, "edit a") == ""
    assert (tmp_path / "a").read_text() == "old\n"


@pytest.mark.parametrize(("rules", "asked"), [([], 1), (["allow run:echo *"], 0)])
async def test_a_command_is_asked_about_once(tmp_path: Path, rules: list[str], asked: int) -> None:
    client = Host(*rules)
    assert await said(client, tmp_path, "run echo a b") == "0: a b\n"
    assert client.asked == asked


async def test_a_form_and_a_page(tmp_path: Path, version: Any) -> None:
    client = Host()
    assert await said(client, tmp_path, "ask", version) == "accepted: {'name': 'Ada', 'age': 37}"
    assert await said(client, tmp_path, "visit", version) == "accepted"
    assert await asyncio.wait_for(client.done.get(), PATIENCE)
    assert await said(Client(), tmp_path, "ask", version) == "unsupported: {}"


class Closed(Working):
    open = False

    def auth_methods(self) -> list[v2.AuthMethod]:
        return [v2.AgentAuthMethod(method_id="door", name="Door")]

    async def login(self, method_id: str) -> None:
        self.open = True

    async def logout(self) -> None:
        self.open = False

    async def new_session(self, session: AgentSession) -> None:
        if not self.open:
            raise self.auth_required()


async def test_a_login_opens_the_way(tmp_path: Path, version: Any) -> None:
    class Opening(Host):
        async def log_in(self, agent: ClientConnection) -> Login | None:
            self.asked += 1
            return Login("door")

    client = Opening()
    async with connected(Closed(), client, protocol=version) as connection:
        await asyncio.wait_for(connection.new_session(tmp_path), PATIENCE)
        await connection.logout()
        session = await asyncio.wait_for(connection.new_session(tmp_path), PATIENCE)
        assert (await session.prompt("ask").text()).startswith("accepted")
    assert client.asked == 2
