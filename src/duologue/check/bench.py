"""What a probe of an agent works with: fresh connections, sessions, turns, a folder, and a place for its findings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from duologue.check.judging import Failed, Skipped
from duologue.check.notebook import Notebook
from duologue.check.reason import Reason
from duologue.check.record import Json, Said, Talk
from duologue.check.serving import PlainClient
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side
from duologue.transports.base import Transport

Start = Callable[[], Transport]
T = TypeVar("T")

INFO: Json = {"name": "duologue-check", "version": "1", "title": "Duologue check ✓"}
#: The id of a session that nobody has opened.
NO_SESSION = "duologue-no-session"


class Bench(Notebook):
    """One probe's connections to an agent, in one version. `talks` keeps what was said on them."""

    def __init__(self, start: Start, version: int, patience: float, folder: Path, title: str) -> None:
        super().__init__(version)
        self.patience = patience
        self.folder = folder
        self.client = PlainClient(folder)
        self.talks: list[Talk] = []
        self._start = start
        self._title = title
        self._wires: list[Wire] = []

    async def close(self) -> None:
        """End all connections."""
        await asyncio.gather(*(wire.close() for wire in self._wires))

    # --- connections --------------------------------------------------------------------------------------------------

    async def connect(self) -> Wire:
        """A fresh connection, on which nothing is said yet."""
        talk = Talk(Side.AGENT, self.version, self._title)
        wire = Wire(self._start(), talk, self.patience, self.client.serve)
        self.talks.append(talk)
        self._wires.append(wire)
        await wire.open()
        return wire

    def handshake(self, capabilities: Any = None, *, version: int | None = None) -> Json:
        """The params of initialize."""
        version = version or self.version
        info, offered = ("clientInfo", "clientCapabilities") if version == 1 else ("info", "capabilities")
        return {
            "protocolVersion": version,
            info: INFO,
            **({} if capabilities is None else {offered: capabilities}),
        }

    async def greet(self, capabilities: Any = None) -> Wire:
        """A fresh connection after the handshake; skips the probe where that is not answered in time.

        A program that is checked has answered it before: then it is slow, and what the probe is for is not seen.
        """
        wire = await self.connect()
        answer = await unless_slow(wire, wire.ask("initialize", self.handshake(capabilities)))
        if answer.result.get("protocolVersion") != self.version:
            raise Skipped(Reason.BUILDS_ON)
        return wire

    def need(self, wire: Wire, *, v1: tuple[str, ...], v2: tuple[str, ...]) -> None:
        """Skip the probe where the agent does not offer a capability."""
        if not wire.talk.offers(Side.AGENT, *(v1 if self.version == 1 else v2)):
            raise Skipped(Reason.CAPABILITY)

    # --- sessions -----------------------------------------------------------------------------------------------------

    def new(self, folder: Path | None = None, **more: Any) -> Json:
        """The params of session/new."""
        return {"cwd": str(folder or self.folder), "mcpServers": [], **more}

    async def open(self, wire: Wire, **more: Any) -> str:
        """A new session; skips the probe where there can be none."""
        return await session_of(wire, "session/new", self.new(**more))

    async def session(self, capabilities: Any = None) -> tuple[Wire, str]:
        """A fresh connection with a session."""
        wire = await self.greet(capabilities)
        return wire, await self.open(wire)

    # --- turns --------------------------------------------------------------------------------------------------------

    def prompt(self, wire: Wire, session: str, text: str | list[Any]) -> Json:
        """A prompt, to be given to `Wire.send`."""
        blocks = [{"type": "text", "text": text}] if isinstance(text, str) else text
        return wire.request("session/prompt", {"sessionId": session, "prompt": blocks})

    async def turn(self, wire: Wire, session: str, text: str | list[Any]) -> Turn:
        """Prompt, and wait for the end of the turn."""
        turn = self.begin(wire, session, text)
        await turn.end()
        return turn

    def begin(self, wire: Wire, session: str, text: str | list[Any], *also: Any) -> Turn:
        """Prompt without waiting; `also` leaves in the same write."""
        since = len(wire.talk.lines)
        request = self.prompt(wire, session, text)
        wire.send(request, *also)
        return Turn(self.version, wire, session, request, since)


