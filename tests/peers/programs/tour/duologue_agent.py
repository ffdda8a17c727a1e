"""An agent on Duologue that has all that one can have, and asks for all that a client may offer when it is prompted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from duologue.agent import Agent, Endpoint, Nes, NesRequest, NesSession, Provider, Providers, Session, Turn, run
from duologue.documents import Document, TextEdit
from duologue.mcp import McpChannel
from duologue.protocol import v1, v2
from duologue.protocol.changes.memory import AgentExtras
from duologue.protocol.v1 import table as v1_table

FORM = v2.ElicitationSchema(properties={"name": v2.StringProperty(title="Name")}, required=["name"])
ENDPOINT = Endpoint(v2.LlmProtocol.OPENAI, "https://models.example/v1")


def choice(option_id: str, value: str, *values: str, **more: Any) -> v2.SelectConfigOption:
    options = [v2.SessionConfigSelectOption(value=one, name=one) for one in values]
    return v2.SelectConfigOption(config_id=option_id, name=option_id, current_value=value, options=options, **more)


class Suggests(Nes):
    async def suggest(self, session: NesSession, request: NesRequest) -> Sequence[v2.NesSuggestion]:
        return [request.edit(TextEdit(0, 1, text)) for text in ("x", "y")]

    def saved(self, session: NesSession, document: Document) -> None: ...

    def focused(self, session: NesSession, document: Document, offset: int, visible: tuple[int, int]) -> None: ...


class TourAgent(Agent):
    name = "tour"
    version = "1"

    def __init__(self) -> None:
        self.nes = Suggests()
        self.providers = Providers(Provider("main", [v2.LlmProtocol.OPENAI], ENDPOINT))

    def mcp_capabilities(self) -> v2.McpCapabilities:
        return v2.McpCapabilities(acp=v2.McpAcpCapabilities())

    def v1_capabilities(self) -> AgentExtras:
        return AgentExtras()

    def auth_methods(self) -> Sequence[v2.AuthMethod]:
        return [v2.AgentAuthMethod(method_id="key", name="Key")]

    async def login(self, method_id: str) -> None: ...

    async def logout(self) -> None: ...

    async def new_session(self, session: Session) -> None:
        session.state = {"effort": "low", "mode": "ask"}

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        session.state = {"effort": "low", "mode": "ask"}

    async def fork_session(self, session: Session, source_id: str) -> None:
        session.state = {"effort": "low", "mode": "ask"}

    async def delete_session(self, session_id: str) -> None: ...

    def config_options(self, session: Session) -> Sequence[v2.SessionConfigOption]:
        mode = choice("mode", session.state["mode"], "ask", "code", category=v2.SessionConfigOptionCategory.MODE)
        return [choice("effort", session.state["effort"], "low", "high"), mode]

    async def set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:
        session.state[config_id] = value

    async def prompt(self, turn: Turn) -> None:
        await turn.say("on tour")
        await turn.ask_permission("Work?")
        assert await turn.ask_form("Who?", FORM)
        page = await turn.ask_url("Look", "https://x.example/")
        await page.complete()
        await withdraw(turn)
        if turn.session.connection.offers(v1_table.TERMINAL_CREATE):
            await files_and_terminals(turn)
        for server in turn.session.mcp_servers:
            # Our client lends its files in version 2; that server asks nothing.
            if isinstance(server, v2.AcpMcpServer) and server.name == "lent":
                await talk(await self.connection.mcp.connect(server))


async def withdraw(turn: Turn) -> None:
    """Ask, and do not wait for the answer."""
    asking = asyncio.ensure_future(turn.ask_form("Who?", FORM))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})


async def files_and_terminals(turn: Turn) -> None:
    path = turn.session.cwd / "tour.txt"
    await turn.client_files.write(path, "written")
    assert await turn.client_files.read(path)
    async with turn.client_terminal("sleep", ["60"]) as terminal:
        shown: v1.TerminalOutputResponse = await terminal.output()
        assert not shown.truncated
        await terminal.kill()
        await terminal.wait()


async def talk(channel: McpChannel) -> None:
    """A request of either side, and a notification of either side."""
    await channel.send({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}})
    await channel.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    awaited = {"answer", "ping", "notifications/progress"}
    while awaited:
        message = await channel.receive()
        awaited.discard(message.get("method", "answer"))
        if message.get("method") == "ping":
            await channel.send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
    await channel.close()


run(TourAgent())
