"""A client with a session for suggested edits, and the agent's words for it in either version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from client_kit import Host

from duologue.client import Client, ClientNesSession, NesDocument, Suggestion
from duologue.protocol.common.nes_capabilities import (
    ClientNesCapabilities,
    NesJumpCapabilities,
    NesRenameCapabilities,
    NesSearchAndReplaceCapabilities,
)
from duologue.protocol.v2.capabilities import ClientCapabilities
from wire import PATIENCE

URI = "file:///a.py"
ALL: dict[str, Any] = {
    "didOpen": {},
    "didChange": {"syncKind": "incremental"},
    "didClose": {},
    "didSave": {},
    "didFocus": {},
}


class Editor(Client):
    """Shows each kind of suggestion."""

    def capabilities(self) -> ClientCapabilities:
        return ClientCapabilities(
            nes=ClientNesCapabilities(
                jump=NesJumpCapabilities(),
                rename=NesRenameCapabilities(),
                search_and_replace=NesSearchAndReplaceCapabilities(),
            )
        )


def offering(version: int, **members: Any) -> dict[str, Any]:
    """What the agent adds to its answer to `initialize`, so that these are among its capabilities."""
    if version == 2:
        return {"capabilities": {"session": {}, **members}}
    return {"agentCapabilities": members}


async def begin(
    version: int,
    *,
    events: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    encoding: str | None = None,
    client: Client | None = None,
    read_file: Callable[[str], str | None] | None = None,
) -> tuple[Host, ClientNesSession]:
    """Shake hands with an agent that wants these events and this context, and begin the session N."""
    offered: dict[str, Any] = {"nes": {"events": {"document": ALL if events is None else events}}}
    if context is not None:
        offered["nes"]["context"] = context
    if encoding is not None:
        offered["positionEncoding"] = encoding
    host = await Host.begin(version, client or Editor(), **offering(version, **offered))
    starting = asyncio.create_task(host.connection.start_nes(read_file=read_file))
    request = await host.wire.read_method("nes/start")
    assert request["params"] == {}
    host.answer(request, {"sessionId": "N"})
    return host, await asyncio.wait_for(starting, PATIENCE)


class Asking:
    """A request for suggestions that is under way."""

    def __init__(self, session: ClientNesSession, document: NesDocument, offset: int = 0, **more: Any) -> None:
        self.task = asyncio.create_task(session.suggest(document, offset, **more))

    async def found(self) -> tuple[Suggestion, ...]:
        return await asyncio.wait_for(self.task, PATIENCE)


async def asked(host: Host, session: ClientNesSession, document: NesDocument, **more: Any) -> dict[str, Any]:
    """The params of a request for suggestions, answered with none."""
    asking = Asking(session, document, **more)
    request = await host.wire.read_method("nes/suggest")
    host.answer(request, {"suggestions": []})
    assert await asking.found() == ()
    params: dict[str, Any] = request["params"]
    return params


async def told(
    host: Host, session: ClientNesSession, document: NesDocument, *suggestions: dict[str, Any]
) -> tuple[Suggestion, ...]:
    """What the client makes of suggestions, whose ids are numbers in order."""
    asking = Asking(session, document)
    request = await host.wire.read_method("nes/suggest")
    name = "suggestionId" if host.version == 2 else "id"
    host.answer(request, {"suggestions": [{name: str(number), **one} for number, one in enumerate(suggestions)]})
    return await asking.found()


def stretch(*ends: int) -> dict[str, Any]:
    return {"start": position(*ends[:2]), "end": position(*ends[2:])}


def position(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def edit(*edits: tuple[dict[str, Any], str], uri: str = URI, **more: Any) -> dict[str, Any]:
    return {"kind": "edit", "uri": uri, "edits": [{"range": place, "newText": text} for place, text in edits], **more}
