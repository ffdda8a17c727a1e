"""An agent that suggests edits, and the client's words for it in either version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agent_kit import Talk

from duologue.agent import Agent, Nes, NesRequest, NesSession
from duologue.documents import Document
from duologue.protocol.common.nes import NesRejectReason
from duologue.protocol.v2.nes import NesSuggestion

Suggest = Callable[[NesRequest], Any]
URI = "file:///a.py"


class Scripted(Nes):
    """Suggests what the function of the test says; `log` is what happened, in order."""

    def __init__(self, suggest: Suggest) -> None:
        self._suggest = suggest
        self.log: list[Any] = []
        self.session: NesSession | None = None

    async def start(self, session: NesSession) -> None:
        self.session = session

    async def suggest(self, session: NesSession, request: NesRequest) -> Sequence[NesSuggestion]:
        made = self._suggest(request)
        return list(made if isinstance(made, list) else await made)

    async def accepted(self, session: NesSession, suggestion: NesSuggestion) -> None:
        self.log.append(("accepted", suggestion))

    async def rejected(self, session: NesSession, suggestion: NesSuggestion, reason: NesRejectReason | None) -> None:
        self.log.append(("rejected", suggestion, reason))

    async def close(self, session: NesSession) -> None:
        self.log.append(("close", session.id))


class Hearing(Scripted):
    """Overrides each hook for documents."""

    def opened(self, session: NesSession, document: Document) -> None:
        self.log.append(("opened", document.uri, document.language_id, document.version, document.text))

    def changed(self, session: NesSession, document: Document) -> None:
        self.log.append(("changed", document.uri, document.version, document.text))

    def saved(self, session: NesSession, document: Document) -> None:
        self.log.append(("saved", document.uri))

    def focused(self, session: NesSession, document: Document, offset: int, visible: tuple[int, int]) -> None:
        self.log.append(("focused", document.uri, offset, visible))

    def closed(self, session: NesSession, document: Document) -> None:
        self.log.append(("closed", document.uri))


def agent_with(nes: Nes) -> Agent:
    agent = Agent()
    agent.nes = nes
    return agent


async def shake(talk: Talk, client: dict[str, Any] | None = None) -> dict[str, Any]:
    """Initialize with these capabilities of the client; the agent's."""
    ours, theirs = (
        ("capabilities", "capabilities") if talk.version == 2 else ("clientCapabilities", "agentCapabilities")
    )
    params: dict[str, Any] = {"protocolVersion": talk.version, ours: client or {}}
    if talk.version == 2:
        params["info"] = {"name": "c", "version": "1"}
    answer = await talk.ask("initialize", params)
    capabilities: dict[str, Any] = answer["result"][theirs]
    return capabilities


async def begin(nes: Nes, version: int, client: dict[str, Any] | None = None) -> Talk:
    talk = await Talk.open(agent_with(nes), version)
    await shake(talk, client)
    return talk


async def start(talk: Talk, params: dict[str, Any] | None = None) -> str:
    answer = await talk.ask("nes/start", params or {})
    return str(answer["result"]["sessionId"])


def note(kind: str, session: str, **params: Any) -> dict[str, Any]:
    return {"method": f"document/{kind}", "params": {"sessionId": session, "uri": URI, **params}}


def opening(session: str, text: str, version: int = 1) -> dict[str, Any]:
    return note("didOpen", session, languageId="python", version=version, text=text)


def position(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def stretch(*ends: int) -> dict[str, Any]:
    return {"start": position(*ends[:2]), "end": position(*ends[2:])}


def suggesting(session: str, line: int = 0, character: int = 0, version: int = 1, **more: Any) -> dict[str, Any]:
    place = {"position": position(line, character), "triggerKind": "automatic"}
    return {"sessionId": session, "uri": URI, "version": version, **place, **more}


def name_of_id(version: int) -> str:
    return "suggestionId" if version == 2 else "id"
