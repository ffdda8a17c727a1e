"""A sound agent that does all that probes look for, in one process with the check and without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from duologue import Agent, Transcript, Turn
from duologue.agent import Session, unknown_session
from duologue.check.agents.words import HELLO, READ, RUN, SLEEP, TOUCH, WRITE
from duologue.protocol import v2
from duologue.protocol.common.session import ListSessionsRequest, ListSessionsResponse, SessionInfo

MODES = ("ask", "read_only")


class Store:
    """What outlives a connection: sessions by id, each with its folder and what was said."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, Transcript]] = {}


class SampleAgent(Agent):
    name = "sample"
    version = "1"
    additional_directories = True

    def __init__(self, store: Store) -> None:
        self.store = store

    def auth_methods(self) -> Sequence[v2.AuthMethod]:
        return [v2.AgentAuthMethod(method_id="browser", name="Log in with the browser")]

    async def login(self, method_id: str) -> None:
        """Nothing is shut."""

    async def logout(self) -> None:
        """Nothing is shut."""

    def mcp_capabilities(self) -> v2.McpCapabilities:
        return v2.McpCapabilities(stdio=v2.McpStdioCapabilities(), http=v2.McpHttpCapabilities())

    async def new_session(self, session: Session) -> None:
        session.state = MODES[0]
        self.store.kept[session.id] = (str(session.cwd), Transcript())

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        if session.id not in self.store.kept:
            raise unknown_session(session.id)
        session.state = session.state or MODES[0]
        if replay:
            for update in self.store.kept[session.id][1].updates():
                await session.update(update)

    async def list_sessions(self, request: ListSessionsRequest) -> ListSessionsResponse:
        from duologue.agent.listing import list_page

        infos = [SessionInfo(session_id=id, cwd=cwd) for id, (cwd, _) in self.store.kept.items()]
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
