"""What the tests of remote models share: the two wire formats, a model on a wire server, a request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from msgspec.structs import replace
from wire_server import WireServer

from duologue.coder.models.base import ChatMessage, ModelEvent, ModelRequest, StepEnded, ToolSpec, UserMessage
from duologue.coder.models.config import Wire
from duologue.coder.models.keys import Secret
from duologue.coder.models.remote import RemoteModel
from duologue.coder.models.settings import Endpoint, RemoteSettings

KEY = "sk-test-0123456789abcdef"
WIRES = (Wire.OPENAI, Wire.ANTHROPIC)
READ_FILE = ToolSpec(
    "read_file",
    "Read a file",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def model_on(
    server: WireServer, wire: Wire, *, provider: str = "home", own: bool = False, **changes: Any
) -> RemoteModel:
    base = f"{server.root}/v1" if wire is Wire.OPENAI else server.root
    endpoint = Endpoint(provider, wire, base, Secret(KEY), "HOME_KEY", own)
    model = RemoteModel(replace(RemoteSettings(endpoint, "wire-model", retry_delay=0.01), **changes))
    server.clients.append(model.close)
    return model


def ask(*messages: ChatMessage, tools: tuple[ToolSpec, ...] = (READ_FILE,)) -> ModelRequest:
    return ModelRequest("conversation-1", "Be brief.", messages or (UserMessage("Hello"),), tools, "/tmp")


async def collect(events: AsyncIterator[ModelEvent]) -> list[ModelEvent]:
    return [event async for event in events]


def ended(events: list[ModelEvent]) -> StepEnded:
    last = events[-1]
    assert isinstance(last, StepEnded)
    return last
