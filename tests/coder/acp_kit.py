"""The coding agent with a scripted model, and a client that keeps what it is told and answers as it should."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from coder_kit import ScriptedModel, Step

from duologue.client import Session
from duologue.coder.acp import CodingAgent
from duologue.coder.models.base import Model, ModelError
from duologue.coder.models.registry import ModelChoice
from duologue.protocol.common.permission import RequestPermissionOutcome
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.v2.mcp import McpServer
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.updates import ToolCallUpdateEvent
from duologue.testing import Answers, connected


class Scripted:
    """Models for an agent: the first is the scripted one, `others` are further names; `broken` cannot be loaded."""

    def __init__(self, *steps: Step, spec: str = "test:scripted", others: Sequence[str] = (), broken: str = "") -> None:
        self.model = ScriptedModel(*steps)
        self.spec = spec
        self.others = others
        self.broken = broken
        self.loaded: list[str] = []
        self.missing: str | None = None

    def offered(self) -> Sequence[ModelChoice]:
        return [ModelChoice(spec, spec, "for tests") for spec in (self.spec, *self.others)]

    def notices(self) -> Sequence[str]:
        return ()

    def missing_key(self) -> str | None:
        return self.missing

    def load(self, spec: str) -> Model:
        self.loaded.append(spec)
        if spec == self.broken:
            raise ModelError(f"no key for {spec}", status=401)
        return self.model


class Person(Answers):
    """As `Answers`; `at_question` is called before each answer."""

    # A test knows of what kind the subject of its question is.
    questions: list[Any]

    def __init__(
        self, *kinds: str, at_question: Callable[[Session, RequestPermissionRequest], Any] | None = None
    ) -> None:
        super().__init__(*kinds)
        self.at_question = at_question

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        outcome = await super().request_permission(session, request)
        if self.at_question is not None:
            await self.at_question(session, request)
        return outcome

    async def told(self, kind: type[Any]) -> None:
        """Wait until an update of a kind has come."""
        while not self.of(kind):  # noqa: ASYNC110 (an event for each kind would be more to read)
            await asyncio.sleep(0.005)

    def statuses(self, call: str) -> list[str]:
        """The states that a tool call went through."""
        patches = [update for update in self.of(ToolCallUpdateEvent) if update.tool_call_id == call]
        return [str(patch.status) for patch in patches if isinstance(patch.status, str)]


@asynccontextmanager
async def opened(
    root: Path,
    *steps: Step,
    protocol: int = 1,
    person: Person | None = None,
    models: Scripted | None = None,
    servers: Sequence[McpServer] = (),
    **more: Any,
) -> AsyncIterator[tuple[Session, Person, Scripted]]:
    """A session in a folder with a model that plays the steps."""
    models = models or Scripted(*steps)
    person = person or Person()
    agent = CodingAgent(models=models, **more)
    async with connected(agent, person, protocol=protocol) as connection:  # type: ignore[arg-type]
        yield await connection.new_session(root, mcp_servers=servers), person, models


async def take_turn(session: Session, prompt: Any = "go") -> StopReason | None:
    """One turn to its end; why it ended."""
    turn = session.prompt(prompt)
    async for _ in turn:
        pass
    return turn.stop_reason


def said(session: Session) -> list[str]:
    """The messages of the agent, each as text."""
    return [message.text for message in session.transcript.messages if message.role.value == "agent"]