class Turn:
    """A prompt that was sent, and what came of it."""

    def __init__(self, version: int, wire: Wire, session: str, request: Json, since: int) -> None:
        self.wire = wire
        self.session = session
        self.request = request
        self._version = version
        self._since = since

    async def accepted(self) -> Said:
        """The answer to the prompt; skips the probe where it is an error."""
        answer = without_login(await self.wire.answer(self.request))
        if answer.code is not None:
            raise Skipped(Reason.BUILDS_ON)
        return answer

    async def end(self) -> Said:
        """What ended the turn, for a probe of something else: it is skipped where the turn does not end."""
        return await unless_slow(self.wire, self.must_end())

    async def must_end(self) -> Said:
        """What ended the turn: the answer in version 1, an idle state in version 2. An error ends it too."""
        answer = await self.wire.answer(self.request)
        if self._version == 1 or answer.code is not None:
            return answer
        return await self.wire.wait(self.idle, "no idle state after the prompt", since=self._since)

    def idle(self) -> Said | None:
        """The idle state with a stop reason that came after the prompt, if it did."""
        return next((said for said in self.updates("state_update") if said.update.get("state") == "idle"), None)

    def updates(self, *kinds: str) -> list[Said]:
        """What the agent told about the session since the prompt."""
        return [
            said
            for said in self.wire.talk.updates(*kinds)
            if said.line.number >= self._since and said.session == self.session
        ]

    def over(self) -> Said | None:
        """What ended the turn, if it has ended."""
        answer = self.wire.answer_now(self.request["id"])
        if answer is None or self._version == 1 or answer.code is not None:
            return answer
        return self.idle()

    async def asked(self, client: PlainClient) -> Said | None:
        """The permission question that the turn leaves open, if it asks before it ends.

        Skips the probe where it does neither.
        """
        either = self.wire.wait(lambda: (client.open or None) or self.over(), "the turn neither asked nor ended")
        await unless_slow(self.wire, either)
        return client.open[0] if client.open else None


async def unless_slow(wire: Wire, waiting: Coroutine[Any, Any, T]) -> T:
    """Wait for something whose lack another requirement is about; a program that goes away fails any."""
    try:
        return await waiting
    except Failed:
        if wire.closed is not None:
            raise
        raise Skipped(Reason.BUILDS_ON) from None


def stop_reason(end: Said) -> Any:
    """Why a turn ended."""
    return end.result.get("stopReason") if end.answers else end.update.get("stopReason")


def without_login(answer: Said, *others: ErrorCode) -> Said:
    """The answer; skips the probe where it asks for a login first, or is an error that other requirements are about."""
    if answer.code == ErrorCode.AUTH_REQUIRED:
        raise Skipped(Reason.LOGIN)
    if answer.code in others:
        raise Skipped(Reason.BUILDS_ON)
    return answer


async def session_of(wire: Wire, method: str, params: Json | None = None) -> str:
    """The session that a request opens; skips the probe where there can be none."""
    answer = without_login(await wire.ask(method, params))
    session = answer.result.get("sessionId")
    if not isinstance(session, str):
        raise Skipped(Reason.BUILDS_ON)
    return session


async def items_of(wire: Wire, method: str, member: str, params: Json | None = None) -> tuple[Said, list[Json]]:
    """The answer to a request, and the objects in a list of it; skips the probe where there is no list."""
    answer = await wire.ask(method, params)
    items = answer.result.get(member)
    if not isinstance(items, list):
        raise Skipped(Reason.BUILDS_ON)
    return answer, [each for each in items if isinstance(each, dict)]
