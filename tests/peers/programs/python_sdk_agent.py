"""An agent on the official Python SDK. The first word of a prompt says what it does; see README.md above."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import acp
import acp.helpers
from acp.schema import (
    AgentCapabilities,
    ClientCapabilities,
    ElicitationFormSessionMode,
    Implementation,
    PermissionOption,
    SessionConfigOptionSelect,
    SessionMode,
    SessionModeState,
    ToolCallUpdate,
)

OPTIONS = [
    PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
    PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
]
NAME_FORM = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]}


class Refused(Exception):
    """The turn ends early with this stop reason."""


def config_options(value: str) -> list[SessionConfigOptionSelect]:
    option = {
        "id": "effort",
        "name": "Effort",
        "type": "select",
        "currentValue": value,
        "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
    }
    return [SessionConfigOptionSelect.model_validate(option)]


class PeerAgent(acp.Agent):
    client: Any
    offers = ClientCapabilities()

    def __init__(self) -> None:
        self.cancelled: dict[str, asyncio.Event] = {}
        self.folders: dict[str, Path] = {}

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: ClientCapabilities | None = None, **_: Any
    ) -> acp.InitializeResponse:
        self.offers = client_capabilities or self.offers
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_info=Implementation(name="python-sdk-agent", version="1"),
            agent_capabilities=AgentCapabilities(),
        )

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        session_id = f"session-{len(self.folders) + 1}"
        self.folders[session_id] = Path(cwd)
        modes = SessionModeState(
            current_mode_id="ask",
            available_modes=[SessionMode(id="ask", name="Ask"), SessionMode(id="code", name="Code")],
        )
        return acp.NewSessionResponse(session_id=session_id, modes=modes, config_options=config_options("low"))

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> acp.SetSessionModeResponse:
        update = acp.helpers.update_current_mode(mode_id)
        await self.client.session_update(session_id=session_id, update=update)
        return acp.SetSessionModeResponse()

    async def set_config_option(self, config_id: str, session_id: str, value: Any, **_: Any) -> Any:
        return acp.schema.SetSessionConfigOptionResponse(config_options=config_options(value))

    async def cancel(self, session_id: str, **_: Any) -> None:
        if session_id in self.cancelled:
            self.cancelled[session_id].set()

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> acp.PromptResponse:
        self.cancelled[session_id] = asyncio.Event()
        word, _, rest = prompt[0].text.partition(" ")
        acts: dict[str, Callable[[str, str], Awaitable[None]]] = {
            "hello": self.hello,
            "edit": self.edit,
            "read": self.read,
            "run": self.run,
            "plan": self.plan,
            "ask": self.ask,
            "wait": self.wait,
        }
        try:
            await acts.get(word, self.hello)(session_id, rest)
        except Refused as refused:
            return acp.PromptResponse(stop_reason=str(refused))
        return acp.PromptResponse(stop_reason="end_turn")

    async def say(self, session_id: str, text: str) -> None:
        await self.client.session_update(session_id=session_id, update=acp.update_agent_message_text(text))

    async def hello(self, session_id: str, rest: str) -> None:
        await self.client.session_update(session_id=session_id, update=acp.update_agent_thought_text("hm"))
        for text in ("Hel", "lo"):
            await self.say(session_id, text)

    async def edit(self, session_id: str, rest: str) -> None:
        path = self.folders[session_id] / rest
        old = path.read_text(encoding="utf-8") if path.exists() else None
        diff = acp.tool_diff_content(str(path), "new text\n", old)
        call = acp.start_tool_call("edit-1", f"Edit {rest}", kind="edit", status="pending", content=[diff])
        await self.client.session_update(session_id=session_id, update=call)
        await self.permission(session_id, "edit-1", f"Edit {rest}")
        if self.offers.fs and self.offers.fs.write_text_file:
            await self.client.write_text_file(session_id=session_id, path=str(path), content="new text\n")
        else:
            path.write_text("new text\n", encoding="utf-8")
        done = acp.update_tool_call("edit-1", status="completed")
        await self.client.session_update(session_id=session_id, update=done)
        await self.say(session_id, "edited")

    async def permission(self, session_id: str, call_id: str, title: str) -> None:
        """Raises Refused when the client cancels; says so and fails the call when it rejects."""
        subject = ToolCallUpdate(tool_call_id=call_id, title=title)
        answer = await self.client.request_permission(session_id=session_id, tool_call=subject, options=OPTIONS)
        if answer.outcome.outcome == "selected" and answer.outcome.option_id == "allow":
            running = acp.update_tool_call(call_id, status="in_progress")
            await self.client.session_update(session_id=session_id, update=running)
            return
        failed = acp.update_tool_call(call_id, status="failed")
        await self.client.session_update(session_id=session_id, update=failed)
        await self.say(session_id, "refused")
        raise Refused("cancelled" if answer.outcome.outcome == "cancelled" else "end_turn")

    async def read(self, session_id: str, rest: str) -> None:
        path = str(self.folders[session_id] / rest)
        file = await self.client.read_text_file(session_id=session_id, path=path)
        await self.say(session_id, file.content)

    async def run(self, session_id: str, rest: str) -> None:
        command, *args = rest.split()
        terminal = await self.client.create_terminal(
            session_id=session_id, command=command, args=args, cwd=str(self.folders[session_id])
        )
        reference = acp.tool_terminal_ref(terminal.terminal_id)
        call = acp.start_tool_call("run-1", rest, kind="execute", status="in_progress", content=[reference])
        await self.client.session_update(session_id=session_id, update=call)
        named = {"session_id": session_id, "terminal_id": terminal.terminal_id}
        status = await self.client.wait_for_terminal_exit(**named)
        shown = await self.client.terminal_output(**named)
        await self.client.release_terminal(**named)
        done = acp.update_tool_call("run-1", status="completed")
        await self.client.session_update(session_id=session_id, update=done)
        await self.say(session_id, f"{status.exit_code}: {shown.output}")

    async def plan(self, session_id: str, rest: str) -> None:
        for first, second in (("in_progress", "pending"), ("completed", "completed")):
            entries = [acp.plan_entry("look", status=first), acp.plan_entry("leap", priority="high", status=second)]
            await self.client.session_update(session_id=session_id, update=acp.update_plan(entries))

    async def ask(self, session_id: str, rest: str) -> None:
        mode = ElicitationFormSessionMode.model_validate({"sessionId": session_id, "requestedSchema": NAME_FORM})
        answer = await self.client.create_elicitation(message="Who are you?", mode=mode)
        accepted = answer.action == "accept"
        await self.say(session_id, f"Hello {answer.content['name']}" if accepted else answer.action)

    async def wait(self, session_id: str, rest: str) -> None:
        await self.say(session_id, "waiting")
        await self.cancelled[session_id].wait()
        raise Refused("cancelled")


asyncio.run(acp.run_agent(PeerAgent(), use_unstable_protocol=True))
