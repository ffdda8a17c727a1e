"""What a model is told of the conversation so far, also when it was cut short, edited, or held with another model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ThinkingPart, ToolCallPart

from duologue.coder.models.base import AssistantMessage, ChatMessage, ImagePart, ToolCall, ToolResult, UserMessage
from duologue.coder.models.convert import NO_RESULT, parse_arguments, to_history, to_message

LOOK = AssistantMessage("Looking", calls=(ToolCall("c1", "read_file", {}), ToolCall("c2", "read_file", {})))
THINKING = ModelResponse(
    parts=[
        TextPart("One. "),
        ThinkingPart("Hm.", signature="c2ln", provider_name="anthropic"),
        ToolCallPart("read_file", '{"path": "a"}', "c1"),
        TextPart("Two."),
    ],
    provider_name="anthropic",
    model_name="m",
)


def parts(message: ModelMessage) -> list[tuple[str, Any]]:
    return [(part.part_kind, getattr(part, "content", None)) for part in message.parts]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    history = to_history([UserMessage("Go"), LOOK, ToolResult("c2", "read_file", "two"), UserMessage("Go on")], "p")
    assert parts(history[2]) == [("tool-return", NO_RESULT), ("tool-return", "two"), ("user-prompt", "Go on")]


def test_results_come_before_words_and_in_the_order_of_the_calls() -> None:
    results: list[ChatMessage] = [
        ToolResult("c2", "read_file", "two"),
        UserMessage("Hurry"),
        ToolResult("c1", "", "one"),
    ]
    history = to_history([UserMessage("Go"), LOOK, *results], "p")
    assert parts(history[2]) == [("tool-return", "one"), ("tool-return", "two"), ("user-prompt", "Hurry")]


def test_a_result_without_a_call_is_left_out() -> None:
    history = to_history([UserMessage("Go"), ToolResult("c9", "read_file", "x"), AssistantMessage("Hi")], "p")
    assert [parts(message) for message in history] == [[("user-prompt", "Go")], [("text", "Hi")]]


def test_an_id_that_comes_again_belongs_to_its_own_step() -> None:
    again = AssistantMessage(calls=(ToolCall("c1", "read_file", {}),))
    first, second = ToolResult("c1", "read_file", "old"), ToolResult("c1", "read_file", "new")
    history = to_history([UserMessage("Go"), again, first, again, second], "p")
    assert parts(history[2]) == [("tool-return", "old")] and parts(history[4]) == [("tool-return", "new")]


def test_roles_alternate_when_an_answer_is_missing() -> None:
    """A turn that was stopped before its first word leaves an empty answer or none."""
    history = to_history([UserMessage("One"), AssistantMessage(" "), UserMessage("Two"), UserMessage("")], "p")
    assert [parts(message) for message in history] == [[("user-prompt", "One\n\nTwo")]]


def test_a_step_that_only_thought_and_blank_text_are_left_out() -> None:
    """Providers refuse both: the first has no content, the second is a text block without text."""
    thought = to_message(
        ModelResponse(parts=[ThinkingPart("Hm.", signature="s", provider_name="p")], provider_name="p")
    )
    blank = to_message(ModelResponse(parts=[TextPart("\n\n"), ToolCallPart("f", {}, "c")], provider_name="p"))
    history = to_history([UserMessage("One"), thought, UserMessage("Two"), blank], "p")
    assert [[part.part_kind for part in message.parts] for message in history[:2]] == [["user-prompt"], ["tool-call"]]


def test_images_keep_their_place() -> None:
    image = ImagePart(b"x", "image/png")
    (message,) = to_history([UserMessage("One", (image,)), UserMessage("", (image,))], "p")
    content = message.parts[0].content  # type: ignore[union-attr]
    assert [item if isinstance(item, str) else item.data for item in content] == ["One", b"x", b"x"]  # type: ignore[union-attr]


def test_the_order_of_the_parts_comes_back() -> None:
    message = to_message(THINKING)
    assert (message.text, message.thought) == ("One. Two.", "Hm.")
    stored = AssistantMessage(message.text, message.thought, message.calls, json.loads(json.dumps(message.signature)))
    (again,) = [item for item in to_history([stored], "anthropic") if isinstance(item, ModelResponse)]
    kinds = [part.part_kind for part in again.parts]
    assert kinds == ["text", "thinking", "tool-call", "text"]
    assert again.parts[1] == THINKING.parts[1] and again.provider_name == "anthropic"


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "One."},
        {"text": "One. Two. Three."},
        {"calls": ()},
        {"signature": {"provider": "anthropic", "parts": [{"later": 1}]}},
        {"signature": {"provider": "openai", "parts": [{"text": 9}]}},
        {"signature": {"provider": "anthropic"}},
        {"signature": {"provider": "anthropic", "parts": [{"thinking": {"later": 1}}, {"call": {"later": 1}}]}},
        {"signature": "opaque"},
        {"signature": None},
    ],
)
def test_a_message_that_no_longer_fits_its_signature_is_told_plainly(changed: dict[str, Any]) -> None:
    message = to_message(THINKING)
    fields = {"text": message.text, "thought": message.thought, "calls": message.calls, "signature": message.signature}
    (plain, *results) = to_history([AssistantMessage(**{**fields, **changed})], "anthropic")
    texts = [part.content for part in plain.parts if isinstance(part, TextPart)]
    assert texts == [{**fields, **changed}["text"]]
    assert not any(isinstance(part, ThinkingPart) for part in plain.parts)
    assert len(results) == len({**fields, **changed}["calls"]) and all(
        isinstance(item, ModelRequest) for item in results
    )


def test_arguments_of_a_call() -> None:
    assert parse_arguments({"a": 1}) == ({"a": 1}, None)
    assert parse_arguments(None) == parse_arguments(" ") == ({}, None)
    assert parse_arguments('{"a": [1]}') == ({"a": [1]}, None)
    for bad in ("{", "null", '"a"', "[]", '{"a": NaN}', '{"a": [-1e999]}', {"a": float("inf")}):
        arguments, error = parse_arguments(bad)
        assert arguments == {} and error
