"""The coder's loop over a remote model: a call is permitted and run, and its result goes back over the wire."""

from __future__ import annotations

import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from remote_kit import WIRES, model_on
from wire_server import Answer, Call, Fail, Hang, WireServer

from duologue.coder.events import Event, PermissionAnswer, PermissionQuestion, Text, Thought, ToolFinished, TurnEnded
from duologue.coder.limits import McpLimits
from duologue.coder.loop import Coder
from duologue.coder.mcp.entries import Stdio
from duologue.coder.mcp.hub import McpHub
from duologue.coder.models.base import ModelError, UserMessage
from duologue.coder.models.config import Wire
from duologue.coder.permissions import PermissionStore
from duologue.local.workspace import Workspace

PROGRAMS = Path(__file__).parent.parent / "programs"

WRITE = Call("call_1", "write_file", ('{"path": "note.txt", ', '"text": "hello\\n"}'))


class Person:
    """Answers every question the same way and remembers what was asked."""

    def __init__(self, answer: PermissionAnswer = "allow_once") -> None:
        self.answer = answer
        self.asked: list[PermissionQuestion] = []

    async def __call__(self, question: PermissionQuestion) -> PermissionAnswer:
        self.asked.append(question)
        return self.answer


def coder_on(server: WireServer, wire: Wire, folder: Path, person: Person, **changes: Any) -> Coder:
    model = model_on(server, wire, **changes)
    return Coder(model=model, workspace=Workspace([folder]), permissions=PermissionStore(), ask=person)


async def turn(coder: Coder, text: str) -> list[Event]:
    async with aclosing(coder.turn(UserMessage(text))) as events:
        return [event async for event in events]


def result_in(body: dict[str, Any], wire: Wire) -> tuple[str, str]:
    """Call id and text of the last tool result that the model was told."""
    last = body["messages"][-1]
    if wire is Wire.OPENAI:
        return last["tool_call_id"], last["content"]
    part = last["content"][-1]
    return part["tool_use_id"], json.dumps(part["content"])


@pytest.mark.parametrize("wire", WIRES)
async def test_a_call_is_permitted_and_run_and_its_result_goes_back(wire: Wire, tmp_path: Path) -> None:
    person = Person()
    first = Answer(thought=("A note.",), text=("I will ", "write it."), calls=(WRITE,))
    async with WireServer(first, Answer(text=("Done.",))) as server:
        events = await turn(coder_on(server, wire, tmp_path, person), "Leave a note")
        assert len(server.asked) == 2
        call, text = result_in(server.asked[1].body, wire)
    assert (tmp_path / "note.txt").read_text() == "hello\n"
    assert [question.diffs[0].new for question in person.asked] == ["hello\n"]
    assert call == "call_1" and "note.txt" in text
    assert "".join(event.text for event in events if isinstance(event, Text)) == "I will write it.Done."
    assert "".join(event.text for event in events if isinstance(event, Thought)) == "A note."
    end = events[-1]
    assert isinstance(end, TurnEnded) and end.reason == "end_turn"
    assert end.usage is not None and (end.usage.input_tokens, end.usage.output_tokens) == (200, 40)


@pytest.mark.parametrize("wire", WIRES)
async def test_tools_of_mcp_servers_go_over_the_wire_with_their_schemas(wire: Wire, tmp_path: Path) -> None:
    servers = McpHub(McpLimits(start_seconds=90))
    servers.connect([Stdio("My files", sys.executable, (str(PROGRAMS / "mcp_stub.py"),))], tmp_path)
    assert await servers.wait(90) == []
    name = next(tool.spec.name for tool in servers.tools() if "read" in tool.spec.name)
    person = Person()
    first = Answer(calls=(Call("call_1", name, ('{"path": ', '"a.txt"}')),))
    async with WireServer(first, Answer(text=("Done.",))) as server:
        coder = coder_on(server, wire, tmp_path, person)
        coder.more_tools = servers.tools
        await turn(coder, "Read it")
        call, text = result_in(server.asked[1].body, wire)
        tools = server.asked[0].body["tools"]
    await servers.close()
    assert call == "call_1" and "a.txt" in text
    assert [question.title for question in person.asked] == ["My files: read.file"]
    told = [each.get("function", each) for each in tools]
    (found,) = [each for each in told if each["name"] == name]
    assert found.get("parameters", found.get("input_schema"))["properties"] == {"path": {"type": "string"}}


@pytest.mark.parametrize("wire", WIRES)
async def test_a_refusal_goes_back_as_the_result(wire: Wire, tmp_path: Path) -> None:
    async with WireServer(Answer(calls=(WRITE,)), Answer(text=("Understood.",))) as server:
        events = await turn(coder_on(server, wire, tmp_path, Person("reject_once")), "Leave a note")
        _, text = result_in(server.asked[1].body, wire)
    assert not (tmp_path / "note.txt").exists()
    assert "refused" in text
    assert [event.outcome for event in events if isinstance(event, ToolFinished)] == ["failed"]


@pytest.mark.parametrize("wire", WIRES)
async def test_arguments_cut_short_are_told_to_the_model_and_not_run(wire: Wire, tmp_path: Path) -> None:
    broken = Call("call_1", "write_file", ('{"path": "note.txt", "te',))
    person = Person()
    async with WireServer(Answer(calls=(broken,)), Answer(text=("Sorry.",))) as server:
        await turn(coder_on(server, wire, tmp_path, person), "Leave a note")
        _, text = result_in(server.asked[1].body, wire)
    assert "not valid JSON" in text and person.asked == [] and not (tmp_path / "note.txt").exists()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_cancelled_turn_closes_the_connection_and_the_next_one_works(wire: Wire, tmp_path: Path) -> None:
    half = Answer(text=("Half ", "an answer"), until=3, then="hang")
    async with WireServer(half, Answer(text=("Whole.",))) as server:
        coder = coder_on(server, wire, tmp_path, Person())
        events: list[Event] = []
        async with aclosing(coder.turn(UserMessage("Say something long"))) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, Text):
                    coder.cancel()
        assert events[-1] == TurnEnded("cancelled")
        await server.asked[0].left()
        again = await turn(coder, "And now?")
        asked = server.asked[1].body["messages"]
    assert again[-1] == TurnEnded("end_turn", again[-1].usage if isinstance(again[-1], TurnEnded) else None)
    assert "Half" in json.dumps(asked) and "And now?" in json.dumps(asked[-1])


async def test_a_turn_cancelled_before_the_first_token_asks_no_more(tmp_path: Path) -> None:
    async with WireServer(Hang()) as server:
        coder = coder_on(server, Wire.OPENAI, tmp_path, Person())
        async with aclosing(coder.turn(UserMessage("Hello"))) as stream:
            async for _ in stream:
                await server.request(0)
                coder.cancel()
        await server.asked[0].left()
        assert len(server.asked) == 1


async def test_a_failing_endpoint_ends_the_turn_with_its_error_and_the_session_goes_on(tmp_path: Path) -> None:
    async with WireServer(Fail(401), Answer(text=("Hi.",))) as server:
        coder = coder_on(server, Wire.OPENAI, tmp_path, Person())
        with pytest.raises(ModelError, match="refused the key"):
            await turn(coder, "Hello")
        events = await turn(coder, "Hello again")
        (user,) = [message for message in server.asked[1].body["messages"] if message["role"] == "user"]
    assert any(isinstance(event, Text) for event in events)
    assert user["content"] == "Hello\n\nHello again"
