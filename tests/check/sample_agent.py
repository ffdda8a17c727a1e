"""A sound agent that does all that probes look for, in one process with the check and without a model."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from duologue import Agent, Transcript, Turn
from duologue.agent import Session, unknown_session
from duologue.agent.nes import Nes, NesRequest, NesSession
from duologue.agent.providers import Endpoint, Provider, Providers
from duologue.check.agents.words import HELLO, READ, RUN, SLEEP, TOUCH, WRITE
from duologue.documents import TextEdit
from duologue.errors import DuologueError
from duologue.mcp import McpChannel
from duologue.protocol import v2
from duologue.protocol.common.mcp import AcpMcpServer
from duologue.protocol.common.providers import LlmProtocol
from duologue.protocol.common.session import ListSessionsRequest, ListSessionsResponse, SessionInfo

MODES = ("ask", "read_only")


FIRST = Endpoint(LlmProtocol.OPENAI, "https://models.example.org/v1")


class Store:
    """What outlives a connection: sessions by id, each with its folder and what was said, and their further roots."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, Transcript]] = {}
        self.roots: dict[str, list[str]] = {}


class Brackets(Nes):
    """Suggests something of every kind at the cursor."""

    async def suggest(self, session: NesSession, request: NesRequest) -> Sequence[v2.NesSuggestion]:
        if request.offset is None:
            return []
        cursor = request.offset
        closing = request.edit(TextEdit(cursor, cursor, ")"))
        return [closing, request.jump(0), request.rename(0, "x"), request.search_and_replace("a", "b")]


class SampleAgent(Agent):
    name = "sample"
    version = "1"
    additional_directories = True

    def __init__(self, store: Store) -> None:
        self.store = store
        self.nes = Brackets()
        self.providers = Providers(
            Provider("main", [LlmProtocol.OPENAI], FIRST),
            Provider("spare", [LlmProtocol.ANTHROPIC], required=True),
        )

    def auth_methods(self) -> Sequence[v2.AuthMethod]:
        return [v2.AgentAuthMethod(method_id="browser", name="Log in with the browser")]

    async def login(self, method_id: str) -> None:
        """Nothing is shut."""

    async def logout(self) -> None:
        """Nothing is shut."""

    def mcp_capabilities(self) -> v2.McpCapabilities:
        return v2.McpCapabilities(
            stdio=v2.McpStdioCapabilities(), http=v2.McpHttpCapabilities(), acp=v2.McpAcpCapabilities()
        )

    async def new_session(self, session: Session) -> None:
        self._keep(session, Transcript())
        for server in session.mcp_servers:
            match server:
                case v2.StdioMcpServer():
                    await self._start(server)
                case AcpMcpServer():
                    await self._borrow(server)

    def _keep(self, session: Session, transcript: Transcript) -> None:
        session.state = MODES[0]
        self.store.kept[session.id] = (str(session.cwd), transcript)
        self.store.roots[session.id] = [str(root) for root in session.roots[1:]]

    async def _start(self, server: v2.StdioMcpServer) -> None:
        env = {each.name: each.value for each in server.env or ()}
        with contextlib.suppress(OSError):
            nothing = asyncio.subprocess.DEVNULL
            process = await asyncio.create_subprocess_exec(server.command, *server.args or (), env=env, stdin=nothing)
            await process.wait()

    async def _borrow(self, server: AcpMcpServer) -> None:
        channel = await self.connection.mcp.connect(server)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "sample", "version": "1"}}
        await channel.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        await channel.receive()
        await channel.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._serving = asyncio.create_task(self._answer(channel))

    async def _answer(self, channel: McpChannel) -> None:
        async for message in channel:
            known = message.get("method") == "ping"
            part = {"result": {}} if known else {"error": {"code": -32601, "message": "Method not found"}}
            with contextlib.suppress(DuologueError):
                await channel.send({"jsonrpc": "2.0", "id": message["id"], **part})

    async def fork_session(self, session: Session, source_id: str) -> None:
        if source_id not in self.store.kept:
            raise unknown_session(source_id)
        copied = Transcript()
        for update in self.store.kept[source_id][1].updates():
            copied.apply(update)
        self._keep(session, copied)

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        if session.id not in self.store.kept:
            raise unknown_session(session.id)
        session.state = session.state or MODES[0]
        self.store.roots[session.id] = [str(root) for root in session.roots[1:]]
        if replay:
            for update in self.store.kept[session.id][1].updates():
                await session.update(update)

    async def list_sessions(self, request: ListSessionsRequest) -> ListSessionsResponse:
        from duologue.agent.listing import list_page

        infos = [
            SessionInfo(session_id=id, cwd=cwd, additional_directories=self.store.roots[id])
            for id, (cwd, _) in self.store.kept.items()
        ]
        return list_page(infos, request)

    async def delete_session(self, session_id: str) -> None:
        self.store.kept.pop(session_id, None)

    def config_options(self, session: Session) -> Sequence[v2.SessionConfigOption]:
        choices = [v2.SessionConfigSelectOption(value=mode, name=mode) for mode in MODES]
        category = v2.SessionConfigOptionCategory.MODE
        return [
            v2.SelectConfigOption(
                config_id="mode", name="Mode", category=category, current_value=session.state, options=choices
            )
        ]

    async def set_config_option(self, session: Session, config_id: str, value: str | bool) -> None:
        session.state = value

    async def prompt(self, turn: Turn) -> None:
        transcript = self.store.kept[turn.session.id][1]
        user = v2.UserMessageEvent(message_id=turn.session.next_id("user"), content=list(turn.prompt or ()))
        transcript.apply(user)
        await self._ask_model()
        match turn.text:
            case text if text.startswith(HELLO):
                answer = v2.AgentMessageChunk(
                    message_id=turn.session.next_id("message"), content=v2.TextBlock(text="Hello.")
                )
                transcript.apply(answer)
                await turn.update(answer)
            case text if text == READ:
                async with turn.tool_call("Read notes.txt", kind=v2.ToolKind.READ) as call:
                    await call.text((turn.session.cwd / "notes.txt").read_text())
            case text if text == WRITE:
                path = turn.session.cwd / "made.txt"
                async with turn.tool_call("Write made.txt", kind=v2.ToolKind.EDIT, locations=[path]) as call:
                    await call.diff(path, None, "hello\n")
                    if await call.ask_permission():
                        path.write_text("hello\n")
            case text if text in (RUN, TOUCH, SLEEP):
                await self._command(turn, turn.session.cwd)
            case _:
                await turn.say("I do not know what to do.")

    async def _ask_model(self) -> None:
        """Ask the model, which is not needed."""
        assert self.providers is not None
        endpoint = self.providers["main"]
        if endpoint is None or endpoint is FIRST:
            return
        place = urlsplit(endpoint.base_url)
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            headers = "".join(f"{name}: {value}\r\n" for name, value in endpoint.headers.items())
            writer.write(f"POST {place.path} HTTP/1.1\r\n{headers}\r\n".encode())
            await reader.read()
            writer.close()

    async def _command(self, turn: Turn, folder: Path) -> None:
        async with turn.tool_call("Run a command", kind=v2.ToolKind.EXECUTE) as call:
            if not await call.ask_permission():
                await call.fail("not allowed")
                return
            await call.start()
            if turn.text == TOUCH:
                (folder / "touched.txt").touch()
            elif turn.text == SLEEP:
                await asyncio.Event().wait()
            terminal = await call.terminal("echo duologue-check", folder)
            await terminal.write(b"duologue-check\n")
            await terminal.exited(0)
