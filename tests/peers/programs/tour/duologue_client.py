"""A client on Duologue that asks an agent for all that it offers: `duologue_client.py VERSION CWD AGENT...`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from duologue.client import Client, ClientConnection, LocalFiles, LocalTerminals, Policy, Session, TurnFailed, connect
from duologue.documents import TextEdit
from duologue.local.rules import Subject
from duologue.mcp import McpChannel
from duologue.protocol import v2
from duologue.protocol.v2 import table


class TourClient(Client):
    name = "tour"
    version = "1"
    files = LocalFiles()
    terminals = LocalTerminals()
    policy = Policy()

    def __init__(self) -> None:
        self.pages_done: list[str] = []

    def capabilities(self) -> v2.ClientCapabilities:
        return v2.ClientCapabilities(nes=v2.ClientNesCapabilities())

    async def confirm(self, session: Session, subject: Subject) -> bool:
        return True

    async def request_permission(
        self, session: Session, request: v2.RequestPermissionRequest
    ) -> v2.RequestPermissionOutcome:
        return v2.SelectedOutcome(option_id=request.options[0].option_id)

    async def fill_form(self, session: Session | None, form: v2.FormElicitation) -> v2.CreateElicitationResponse:
        return v2.AcceptElicitation(content={"name": "Ada"})

    async def open_url(self, session: Session | None, request: v2.UrlElicitation) -> v2.CreateElicitationResponse:
        return v2.AcceptElicitation()

    def on_url_done(self, elicitation_id: str) -> None:
        self.pages_done.append(elicitation_id)


async def lend(channel: McpChannel) -> None:
    """An MCP server that answers, and asks something itself once it was asked."""
    async for message in channel:
        if "id" in message and "method" in message:
            await channel.send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
            await channel.send({"jsonrpc": "2.0", "id": "s", "method": "ping", "params": {}})
            await channel.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})


async def providers(agent: ClientConnection) -> None:
    if agent.offers(table.PROVIDERS_LIST):
        for provider in await agent.providers.list():
            await agent.providers.set(provider.provider_id, provider.supported[0], "https://x.example/v1")
            await agent.providers.disable(provider.provider_id)


async def suggestions(agent: ClientConnection) -> None:
    if not agent.offers(table.NES_START):
        return
    nes = await agent.start_nes()
    document = nes.open("file:///a.py", "ab", language_id="python")
    await document.edit(TextEdit(2, 2, "c"))
    await document.focus(1, (0, 1))
    await document.save()
    first, second = await nes.suggest(document, offset=1)
    nes.accept(first)
    nes.reject(second, v2.NesRejectReason.REJECTED)
    await document.close()
    await nes.close()


async def opened(agent: ClientConnection, cwd: Path) -> Session:
    servers: list[Any] = []
    if agent.capabilities.session and agent.capabilities.session.mcp and agent.capabilities.session.mcp.acp:
        servers.append(agent.mcp.offer("lent", lend))
    session = await agent.new_session(cwd, mcp_servers=servers)
    if agent.version.number == 1:
        await session.set_mode("code")
    await session.set_config_option("effort", "high")
    return session


async def turns(session: Session, client: TourClient) -> None:
    turn = session.prompt("tour")
    async for _ in turn:
        pass
    assert turn.stop_reason == v2.StopReason.END_TURN, turn.stop_reason
    assert len(client.pages_done) == 1
    again = session.prompt("tour")
    # What was asked for before is refused now, and an agent may fail for that.
    with suppress(TurnFailed):
        async for _ in again:
            await again.cancel()


async def stored(agent: ClientConnection, session: Session, cwd: Path) -> None:
    listing = asyncio.ensure_future(agent.list_sessions())
    await asyncio.sleep(0)
    listing.cancel()  # $/cancel_request
    await asyncio.wait({listing})
    assert (await agent.list_sessions()).sessions
    await agent.resume_session(session.id, cwd, replay=True)
    await agent.resume_session(session.id, cwd, replay=False)
    if agent.offers(table.SESSION_FORK):
        await session.fork()
    await session.close()
    if agent.offers(table.SESSION_DELETE):
        await agent.delete_session(session.id)


async def main() -> None:
    version: Literal[1, 2] = 1 if sys.argv[1] == "1" else 2
    cwd, client = Path(sys.argv[2]), TourClient()
    async with connect(sys.argv[3:], client, protocol=version) as agent:
        await agent.login("key")
        await providers(agent)
        await suggestions(agent)
        session = await opened(agent, cwd)
        await turns(session, client)
        await stored(agent, session, cwd)
        if agent.offers(table.AUTH_LOGOUT):
            await agent.logout()


asyncio.run(main())
