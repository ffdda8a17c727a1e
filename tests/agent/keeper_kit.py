"""An agent with sessions to reopen and options to set, which waits where the test says."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from agent_kit import Scripted

from duologue.agent import AgentConnection, Session, unknown_session
from duologue.protocol.common.config import SessionConfigSelectOption
from duologue.protocol.v2.config import BooleanConfigOption, SelectConfigOption, SessionConfigOption


class Keeper(Scripted):
    """Keeps one stored session, has two options, and waits where the test says."""

    def __init__(self, **scripts: Any) -> None:
        super().__init__(**scripts)
        self.stored = {"old"}
        self.gates: dict[str, asyncio.Event] = {}

    async def _pass(self, name: str) -> None:
        self.log.append(f"{name} begins")
        if name in self.gates:
            await self.gates[name].wait()
        self.log.append(f"{name} ends")

    async def new_session(self, session: Session) -> None:
        session.state = {"model": "a", "fast": False}
        await self._pass("new")

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        if session.id not in self.stored:
            raise unknown_session(session.id)
        session.state = {"model": "a", "fast": False}
        if replay:
            await session.say("as said before")
        await self._pass("resume")

    def config_options(self, session: Session) -> Sequence[SessionConfigOption]:
        values = [SessionConfigSelectOption(value=name, name=name.upper()) for name in ("a", "b")]
        return (
            SelectConfigOption(config_id="model", name="Model", current_value=session.state["model"], options=values),
            BooleanConfigOption(config_id="fast", name="Fast", current_value=session.state["fast"]),
        )

    async def set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:
        await self._pass(f"set {value}")
        session.state[config_id] = value

    async def close_session(self, session: Session) -> None:
        await self._pass("close")


def set_model(version: int, session: str, value: str) -> tuple[str, dict[str, Any]]:
    typed = {"type": "id"} if version == 2 else {}
    return "session/set_config_option", {"sessionId": session, "configId": "model", "value": value, **typed}


def reopen(version: int, session: str, cwd: str = "/", *, replay: bool = True) -> tuple[str, dict[str, Any]]:
    params: dict[str, Any] = {"sessionId": session, "cwd": cwd, "mcpServers": []}
    if version == 1:
        return ("session/load" if replay else "session/resume"), params
    return "session/resume", {**params, **({"replayFrom": {"type": "start"}} if replay else {})}


def kept_of(connection: AgentConnection) -> list[Any]:
    """All that a connection keeps of requests about sessions."""
    lifecycle = connection._lifecycle
    return [
        connection._admitted,
        *(lifecycle._opening, lifecycle._resumes, lifecycle._opens, lifecycle._closes, lifecycle._barriers),
    ]
