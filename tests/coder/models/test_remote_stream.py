"""Text, thinking, tool calls and usage come through the interface from both wire formats, and history goes back."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from remote_kit import KEY, WIRES, ask, collect, ended, model_on
from wire_server import Answer, Call, WireServer

from duologue.coder.models.base import (
    AssistantMessage,
    CallDelta,
    ImagePart,
    ModelEvent,
    TextDelta,
    ThoughtDelta,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from duologue.coder.models.config import Wire

FULL = Answer(
    thought=("Let me ", "look."),
    text=("I will ", "read it."),
    calls=(Call("call_1", "read_file", ('{"path": ', '"a.py"}')), Call("call_2", "read_file", ('{"path": "b.py"}',))),
)


def joined(events: list[ModelEvent], kind: type[TextDelta] | type[ThoughtDelta]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))


@pytest.mark.parametrize("wire", WIRES)
async def test_streams_text_thinking_and_calls(wire: Wire) -> None:
    async with WireServer(FULL) as server:
        events = await collect(model_on(server, wire).stream(ask()))
    assert joined(events, ThoughtDelta) == "Let me look."
    assert joined(events, TextDelta) == "I will read it."
    assert sum(isinstance(event, TextDelta) for event in events) == 2
    message = ended(events).message
    assert (message.text, message.thought) == ("I will read it.", "Let me look.")
    assert message.calls == (
        ToolCall("call_1", "read_file", {"path": "a.py"}),
        ToolCall("call_2", "read_file", {"path": "b.py"}),
    )
    assert ended(events).reason == "tool_calls"
    assert isinstance(events[-2], Usage)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_call_is_told_of_while_its_arguments_are_written(wire: Wire) -> None:
    async with WireServer(FULL) as server:
        events = await collect(model_on(server, wire).stream(ask()))
    deltas = [event for event in events if isinstance(event, CallDelta)]
    assert deltas.count(CallDelta("call_1", "read_file")) > 2 and CallDelta("call_2", "read_file") in deltas


@pytest.mark.parametrize("wire", WIRES)
async def test_sends_system_tools_and_key(wire: Wire) -> None:
    async with WireServer(Answer(text=("Hi",))) as server:
        await collect(model_on(server, wire).stream(ask()))
        asked = await server.request(0)
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["model"] == "wire-model" and asked.body["stream"] is True
    tool = asked.body["tools"][0]
    if wire is Wire.OPENAI:
        assert asked.path == "/v1/chat/completions"
        assert asked.body["messages"][0] == {"role": "system", "content": "Be brief."}
        assert tool["function"]["name"] == "read_file"
        assert tool["function"]["parameters"]["properties"] == {"path": {"type": "string"}}
    else:
        assert asked.path == "/v1/messages"
        assert asked.headers["x-api-key"] == KEY
        assert [part["text"] for part in asked.body["system"]] == ["Be brief."]
        assert tool["name"] == "read_file" and tool["input_schema"]["required"] == ["path"]


@pytest.mark.parametrize("wire", WIRES)
async def test_calls_and_results_go_back_in_the_shape_of_the_wire(wire: Wire) -> None:
    async with WireServer(FULL, Answer(text=("Done",))) as server:
        model = model_on(server, wire)
        first = ended(await collect(model.stream(ask(UserMessage("Look"))))).message
        history = (
            UserMessage("Look"),
            first,
            ToolResult("call_1", "read_file", "print()"),
            ToolResult("call_2", "read_file", "no such file", ok=False),
        )
        await collect(model.stream(ask(*history)))
        messages = (await server.request(1)).body["messages"]
    if wire is Wire.OPENAI:
        check_openai_history(messages)
    else:
        check_anthropic_history(messages)


def check_openai_history(messages: list[dict[str, Any]]) -> None:
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "tool"]
    said = messages[2]
    assert (said["content"], said["reasoning_content"]) == ("I will read it.", "Let me look.")
    assert [(call["id"], json.loads(call["function"]["arguments"])) for call in said["tool_calls"]] == [
        ("call_1", {"path": "a.py"}),
        ("call_2", {"path": "b.py"}),
    ]
    assert (messages[3]["tool_call_id"], messages[3]["content"]) == ("call_1", "print()")
    assert messages[4]["tool_call_id"] == "call_2" and "no such file" in messages[4]["content"]


def check_anthropic_history(messages: list[dict[str, Any]]) -> None:
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    kinds = [part["type"] for part in messages[1]["content"]]
    assert kinds == ["thinking", "text", "tool_use", "tool_use"]
    thinking = messages[1]["content"][0]
    assert (thinking["thinking"], thinking["signature"]) == ("Let me look.", "c2lnbmF0dXJl")
    assert messages[1]["content"][2]["input"] == {"path": "a.py"}
    results = messages[2]["content"]
    assert [(part["tool_use_id"], part["is_error"]) for part in results] == [("call_1", False), ("call_2", True)]


async def test_thinking_survives_a_stored_history() -> None:
    """The signature is plain JSON, and redacted thinking goes back where it stood."""
    answer = Answer(thought=("Hm.",), redacted="b3BhcXVl", text=("Yes",))
    async with WireServer(answer, Answer(text=("Done",))) as server:
        model = model_on(server, Wire.ANTHROPIC)
        first = ended(await collect(model.stream(ask(UserMessage("Is it?"))))).message
        stored = json.loads(json.dumps(first.signature))
        again = AssistantMessage(first.text, first.thought, first.calls, stored)
        await collect(model.stream(ask(UserMessage("Is it?"), again, UserMessage("Sure?"))))
        parts = (await server.request(1)).body["messages"][1]["content"]
    assert [part["type"] for part in parts] == ["thinking", "redacted_thinking", "text"]
    assert parts[0]["signature"] == "c2lnbmF0dXJl" and parts[1]["data"] == "b3BhcXVl"


async def test_thinking_of_another_provider_is_not_shown() -> None:
    async with WireServer(FULL, Answer(text=("Done",))) as server:
        first = ended(await collect(model_on(server, Wire.ANTHROPIC).stream(ask()))).message
        results = [ToolResult(call.id, call.name, "x") for call in first.calls]
        await collect(model_on(server, Wire.OPENAI).stream(ask(UserMessage("Hello"), first, *results)))
        said = (await server.request(1)).body["messages"][2]
    assert "Let me look" not in json.dumps(said) and said["content"] == "I will read it."
    assert len(said["tool_calls"]) == 2


@pytest.mark.parametrize("wire", WIRES)
async def test_images_are_sent(wire: Wire) -> None:
    picture = ImagePart(b"\x89PNG", "image/png")
    async with WireServer(Answer(text=("A cat",))) as server:
        await collect(model_on(server, wire).stream(ask(UserMessage("What is it?", (picture,)))))
        content = (await server.request(0)).body["messages"][-1]["content"]
    encoded = base64.b64encode(picture.data).decode()
    assert content[0] == {"type": "text", "text": "What is it?"}
    if wire is Wire.OPENAI:
        assert content[1]["image_url"]["url"] == f"data:image/png;base64,{encoded}"
    else:
        assert content[1]["source"] == {"type": "base64", "media_type": "image/png", "data": encoded}


async def test_usage_of_openai_counts_cached_and_thought_tokens() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "total_tokens": 130,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 12},
    }
    async with WireServer(Answer(text=("Hi",), usage=usage)) as server:
        events = await collect(model_on(server, Wire.OPENAI).stream(ask()))
    assert events[-2] == Usage(100, 30, thought_tokens=12, cached_read_tokens=64)


async def test_usage_of_anthropic_counts_the_cache_as_input() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 26}
    async with WireServer(Answer(text=("Hi",), usage=usage)) as server:
        events = await collect(model_on(server, Wire.ANTHROPIC).stream(ask()))
    assert events[-2] == Usage(100, 20, cached_read_tokens=64, cached_write_tokens=26)


@pytest.mark.parametrize("wire", WIRES)
async def test_the_context_size_is_told_only_when_it_is_known(wire: Wire) -> None:
    async with WireServer(Answer(text=("Hi",))) as server:
        unknown = await collect(model_on(server, wire).stream(ask()))
        known = await collect(model_on(server, wire, context_size=32768).stream(ask()))
    sizes = [event.context_size for events in (unknown, known) for event in events if isinstance(event, Usage)]
    assert sizes == [None, 32768]


@pytest.mark.parametrize(
    ("wire", "provider", "model"),
    [(Wire.OPENAI, "openai", "gpt-4o"), (Wire.ANTHROPIC, "anthropic", "claude-sonnet-5")],
)
async def test_size_and_cost_are_known_at_the_own_address_of_a_provider(wire: Wire, provider: str, model: str) -> None:
    async with WireServer(Answer(text=("Hi",))) as server:
        own = await collect(model_on(server, wire, provider=provider, own=True, model=model).stream(ask()))
        elsewhere = await collect(model_on(server, wire, provider=provider, model=model).stream(ask()))
        asked = [request.body for request in server.asked]
    there, here = own[-2], elsewhere[-2]
    assert isinstance(there, Usage) and isinstance(here, Usage)
    assert there.context_size is not None and there.context_size >= 100_000
    assert there.cost is not None and 0 < there.cost < 0.1
    assert (here.context_size, here.cost) == (None, None)
    mark = "prompt_cache_key" if wire is Wire.OPENAI else "cache_control"
    assert mark in asked[0] and mark not in asked[1]


async def test_an_unknown_model_has_no_size_and_no_cost() -> None:
    async with WireServer(Answer(text=("Hi",))) as server:
        events = await collect(model_on(server, Wire.OPENAI, provider="openai", own=True).stream(ask()))
    assert events[-2] == Usage(100, 20)


@pytest.mark.parametrize(
    ("wire", "finish", "reason"),
    [
        (Wire.OPENAI, "length", "length"),
        (Wire.OPENAI, "content_filter", "refusal"),
        (Wire.OPENAI, "stop", "stop"),
        (Wire.ANTHROPIC, "max_tokens", "length"),
        (Wire.ANTHROPIC, "refusal", "refusal"),
        (Wire.ANTHROPIC, "end_turn", "stop"),
    ],
)
async def test_reasons_to_end(wire: Wire, finish: str, reason: str) -> None:
    async with WireServer(Answer(text=("Half",), finish=finish)) as server:
        events = await collect(model_on(server, wire).stream(ask()))
    assert ended(events).reason == reason


async def test_calls_decide_when_a_server_says_stop_after_them() -> None:
    async with WireServer(Answer(calls=(Call("c", "read_file", ("{}",)),), finish="stop")) as server:
        events = await collect(model_on(server, Wire.OPENAI).stream(ask()))
    assert ended(events).reason == "tool_calls"


@pytest.mark.parametrize("wire", WIRES)
async def test_arguments_that_are_no_object_are_told_to_the_loop(wire: Wire) -> None:
    calls = (Call("c1", "read_file", ('{"path": "a',)), Call("c2", "read_file", ("[1]",)), Call("c3", "read_file", ()))
    async with WireServer(Answer(calls=calls)) as server:
        broken, listed, empty = ended(await collect(model_on(server, wire).stream(ask()))).message.calls
    assert broken.arguments == {} and broken.error is not None and "not valid JSON" in broken.error
    assert listed.arguments == {} and listed.error is not None and "JSON object" in listed.error
    assert (empty.arguments, empty.error) == ({}, None)


async def test_thinking_and_output_limits_are_asked_for() -> None:
    async with WireServer(Answer(text=("Hi",))) as server:
        model = model_on(server, Wire.ANTHROPIC, thinking="high", max_output_tokens=9000)
        await collect(model.stream(ask()))
        body = (await server.request(0)).body
    assert body["max_tokens"] >= 9000 and body["thinking"]["type"] in ("enabled", "adaptive")


async def test_a_connection_is_used_again() -> None:
    async with WireServer(Answer(text=("Hi",))) as server:
        model = model_on(server, Wire.OPENAI)
        await collect(model.stream(ask()))
        await collect(model.stream(ask()))
        await model.close()
        await collect(model.stream(ask()))
        assert len(server.asked) == 3
        assert server.connections == 2
