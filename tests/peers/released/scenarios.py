"""What every released agent is tried with, by the public client. A scenario returns when all is well or raises
`Remark`, raises `Skip` where the agent does not offer it, and fails otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

from catalog import Released
from model_server import ModelServer

from duologue.client import (
    Client,
    ClientConnection,
    LocalTerminals,
    NotOffered,
    PromptTurn,
    Session,
    allowance,
    connect,
    refusal,
)
from duologue.jsonrpc.errors import JsonRpcError
from duologue.local.rules import Subject
from duologue.peer import ConnectionClosed
from duologue.peer.message_log import MessageLog
from duologue.protocol.common.content import ImageBlock, TextBlock
from duologue.protocol.common.permission import RequestPermissionOutcome
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.v2.config import SelectConfigOption, offered_values
from duologue.protocol.v2.mcp import StdioMcpServer
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.table import SESSION_RESUME
from duologue.protocol.v2.updates import AgentMessageChunk
from duologue.session import ToolCallState
from duologue.transports.spawn import SpawnTransport

#: How long a start and a turn may take, in seconds.
START, TURN = 120.0, 60.0

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Skip(Exception):
    """The agent does not offer what the scenario is about."""


class Remark(Exception):
    """All is well, but for something that a reader should know."""


class Answering(Client):
    """Answers as told when it is asked for permission, and when a command is to run in its terminal."""

    name = "duologue-peers"

    def __init__(self, answer: Literal["allow", "reject", "wait"] = "allow") -> None:
        self._answer = answer
        self.pending = asyncio.Event()

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        self.pending.set()
        if self._answer == "wait":
            await asyncio.Event().wait()
        return allowance(request) if self._answer == "allow" else refusal(request)

    async def confirm(self, session: Session, subject: Subject) -> bool:
        self.pending.set()
        if self._answer == "wait":
            await asyncio.Event().wait()
        return self._answer == "allow"


class Lab:
    """One agent in one version, with a model, a home and a project of its own; `record` gets every message."""

    def __init__(self, agent: Released, version: int, model: ModelServer, folder: Path, record: Path) -> None:
        self.agent = agent
        self.model = model
        self.project = folder / "project"
        self._version = version
        self._home = folder / "home"
        self._log = MessageLog(record)
        self.project.mkdir(parents=True)
        self._home.mkdir()
        (self.project / "notes.md").write_text("# Notes\n", encoding="utf-8")

    @contextlib.asynccontextmanager
    async def connected(self, client: Client | None = None) -> AsyncIterator[ClientConnection]:
        environment = self.agent.environment(self.model.url, self._home)
        who = client or Answering()
        if self.agent.uses_terminal:
            who.terminals = LocalTerminals()
        protocol: Any = self._version
        async with connect(
            self.agent.command,
            who,
            protocol=protocol,
            cwd=self.project,
            env=environment,
            trace=self._log,
            startup_seconds=START,
        ) as connection:
            yield connection

    @contextlib.asynccontextmanager
    async def session(self, client: Client | None = None, **more: Any) -> AsyncIterator[Session]:
        async with self.connected(client) as connection:
            session = await asyncio.wait_for(connection.new_session(self.project, **more), START)
            if self.agent.asking_mode:
                await session.set_config_option(*self.agent.asking_mode)
            yield session

    def close(self) -> None:
        self._log.close()


async def finish(turn: PromptTurn) -> str:
    """Iterate a turn to its end; its stop reason."""
    async with asyncio.timeout(TURN):
        async for _ in turn:
            pass
    return str(turn.stop_reason)


def calls(session: Session) -> list[ToolCallState]:
    return list(session.transcript.tool_calls.values())


def process_of(session: Session) -> int:
    transport = session.connection.peer.link.transport
    assert isinstance(transport, SpawnTransport)
    assert transport.pid is not None
    return transport.pid


def said(session: Session) -> str:
    return "\n".join(message.text for message in session.transcript.messages)


# --- the scenarios ----------------------------------------------------------------------------------------------------


async def text(lab: Lab) -> None:
    async with lab.session() as session, asyncio.timeout(TURN):
        turn = session.prompt("[[say the answer of the model]]")
        assert "the answer of the model" in await turn.text()
        assert turn.stop_reason == "end_turn"


async def tool_allowed(lab: Lab) -> None:
    async with lab.session(Answering("allow")) as session:
        assert await finish(session.prompt(lab.agent.run("echo duologue > made.txt"))) == "end_turn"
        assert any(call.status == "completed" for call in calls(session)), calls(session)
        assert (lab.project / "made.txt").read_text().strip() == "duologue"


async def tool_rejected(lab: Lab) -> None:
    client = Answering("reject")
    async with lab.session(client) as session:
        await finish(session.prompt(lab.agent.run("echo duologue > made.txt")))
        if not client.pending.is_set():
            raise Skip("asked for no permission")
        assert not (lab.project / "made.txt").exists()
        if any(call.status == "completed" and call.kind == ToolKind.EXECUTE for call in calls(session)):
            raise Remark("the call that was refused is told as completed")


async def cancelled_while_asking(lab: Lab) -> None:
    client = Answering("wait")
    async with lab.session(client) as session:
        turn = session.prompt(lab.agent.run("echo duologue > made.txt"))
        ending = asyncio.ensure_future(finish(turn))
        asking = asyncio.ensure_future(client.pending.wait())
        await asyncio.wait({ending, asking}, return_when=asyncio.FIRST_COMPLETED)
        if not client.pending.is_set():
            await ending
            raise Skip("asked for no permission")
        await turn.cancel()
        assert await ending == "cancelled"
        assert not (lab.project / "made.txt").exists()


async def cancelled_while_speaking(lab: Lab) -> None:
    async with lab.session() as session, asyncio.timeout(TURN):
        turn = session.prompt("[[slow 100 0.1]]")
        seen = 0
        async for update in turn:
            if isinstance(update, AgentMessageChunk) and not seen:
                seen += 1
                await turn.cancel()
        assert turn.stop_reason == "cancelled"
        assert "the model still answers" in await session.prompt("[[say the model still answers]]").text()


async def reopened_after_a_restart(lab: Lab) -> None:
    async with lab.session() as session, asyncio.timeout(TURN):
        await session.prompt("[[say something to remember]]").text()
        name = session.id
    async with lab.connected() as connection, asyncio.timeout(TURN):
        if not connection.offers(SESSION_RESUME):
            raise Skip("cannot reopen sessions")
        again = await connection.resume_session(name, lab.project, replay=True)
        assert "something to remember" in said(again)
        assert "and on it goes" in await again.prompt("[[say and on it goes]]").text()


async def config_changed(lab: Lab) -> None:
    async with lab.session() as session, asyncio.timeout(TURN):
        for option in session.config_options:
            if not isinstance(option, SelectConfigOption) or option.category == "model":
                continue
            values = [offered.value for offered in offered_values(option)]
            other = next((value for value in values if value != option.current_value), None)
            if other is not None:
                changed = await session.set_config_option(option.config_id, other)
                selects = [new for new in changed if isinstance(new, SelectConfigOption)]
                assert [new.current_value for new in selects if new.config_id == option.config_id] == [other]
                return
        raise Skip("has no option with a choice")


async def image(lab: Lab) -> None:
    async with lab.connected() as connection, asyncio.timeout(TURN):
        session = await connection.new_session(lab.project)
        block = ImageBlock(data=PIXEL, mime_type="image/png")
        try:
            assert "I see" in await session.prompt([block, TextBlock(text="[[say I see]]")]).text()
        except NotOffered as error:
            raise Skip("takes no images") from error
        assert any(PIXEL in str(asked["body"]) for asked in lab.model.asked)


async def mcp_tool(lab: Lab) -> None:
    script = Path(__file__).parent / "mcp_echo.py"
    server = StdioMcpServer(name="duologue", command=sys.executable, args=[str(script)], env=[])
    async with lab.session(mcp_servers=[server]) as session, asyncio.timeout(TURN):
        for _ in range(5):
            # Some load the servers behind the back of the first prompt.
            await session.prompt(lab.agent.look_for_tools).text()
            if any("duologue_echo" in str(asked["body"]) for asked in lab.model.asked):
                return
            await asyncio.sleep(1)
        raise AssertionError("the model was never told of the tool of the MCP server")


async def killed_while_speaking(lab: Lab) -> None:
    async with lab.session() as session, asyncio.timeout(TURN):
        turn = session.prompt("[[slow 100 0.1]]")
        with contextlib.suppress(ConnectionClosed):
            async for update in turn:
                if isinstance(update, AgentMessageChunk):
                    os.killpg(os.getpgid(process_of(session)), signal.SIGKILL)
            raise AssertionError("the turn ended as if nothing had happened")


async def second_prompt_while_busy(lab: Lab) -> None:
    async with lab.session() as session:
        first, second = session.prompt("[[slow 10 0.1]]"), session.prompt("[[say the second answer]]")
        running = asyncio.ensure_future(finish(first))
        await asyncio.sleep(0.3)
        assert await finish(second) == "end_turn"
        assert await running in ("end_turn", "cancelled")
        assert "the second answer" in said(session)


async def ten_megabytes(lab: Lab) -> None:
    async with lab.session() as session, asyncio.timeout(2 * TURN):
        with contextlib.suppress(JsonRpcError):
            await session.prompt("x" * 10_000_000 + "[[say that was long]]").text()
        # It may refuse so much; what counts is that it goes on.
        after = await session.connection.new_session(lab.project)
        assert "still here" in await after.prompt("[[say still here]]").text()


Scenario = Callable[[Lab], Awaitable[None]]

SCENARIOS: tuple[Scenario, ...] = (
    text,
    tool_allowed,
    tool_rejected,
    cancelled_while_asking,
    cancelled_while_speaking,
    reopened_after_a_restart,
    config_changed,
    image,
    mcp_tool,
    killed_while_speaking,
    second_prompt_while_busy,
    ten_megabytes,
)
