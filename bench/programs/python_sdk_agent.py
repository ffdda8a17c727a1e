"""The measured agent on the official Python SDK: streams chunks or asks for permissions as the prompt says."""

import asyncio
from typing import Any

import acp
from acp.schema import AgentCapabilities, PermissionOption, ToolCallUpdate

LIMIT = 256 * 1024 * 1024
OPTIONS = [
    PermissionOption(option_id="allow", name="Allow", kind="allow_once"),
    PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
]


class Measured(acp.Agent):
    client: acp.Client

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities.model_validate({"sessionCapabilities": {"list": {}}}),
        )

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        return acp.NewSessionResponse(session_id="s")

    async def list_sessions(self, **_: Any) -> acp.schema.ListSessionsResponse:
        return acp.schema.ListSessionsResponse(sessions=[])

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> acp.PromptResponse:
        match prompt[0].text[:64].split():
            case ["stream", count, size]:
                await self.stream(session_id, int(count), int(size))
            case ["roundtrip", count, in_flight]:
                each = int(count) // int(in_flight)
                await asyncio.gather(*(self.ask(session_id, each) for _ in range(int(in_flight))))
        return acp.PromptResponse(stop_reason="end_turn")

    async def stream(self, session_id: str, count: int, size: int) -> None:
        text = "x" * size
        for _ in range(count):
            await self.client.session_update(session_id=session_id, update=acp.update_agent_message_text(text))

    async def ask(self, session_id: str, count: int) -> None:
        for _ in range(count):
            call = ToolCallUpdate(tool_call_id="c", title="Write a file")
            await self.client.request_permission(session_id=session_id, tool_call=call, options=OPTIONS)


asyncio.run(acp.run_agent(Measured(), stdio_buffer_limit_bytes=LIMIT))
