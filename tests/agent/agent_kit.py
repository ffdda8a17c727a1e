"""An agent whose turns are functions of the test, and a client that speaks bare lines of either version."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conforming import check_message

from duologue.agent import Agent, AgentConnection, Session, Turn
from duologue.jsonrpc.limits import Limits
from duologue.protocol.common.prompt import StopReason
from wire import PATIENCE, Wire, settle, until

__all__ = ["PATIENCE", "Ended", "Scripted", "Talk", "settle", "until"]

Script = Callable[[Turn], Awaitable[StopReason | None]]


class Scripted(Agent):
    """Runs the script that the first word of the prompt names; any other prompt is echoed."""

    name = "scripted"

    def __init__(self, **scripts: Script) -> None:
        self.scripts = scripts
        #: What happened, in order.
        self.log: list[str] = []

    async def prompt(self, turn: Turn) -> StopReason | None:
        self.log.append(f"begin {turn.text}")
        try:
            script = self.scripts.get(turn.text.split()[0])
            if script is not None:
                return await script(turn)
            await turn.say(f"echo {turn.text}")
            return None
        except asyncio.CancelledError:
            self.log.append(f"cancelled {turn.text}")
            raise
        finally:
            self.log.append(f"end {turn.text}")

    async def close_session(self, session: Session) -> None:
        self.log.append(f"closed {session.state}")


@dataclass
class Ended:
    """How a turn ended, in either version."""

    reason: str | None = None
    error: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None


class Talk:
    """The client's side. `seen` holds everything read, in order; all of it is what the agreed version's types say."""

    def __init__(self, version: int, wire: Wire, connection: AgentConnection) -> None:
        self.version = version
        self.wire = wire
        self.connection = connection
        self.seen: list[dict[str, Any]] = []
        self._asked: dict[Any, str] = {}

    @classmethod
    async def open(cls, agent: Agent, version: int, *, limits: Limits | None = None) -> Talk:
        """Connect, without a word said yet."""
        wire = await Wire().open()
        connection = AgentConnection(agent, limits=limits)
        await connection.start(wire.far)
        return cls(version, wire, connection)

    @classmethod
    async def begin(
        cls, agent: Agent, version: int, *, limits: Limits | None = None, offering: dict[str, Any] | None = None
    ) -> Talk:
        """Connect and shake hands; `offering` is what the client can do."""
        talk = await cls.open(agent, version, limits=limits)
        answer = await talk.initialize(offering)
        assert answer["result"]["protocolVersion"] == version
        return talk

    # --- saying -------------------------------------------------------------------------------------------------------

    def call(self, method: str, params: Any) -> dict[str, Any]:
        """A request under a new id, to be given to `send`."""
        request = self.wire.call(method, params)
        self._asked[request["id"]] = method
        return request

    def send(self, *messages: dict[str, Any]) -> None:
        self.wire.send(*messages)

    async def ask(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request and read until its answer."""
        request = self.call(method, params)
        self.send(request)
        return await self.answer(request["id"])

    async def initialize(self, offering: dict[str, Any] | None = None) -> dict[str, Any]:
        client: dict[str, Any] = {"info": {"name": "c", "version": "1"}} if self.version == 2 else {}
        if offering is not None:
            client["capabilities" if self.version == 2 else "clientCapabilities"] = offering
        return await self.ask("initialize", {"protocolVersion": self.version, **client})

    async def new(self, cwd: Path | str = "/") -> str:
        answer = await self.ask("session/new", {"cwd": str(cwd), "mcpServers": []})
        return str(answer["result"]["sessionId"])

    def prompting(self, session: str, text: str) -> dict[str, Any]:
        return self.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})

    def prompt(self, session: str, text: str) -> int:
        """Send a prompt; the id of its request."""
        request = self.prompting(session, text)
        self.send(request)
        return int(request["id"])

    @staticmethod
    def cancelling(session: str) -> dict[str, Any]:
        return {"method": "session/cancel", "params": {"sessionId": session}}

    def cancel(self, session: str) -> None:
        self.send(self.cancelling(session))

    # --- hearing ------------------------------------------------------------------------------------------------------

    async def read(self) -> dict[str, Any]:
        message = await self.wire.read()
        check_message(self.version, message, self._asked)
        self.seen.append(message)
        return message

    async def read_to(self, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Read up to a message; it may have been read before only if nothing came after it."""
        while True:
            message = await self.read()
            if wanted(message):
                return message

    async def answer(self, id: Any) -> dict[str, Any]:
        for message in self.seen:
            if "method" not in message and message.get("id") == id:
                return message
        return await self.read_to(lambda message: "method" not in message and message.get("id") == id)

    async def request(self, method: str) -> dict[str, Any]:
        return await self.read_to(lambda message: message.get("method") == method)

    async def heard(self, text: str) -> None:
        """Read until the agent has said `text`."""
        if text not in self.said():
            await self.read_to(lambda message: text in _said(message))

    async def ended(self, *ids: int) -> list[Ended]:
        """How the prompts with these ids ended, given in the order they were sent, in one session."""
        if self.version == 1:
            return [_ended_v1(await self.answer(id)) for id in ids]
        for id in ids:
            answer = await self.answer(id)
            assert answer.get("result") == {}, answer
        while len(idles := [ended for message in self.seen if (ended := _ended_v2(message))]) < len(ids):
            await self.read()
        ends, self.seen = idles[: len(ids)], self.seen
        return ends

    async def turn(self, session: str, text: str) -> Ended:
        """One whole turn, in a session in which nothing runs."""
        self.seen.clear()
        (ended,) = await self.ended(self.prompt(session, text))
        return ended

    # --- what was heard -----------------------------------------------------------------------------------------------

    def updates(self, session: str | None = None) -> list[dict[str, Any]]:
        return [
            message["params"]["update"]
            for message in self.seen
            if message.get("method") == "session/update" and session in (None, message["params"]["sessionId"])
        ]

    def said(self) -> str:
        """All that the agent said, without separators."""
        return "".join(_said(message) for message in self.seen)

    def states(self) -> list[str]:
        """The states told, an idle one by its stop reason; version 2 only."""
        states = [update for update in self.updates() if update["sessionUpdate"] == "state_update"]
        return [state.get("stopReason", state["state"]) for state in states]

    def kinds(self) -> list[str]:
        """What was read, each by one word: the kind of an update, the method, or `answer`."""
        return [
            message["params"]["update"]["sessionUpdate"]
            if message.get("method") == "session/update"
            else message.get("method", "answer")
            for message in self.seen
        ]


def _said(message: dict[str, Any]) -> str:
    update = message.get("params", {}).get("update", {}) if message.get("method") == "session/update" else {}
    return str(update["content"]["text"]) if update.get("sessionUpdate") == "agent_message_chunk" else ""


def _ended_v1(answer: dict[str, Any]) -> Ended:
    result = answer.get("result", {})
    return Ended(result.get("stopReason"), answer.get("error"), result.get("usage"))


def _ended_v2(message: dict[str, Any]) -> Ended | None:
    if message.get("method") != "session/update":
        return None
    update = message["params"]["update"]
    if update.get("state") != "idle":
        return None
    error = update.get("_meta", {}).get("duologue", {}).get("error")
    return Ended(update.get("stopReason") if error is None else None, error, update.get("usage"))


async def cancelled_outcome(talk: Talk, request: dict[str, Any]) -> None:
    """Answer a permission request as a client that was told to stop."""
    talk.send({"id": request["id"], "result": {"outcome": {"outcome": "cancelled"}}})


async def forever() -> None:
    await asyncio.Event().wait()
