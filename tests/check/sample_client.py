"""A sound client that opens a session, prompts once and allows everything, in one process with the check."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from duologue.check.clients.starting import Accept, Launch, Running
from duologue.client import Client, ClientConnection, Login, Session, connect
from duologue.client.files import LocalFiles
from duologue.client.terminals import LocalTerminals
from duologue.errors import DuologueError
from duologue.local.rules import Subject
from duologue.mcp import ToolServer
from duologue.protocol import v2
from duologue.protocol.v2 import table
from duologue.transports.base import Transport
from duologue.transports.memory import memory_pair

LENT = ToolServer("lent", "1", [])


class SampleClient(Client):
    def __init__(self, *, able: bool) -> None:
        if able:
            self.files = LocalFiles(write=True)
            self.terminals = LocalTerminals()

    def capabilities(self) -> v2.ClientCapabilities:
        return v2.ClientCapabilities(nes=v2.ClientNesCapabilities())

    async def log_in(self, agent: ClientConnection) -> Login | None:
        return Login("good")

    async def confirm(self, session: Session, subject: Subject) -> bool:
        return True

    async def request_permission(
        self, session: Session, request: v2.RequestPermissionRequest
    ) -> v2.RequestPermissionOutcome:
        return v2.SelectedOutcome(option_id=request.options[0].option_id)


class InMemory:
    """A sample client that runs in a task."""

    def __init__(self, accept: Accept, version: int, folder: Path, wrap: Callable[[Transport], Transport], able: bool):
        self._accept = accept
        self._version = version
        self._folder = folder
        self._wrap = wrap
        self._able = able
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        here, there = memory_pair()
        await self._accept(there)
        client = SampleClient(able=self._able)
        protocol: Literal[1, 2] = 1 if self._version == 1 else 2
        with contextlib.suppress(DuologueError):
            async with connect(lambda: self._wrap(here), client, protocol=protocol) as agent:
                if agent.offers(table.PROVIDERS_LIST):
                    await agent.providers.list()
                if agent.offers(table.NES_START):
                    await self._suggestions(agent)
                acp = (agent.capabilities.session or v2.SessionCapabilities()).mcp
                servers = [agent.mcp.offer("lent", LENT.serve)] if acp and acp.acp else []
                session = await agent.new_session(self._folder, mcp_servers=servers)
                async for _ in session.prompt("hello"):
                    pass

    async def _suggestions(self, agent: ClientConnection) -> None:
        nes = await agent.start_nes()
        document = nes.open("file:///w/a.py", "f(\n", language_id="python")
        await nes.suggest(document, 2)

    def told(self) -> str:
        return ""

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})


def sample_client(
    version: int,
    folder: Path,
    wrap: Callable[[Transport], Transport] = lambda transport: transport,
    *,
    able: bool = True,
) -> Launch:
    """Launches sample clients; those that are not `able` offer neither files nor terminals."""

    async def launch(accept: Accept) -> Running:
        return InMemory(accept, version, folder, wrap, able)

    return launch
