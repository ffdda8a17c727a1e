"""The coder's history as the model library's messages, and the library's answer as the coder's.

Provider state that must come back unchanged (thinking signatures, redacted thinking, the order of the parts) travels in
`AssistantMessage.signature` as a JSON value, so a stored conversation can go on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_core import to_jsonable_python

from duologue.coder.models.base import AssistantMessage, ChatMessage, ToolCall, ToolResult, UserMessage

CALL_STATE = ("provider_name", "provider_details")
THINKING_STATE = ("id", "signature", *CALL_STATE)
NO_RESULT = "No result: the turn was stopped before this call ended."


def to_history(messages: Sequence[ChatMessage], provider: str) -> list[ModelMessage]:
    """The messages in the shape every provider accepts: roles alternate, each call is followed by its one result.

    A call without a result (a turn that was cancelled) gets one that says so; a result without a call is left out.
    """
    history: list[ModelMessage] = []
    open_calls: tuple[ToolCall, ...] = ()
    since: list[UserMessage | ToolResult] = []
    for message in messages:
        if not isinstance(message, AssistantMessage):
            since.append(message)
            continue
        if not (message.text.strip() or message.calls):
            continue  # a step that was stopped while it only thought; providers refuse it
        _append_request(history, since, open_calls)
        history.append(_response(message, provider))
        open_calls, since = message.calls, []
    _append_request(history, since, open_calls)
    return history


def _append_request(
    history: list[ModelMessage], since: Iterable[UserMessage | ToolResult], calls: tuple[ToolCall, ...]
) -> None:
    since = list(since)
    results = {item.call: item for item in reversed(since) if isinstance(item, ToolResult)}
    parts: list[ToolReturnPart | UserPromptPart] = [_result_part(call, results.get(call.id)) for call in calls]
    if content := _content([item for item in since if isinstance(item, UserMessage)]):
        parts.append(UserPromptPart(content))
    if parts:
        history.append(ModelRequest(parts=parts))


def _result_part(call: ToolCall, result: ToolResult | None) -> ToolReturnPart:
    if result is None:
        return ToolReturnPart(call.name, NO_RESULT, call.id, outcome="failed")
    return ToolReturnPart(call.name, result.text, call.id, outcome="success" if result.ok else "failed")


def _content(users: Sequence[UserMessage]) -> str | list[UserContent]:
    if not any(user.images for user in users):
        return "\n\n".join(user.text for user in users if user.text)
    content: list[UserContent] = []
    for user in users:
        if user.text:
            content.append(user.text)
        content.extend(BinaryContent(data=image.data, media_type=image.media_type) for image in user.images)
    return content


def _response(message: AssistantMessage, provider: str) -> ModelResponse:
    state = message.signature if isinstance(message.signature, dict) else {}
    if state.get("provider") != provider:
        return ModelResponse(parts=_plain_parts(message))
    return ModelResponse(
        parts=_signed_parts(message, state.get("parts") or ()) or _plain_parts(message),
        model_name=state.get("model"),
        provider_name=provider,
        canonical_system=state.get("system"),
        provider_details=state.get("details"),
    )


def _plain_parts(message: AssistantMessage) -> list[ModelResponsePart]:
    """What any provider understands: thinking of another provider is not shown to this one."""
    text: list[ModelResponsePart] = [TextPart(message.text)] if message.text.strip() else []
    return text + [_call_part(call) for call in message.calls]


def _signed_parts(message: AssistantMessage, layout: Iterable[dict[str, Any]]) -> list[ModelResponsePart]:
    """The parts in their first order, or nothing when the message was changed since and the layout no longer fits."""
    parts: list[ModelResponsePart] = []
    text, calls = message.text, list(message.calls)
    for item in layout:
        match item:
            case {"thinking": {"content": str(), **fields}}:
                parts.append(ThinkingPart(item["thinking"]["content"], **_picked(fields, THINKING_STATE)))
            case {"text": int(length)} if len(text) >= length:
                parts.extend([TextPart(text[:length])] if text[:length].strip() else [])
                text = text[length:]
            case {"call": dict(fields)} if calls:
                parts.append(_call_part(calls.pop(0), **_picked(fields, CALL_STATE)))
            case _:
                return []
    return [] if text or calls else parts


def _picked(fields: Mapping[Any, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: fields[name] for name in names if fields.get(name) is not None}


def _call_part(call: ToolCall, **fields: Any) -> ToolCallPart:
    return ToolCallPart(call.name, call.arguments, call.id, **fields)


def to_message(response: ModelResponse) -> AssistantMessage:
    """The answer as one message of the history."""
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    thoughts = [part.content for part in response.parts if isinstance(part, ThinkingPart)]
    calls = tuple(_call(part) for part in response.parts if isinstance(part, ToolCallPart))
    return AssistantMessage("".join(texts), "".join(thoughts), calls, _signature(response))


def _signature(response: ModelResponse) -> dict[str, Any]:
    layout = [item for part in response.parts if (item := _layout(part))]
    state = {
        "provider": response.provider_name,
        "model": response.model_name,
        "system": response.canonical_system,
        "details": {k: v for k, v in (response.provider_details or {}).items() if k == "input_transformations"} or None,
        "parts": layout,
    }
    kept: dict[str, Any] = to_jsonable_python(state, fallback=str)
    return kept


def _layout(part: ModelResponsePart) -> dict[str, Any] | None:
    match part:
        case ThinkingPart() if part.content or part.signature:
            return {"thinking": {"content": part.content, **_picked(vars(part), THINKING_STATE)}}
        case TextPart() if part.content:
            return {"text": len(part.content)}
        case ToolCallPart():
            return {"call": _picked(vars(part), CALL_STATE)}
        case _:
            return None


def _call(part: ToolCallPart) -> ToolCall:
    arguments, error = parse_arguments(part.args)
    return ToolCall(part.tool_call_id, part.tool_name, arguments, error)


def parse_arguments(raw: str | dict[str, Any] | None) -> tuple[dict[str, Any], str | None]:
    """The arguments of a call as an object, or an empty one and what is wrong, in words the model can act on."""
    if not isinstance(raw, dict) and (not raw or not raw.strip()):
        return {}, None
    try:
        value = raw if isinstance(raw, dict) else json.loads(raw)
        # What Python reads beyond JSON, NaN and 1e999, no server of tools could read.
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not valid JSON ({error}); send the call again with one JSON object"
    if not isinstance(value, dict):
        return {}, f"the arguments must be one JSON object, not {type(value).__name__}"
    return value, None
