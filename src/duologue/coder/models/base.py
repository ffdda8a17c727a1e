"""The interface between the coder's loop and a model: one request in, a stream of small events out.

A model is asked once per step. It streams text, thoughts and tool calls and then ends; the loop runs the calls,
appends their results to the history and asks again, until a step has no tool call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal, Protocol

import msgspec

from duologue.errors import DuologueError


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class ImagePart(msgspec.Struct, frozen=True):
    data: bytes
    media_type: str


class UserMessage(msgspec.Struct, frozen=True):
    text: str
    images: tuple[ImagePart, ...] = ()


class ToolCall(msgspec.Struct, frozen=True):
    """A call the model asks for; `arguments` is the parsed object (empty and `error` set when it cannot be used)."""

    id: str
    name: str
    arguments: dict[str, Any]
    error: str | None = None


class AssistantMessage(msgspec.Struct, frozen=True):
    """One step of the model: what it said, thought and asked for. `signature` is opaque provider state."""

    text: str = ""
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    signature: Any = None


class ToolResult(msgspec.Struct, frozen=True):
    """What a call gave. `data` has the structured result for models that read structures (the offline one)."""

    call: str
    tool: str
    text: str
    ok: bool = True
    data: Any = None


ChatMessage = UserMessage | AssistantMessage | ToolResult


class ModelRequest(msgspec.Struct, frozen=True):
    """Everything a model needs for one step. `conversation` names the session, stable over its steps and turns;
    `starting` are MCP servers whose tools are not there yet."""

    conversation: str
    system: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...]
    cwd: str
    starting: tuple[str, ...] = ()


class TextDelta(msgspec.Struct, frozen=True):
    text: str


class ThoughtDelta(msgspec.Struct, frozen=True):
    text: str


class CallDelta(msgspec.Struct, frozen=True):
    """A piece of a tool call was written. Nothing of it is shown before it is whole; but the step has begun, so that it
    is not asked for again when it breaks, and between two pieces it can be cancelled."""

    id: str
    name: str


class Usage(msgspec.Struct, frozen=True):
    """Tokens of this step; `context_size` is the model's window when known."""

    input_tokens: int
    output_tokens: int
    thought_tokens: int = 0
    cached_read_tokens: int = 0
    cached_write_tokens: int = 0
    context_size: int | None = None
    cost: float | None = None


class StepEnded(msgspec.Struct, frozen=True):
    """The last event of a step. `calls` empty means that the turn may end."""

    message: AssistantMessage
    reason: Literal["stop", "tool_calls", "length", "refusal"] = "stop"


ModelEvent = TextDelta | ThoughtDelta | CallDelta | Usage | StepEnded


class ModelError(DuologueError):
    """The model could not answer. `summary`: one line for a person, free of secrets; `retryable`: a retry may help."""

    def __init__(self, summary: str, *, retryable: bool = False, status: int | None = None) -> None:
        super().__init__(summary)
        self.summary = summary
        self.retryable = retryable
        self.status = status


class Model(Protocol):
    """A model. `stream` is cancelled by closing the iterator or cancelling the task that reads it."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]: ...
