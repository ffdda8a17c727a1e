"""What a probe of a client works with: a client that was started anew, and an agent that says what the probe wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from duologue.check.clients.starting import Launch, Running
from duologue.check.judging import Skipped
from duologue.check.notebook import Notebook
from duologue.check.reason import Reason
from duologue.check.record import Json, Said, Talk
from duologue.check.wire import Wire
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.method import Side
from duologue.transports.base import Transport

T = TypeVar("T")

INFO: Json = {"name": "duologue-check", "version": "1"}
SESSION = "duologue-session"
#: A session of before, and where the list goes on behind it.
LISTED, CURSOR = "duologue-listed", "duologue-cursor"
#: An agent that can do all that a client may ask for, as each version says it.
ABLE: dict[int, Json] = {
    1: {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
        "sessionCapabilities": {"list": {}, "close": {}, "resume": {}},
    },
    2: {"session": {"prompt": {"image": {}, "audio": {}, "embeddedContext": {}}}},
}


class ClientBench(Notebook):
    """One probe's client, in one version. `introduction` and `opening` are added to what the agent answers to
    initialize and session/new; `version` of the introduction may be another than the client's."""

    def __init__(self, launch: Launch, version: int, patience: float, folder: Path, title: str) -> None:
        super().__init__(version)
        self.patience = patience
        self.folder = folder
        self.talks: list[Talk] = []
        self.introduction: Json = {}
        self.opening: Json = {}
        #: Prompts that are not answered yet.
        self.prompts: list[tuple[Wire, Said]] = []
        #: Methods that are refused once, until a login.
        self.refused: set[str] = set()
        #: What providers/list tells.
        self.providers: list[Json] = []
        #: The bytes of each write of an answer; 0 for a whole one.
        self.pieces = 0
        self._launch = launch
        self._title = title
        self._wires: list[Wire] = []
        self._running: Running | None = None
        self._moved = asyncio.Event()

    async def close(self) -> None:
        """End the client and all its connections."""
        await asyncio.gather(*(wire.close() for wire in self._wires))
        if self._running is not None:
            await self._running.stop()

    # --- the client ---------------------------------------------------------------------------------------------------

    async def start(self) -> Wire:
        """Start the client; its first connection. Skips the probe where it makes none."""
        self._running = await self._launch(self._accept)
        return await self._until(lambda: self._wires[0] if self._wires else None)

    def told(self) -> str:
        """The last of what the client wrote to stderr."""
        return "" if self._running is None else self._running.told().strip()

    async def prompted(self) -> tuple[Wire, Said]:
        """Start the client and wait for its first prompt. Skips the probe where none comes."""
        await self.start()
        return await self._until(lambda: self.prompts[0] if self.prompts else None)

    async def awaits(self, method: str) -> tuple[Wire, Said | None]:
        """Start the client and wait for its first request of a method; None where it goes on to its first prompt."""
        wire = await self.start()

        def found() -> Said | None:
            return next((said for said in wire.talk.theirs if said.method == method), None)

        await self._until(lambda: found() or self.prompts or None)
        return wire, found() or await wire.look(found)

    async def _until(self, found: Callable[[], T | None]) -> T:
        try:
            async with asyncio.timeout(self.patience):
                while (value := found()) is None:
                    self._moved.clear()
                    await self._moved.wait()
                return value
        except TimeoutError:
            raise Skipped(Reason.NOT_OBSERVED) from None

    async def _accept(self, transport: Transport) -> None:
        talk = Talk(Side.CLIENT, self.version, self._title)
        wire = Wire(transport, talk, self.patience, self._serve)
        self.talks.append(talk)
        self._wires.append(wire)
        await wire.open()
        self._moved.set()

    # --- the agent ----------------------------------------------------------------------------------------------------

    def _serve(self, wire: Wire, said: Said) -> None:
        if said.method == "session/prompt":
            self.prompts.append((wire, said))
        self._moved.set()
        # Both are answered by probes.
        if said.method in {"session/prompt", "nes/suggest"}:
            return
        result = self._result(said)
        if said.method in self.refused:
            self.refused.discard(said.method)
            answer: Json = {"error": {"code": ErrorCode.AUTH_REQUIRED, "message": "Log in first"}}
        elif result is None:
            answer = {"error": {"code": ErrorCode.METHOD_NOT_FOUND, "message": "Method not found"}}
        else:
            answer = {"result": result}
        wire.reply(said, answer, pieces=self.pieces)

    def _result(self, said: Said) -> Json | None:
        match said.method:
            case "initialize":
                return self._introduced(said)
            case "session/new":
                return {"sessionId": SESSION, **self.opening}
            case "session/list" if said.params.get("cursor") == CURSOR:
                return {"sessions": []}
            case "session/list":
                return {"sessions": [{"sessionId": LISTED, "cwd": str(self.folder)}], "nextCursor": CURSOR}
            case "session/load" | "session/resume" | "session/close" | "authenticate" | "auth/login" | "logout":
                return {}
            case "session/set_config_option":
                return {"configOptions": self.opening.get("configOptions", [])}
            case "session/set_mode" | "nes/close" | "providers/set" | "providers/disable":
                return {}
            case "nes/start":
                return {"sessionId": "duologue-nes"}
            case "providers/list":
                return {"providers": self.providers}
        return None

    def _introduced(self, said: Said) -> Json:
        version = 2 if said.params.get("protocolVersion") == 2 else 1
        if self.introduction.get("protocolVersion", version) in (1, 2):
            version = self.introduction.get("protocolVersion", version)
        names = ("agentCapabilities", "agentInfo") if version == 1 else ("capabilities", "info")
        return {"protocolVersion": version, names[0]: ABLE[version], names[1]: INFO, **self.introduction}

    def need(self, wire: Wire, *path: str) -> None:
        """Skip the probe where the client does not offer a capability."""
        if not wire.talk.offers(Side.CLIENT, *path):
            raise Skipped(Reason.CAPABILITY)

    def update(self, wire: Wire, kind: str, **members: Any) -> None:
        """Tell something about the session."""
        update = {"sessionUpdate": kind, **members}
        wire.send(wire.tell("session/update", {"sessionId": SESSION, "update": update}))

    def say(self, wire: Wire, text: str) -> None:
        """Say a text."""
        self.update(wire, "agent_message_chunk", messageId="m1", content={"type": "text", "text": text})

    def accept(self, wire: Wire, prompt: Said) -> None:
        """Take a prompt up, which in version 2 is said."""
        if self.version == 2:
            wire.reply(prompt, {"result": {}})
            self.update(wire, "user_message", messageId="u1", content=prompt.params.get("prompt"))
            self.update(wire, "state_update", state="running")

    def finish(self, wire: Wire, prompt: Said) -> None:
        """End the turn of a prompt that was accepted."""
        if self.version == 2:
            self.update(wire, "state_update", state="idle", stopReason="end_turn")
        else:
            wire.reply(prompt, {"result": {"stopReason": "end_turn"}})

    async def working(self) -> tuple[Wire, Said]:
        """A client whose prompt was accepted and is not over."""
        wire, prompt = await self.prompted()
        self.accept(wire, prompt)
        return wire, prompt
