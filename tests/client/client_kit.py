"""A client under test, and an agent that says bare lines of either version to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duologue.client import Client, ClientConnection, PromptTurn, Session
from duologue.jsonrpc.limits import Limits
from duologue.protocol.common.permission import RequestPermissionOutcome, SelectedOutcome
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.updates import SessionUpdate
from duologue.protocol.version import V1, V2
from wire import PATIENCE, Wire, settle, until

OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


class Run:
    """A turn that is iterated in a task of its own; `events` is what it gave so far."""

    def __init__(self, turn: PromptTurn) -> None:
        self.turn = turn
        self.events: list[SessionUpdate] = []
        self.task = asyncio.create_task(self._iterate())
        # Not every test asks how it ended.
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _iterate(self) -> None:
        async for event in self.turn:
            self.events.append(event)

    async def end(self) -> str | None:
        """Wait for the end; the stop reason. Raises what the iteration raises."""
        await asyncio.wait_for(self.task, PATIENCE)
        return None if self.turn.stop_reason is None else str(self.turn.stop_reason.value)

    @property
    def said(self) -> str:
        return "".join(
            event.content.text  # type: ignore[union-attr]
            for event in self.events
            if event.__class__.__name__ == "AgentMessageChunk"
        )


class Host:
    """The agent's side of the wire; `session` is the session S of the client under test."""

    session: Session

    def __init__(self, version: int, client: Client, limits: Limits | None) -> None:
        self.version = version
        self.wire = Wire()
        self.connection = ClientConnection(client, limits=limits)
        self._messages = self._asked = 0
        #: The params of `initialize` as the client sent them.
        self.introduced: dict[str, Any] = {}

    @classmethod
    async def begin(
        cls,
        version: int,
        client: Client | None = None,
        *,
        limits: Limits | None = None,
        cwd: Path | str = "/tmp",
        folders: Sequence[Path] = (),
        **said: Any,
    ) -> Host:
        """Shake hands and open session S in `cwd`; `said` is added to what the agent answers to `initialize`."""
        host = cls(version, client or Client(), limits)
        await host.wire.open()
        await host.handshake(**said)
        host.session = await host.opened("S", cwd, folders)
        return host

    async def handshake(self, **said: Any) -> None:
        starting = asyncio.create_task(self.connection.start(self.wire.far, V1 if self.version == 1 else V2))
        request = await self.wire.read()
        result: dict[str, Any] = {"protocolVersion": self.version}
        if self.version == 2:
            result |= {
                "info": {"name": "a", "version": "1"},
                "capabilities": {"session": {"additionalDirectories": {}}},
            }
        else:
            markers: dict[str, Any] = {"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}}
            result |= {"agentCapabilities": {"loadSession": True, "sessionCapabilities": markers}}
        self.introduced = request["params"]
        self.answer(request, result | said)
        await asyncio.wait_for(starting, PATIENCE)

    async def opened(self, id: str, cwd: Path | str = "/tmp", folders: Sequence[Path] = ()) -> Session:
        opening = asyncio.create_task(self.connection.new_session(cwd, additional_directories=folders))
        self.answer(await self.wire.read_method("session/new"), {"sessionId": id})
        return await asyncio.wait_for(opening, PATIENCE)

    # --- what the client does -----------------------------------------------------------------------------------------

    async def prompt(self, text: str = "go") -> tuple[Run, dict[str, Any]]:
        """Let the client prompt; the run and the request, not answered yet."""
        run = Run(self.session.prompt(text))
        return run, await self.wire.read_method("session/prompt")

    async def replies(self, method: str, id: str | None = None, **params: Any) -> dict[str, Any]:
        """What the client answers to a request of the agent in session S."""
        self._asked += 1
        name = id or f"ask-{self._asked}"
        self.send({"id": name, "method": method, "params": {"sessionId": "S", **params}})
        return await self.wire.read_answer(name)

    # --- what the agent says ------------------------------------------------------------------------------------------

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        self.wire.send(*messages)

    def answer(self, request: dict[str, Any], result: Any) -> None:
        self.wire.answer(request, result)

    def refuse(self, request: dict[str, Any], code: int = -32603, message: str = "Internal error", **more: Any) -> None:
        self.wire.refuse(request, code, message, **more)

    @staticmethod
    def update(body: dict[str, Any], session: str = "S") -> dict[str, Any]:
        return {"method": "session/update", "params": {"sessionId": session, "update": body}}

    def chunk(self, text: str, session: str = "S") -> dict[str, Any]:
        content = {"type": "text", "text": text}
        body = {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}
        return self.update(body, session)

    def say(self, *texts: str) -> None:
        self.send(*[self.chunk(text) for text in texts])

    def state(self, state: str, **more: Any) -> dict[str, Any]:
        return self.update({"sessionUpdate": "state_update", "state": state, **more})

    def user_message(self, text: str = "go") -> dict[str, Any]:
        self._messages += 1
        content = [{"type": "text", "text": text}]
        return self.update({"sessionUpdate": "user_message", "messageId": f"u{self._messages}", "content": content})

    def accept(self, request: dict[str, Any]) -> None:
        """Begin the turn of a prompt, as far as the version has something to say of it."""
        if self.version == 2:
            self.answer(request, {})
            self.send(self.user_message(), self.state("running"))

    def end(self, request: dict[str, Any], reason: str = "end_turn") -> None:
        """End the turn of a prompt."""
        if self.version == 1:
            self.answer(request, {"stopReason": reason})
        else:
            self.send(self.state("idle", stopReason=reason))

    def ask(self, id: str = "p1", session: str = "S") -> None:
        """Ask for permission."""
        params: dict[str, Any] = {"sessionId": session, "options": OPTIONS}
        params |= {"title": "May I?"} if self.version == 2 else {"toolCall": {"toolCallId": "t1", "title": "May I?"}}
        self.send({"id": id, "method": "session/request_permission", "params": params})

    async def heard(self, method: str) -> list[dict[str, Any]]:
        """All messages of a method that were sent and not read yet."""
        await settle()
        return [message for message in self.wire.pending() if message.get("method") == method]


class Slow(Client):
    """Answers permission requests when it is let go; counts what became of them."""

    def __init__(self) -> None:
        self.asked = 0
        self.cancelled = 0
        self.go = asyncio.Event()

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        self.asked += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return SelectedOutcome(option_id="yes")


async def begun(
    version: int, client: Client | None = None, limits: Limits | None = None
) -> tuple[Host, Run, dict[str, Any]]:
    """A turn that runs and has said something."""
    host = await Host.begin(version, client)
    run, request = await host.prompt()
    host.accept(request)
    host.say("x")
    await until(lambda: run.said)
    return host, run, request


def agent_text(session: Session) -> str:
    """All that the agent has said in a session."""
    return "".join(message.text for message in session.transcript.messages if message.role.value == "agent")
