"""What has gone wrong in other coding agents with files, tools, images and usage, tried on ours."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Person as Refuses
from acp_kit import Scripted, opened, take_turn
from coder_kit import TOOLS, Bench, Person, asks, call, make_coder, names_in, outcomes, says
from coder_kit import take_turn as turn_of

from duologue.coder.acp import CodingAgent
from duologue.coder.acp_options import MODES
from duologue.coder.limits import CoderLimits
from duologue.coder.models.base import (
    AssistantMessage,
    ModelEvent,
    ModelRequest,
    StepEnded,
    ToolCall,
    ToolResult,
    Usage,
)
from duologue.coder.tools import Arguments, Context, Outcome, Plan, tool
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.common.updates import UsageUpdateEvent
from duologue.protocol.v2.tools import ToolCallStatus, ToolContent
from duologue.testing import connected

BOM = b"\xef\xbb\xbf"
PNG = b"\x89PNG\r\n\x1a\n\0\0 rest"


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


# --- files ------------------------------------------------------------------------------------------------------------

STYLES = [
    (BOM + b"a\r\nb\r\n", BOM + b"a\r\nc\r\n"),
    (b"a\r\nb", b"a\r\nc"),
    (BOM + b"a\nb\n", BOM + b"a\nc\n"),
    (b"x\r\na\nb\r\n", b"x\r\na\nc\r\n"),
    (b"a\nb", b"a\nc"),
]


@pytest.mark.parametrize(("before", "after"), STYLES)
@pytest.mark.parametrize("name", ["edit_file", "write_file"])
async def test_field_bug_19_a_small_change_keeps_mark_newlines_and_last_newline(
    tmp_path: Path, name: str, before: bytes, after: bytes
) -> None:
    """The model sees plain text and gives plain text back; undoing gives the very bytes that were there."""
    file = tmp_path / "f.txt"
    file.write_bytes(before)
    bench = Bench(tmp_path)
    seen = (await bench.run("read_file", path="f.txt")).data["text"]
    assert "\r" not in seen and "\ufeff" not in seen
    arguments = {"text": seen.replace("b", "c")} if name == "write_file" else {"edits": [{"old": "b", "new": "c"}]}
    await bench.run(name, path="f.txt", **arguments)
    assert file.read_bytes() == after
    await bench.run("undo_edits")
    assert file.read_bytes() == before


async def test_field_bug_19_a_new_file_has_no_mark_and_the_newlines_it_was_given(tmp_path: Path) -> None:
    await Bench(tmp_path).run("write_file", path="new.txt", text="a\nb\n")
    assert (tmp_path / "new.txt").read_bytes() == b"a\nb\n"


# --- the gate ---------------------------------------------------------------------------------------------------------

#: A call of each tool that changes something or runs something.
EFFECTS: dict[str, dict[str, Any]] = {
    "write_file": {"path": "a", "text": "new"},
    "edit_file": {"path": "a", "edits": [{"old": "old", "new": "new"}]},
    "delete_file": {"path": "a"},
    "move_file": {"path": "a", "to": "c"},
    "run_command": {"command": "rm a"},
    "undo_edits": {},
}
HARMLESS = {"list_files", "read_file", "search", "update_plan", "set_title"}


def test_field_bug_71_each_tool_is_known_to_have_an_effect_or_none() -> None:
    """A new tool belongs into one of the two, and those with an effect into the test below."""
    assert EFFECTS.keys() | HARMLESS == TOOLS.keys()


@pytest.mark.parametrize("name", EFFECTS)
async def test_field_bug_71_no_tool_has_an_effect_that_was_not_asked_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").write_text("old\n")
    begin = call("write_file", "c0", path="b", text="made\n")
    person = Person("allow_once", "reject_once")
    coder = make_coder(tmp_path, asks(begin), asks(ToolCall("c1", name, EFFECTS[name])), says(), ask=person)
    assert outcomes(await turn_of(coder)) == ["completed", "failed"]
    assert len(person.questions) == 2
    assert (tmp_path / "a").read_text() == "old\n"
    assert names_in(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("mode", [option.value for option in MODES])
async def test_field_bug_66_whoever_refuses_all_keeps_all_in_each_mode(
    tmp_path: Path, protocol: int, mode: str
) -> None:
    (tmp_path / "a").write_text("old\n")
    calls = [ToolCall(f"c{number}", name, arguments) for number, (name, arguments) in enumerate(EFFECTS.items())]
    person = Refuses("reject_once")
    async with opened(tmp_path, asks(*calls), says(), protocol=protocol, person=person) as (session, _, _models):
        await session.set_mode(mode)
        assert await take_turn(session) is StopReason.END_TURN
        assert {str(told.status) for told in session.transcript.tool_calls.values()} == {"failed"}
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old\n"


class Inner(Arguments, frozen=True):
    path: str


@tool("script", "A tool that plans a write of another tool as its own.", "other", Inner)
async def script(arguments: Inner, context: Context) -> Plan:
    inner = await TOOLS["write_file"].plan({"path": arguments.path, "text": "x"}, context)

    async def perform(call: str) -> Outcome:
        return await inner.perform(call)

    return Plan("Only looks", None, perform, diffs=inner.diffs)


async def test_field_bug_71_a_tool_that_writes_through_another_is_asked_about(tmp_path: Path) -> None:
    """It names no effect of its own, but the diff that it shows is one."""
    person = Person("reject_once")
    coder = make_coder(tmp_path, asks(call("script", path="a")), says(), tools=[script], ask=person)
    assert outcomes(await turn_of(coder)) == ["failed"]
    assert [question.diffs[0].path for question in person.questions] == [tmp_path / "a"]
    assert names_in(tmp_path) == []


# --- sessions ---------------------------------------------------------------------------------------------------------


async def test_field_bug_79_a_session_without_a_prompt_is_there_or_unknown_and_never_half(
    tmp_path: Path, protocol: int
) -> None:
    """While the agent runs it can be reopened; another agent neither lists it nor loads it."""
    async with opened(tmp_path, says("still here"), protocol=protocol) as (session, _, _models):
        again = await session.connection.resume_session(session.id, tmp_path, replay=True)
        assert again.transcript.entries == []
        assert await take_turn(again) is StopReason.END_TURN
    other = CodingAgent(models=Scripted())
    async with connected(other, protocol=protocol) as connection:  # type: ignore[arg-type]
        with pytest.raises(RpcError) as caught:
            await connection.resume_session(session.id, tmp_path)
        assert caught.value.code == -32002


# --- what tools give --------------------------------------------------------------------------------------------------


async def test_field_bug_98_an_image_that_is_read_ends_its_call_in_the_protocols_shapes(
    tmp_path: Path, protocol: int
) -> None:
    """No tool of ours gives an image: the call fails with a text, and nothing of the file's bytes goes out."""
    (tmp_path / "p.png").write_bytes(PNG)
    steps = [asks(call("read_file", path="p.png")), says()]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, _, models):
        assert await take_turn(session) is StopReason.END_TURN
        (told,) = session.transcript.tool_calls.values()
        assert told.status == ToolCallStatus.FAILED
        (content,) = told.content
        assert isinstance(content, ToolContent) and isinstance(content.content, TextBlock)
        assert "p.png" in content.content.text
        assert base64.b64encode(PNG).decode() not in str(told.raw_output)
        assert [message.ok for message in models.model.requests[1].messages if isinstance(message, ToolResult)] == [
            False
        ]


async def test_field_bug_141_a_client_gets_all_that_a_command_printed(tmp_path: Path, protocol: int) -> None:
    """Two thousand lines, which are cut for nobody; the end of a call repeats them up to the cap."""
    command = "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"
    whole = "".join(f"line {number}\n" for number in range(2000))
    steps = [asks(call("run_command", command=command)), says()]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, _, models):
        await take_turn(session)
        (told,) = session.transcript.tool_calls.values()
        assert told.raw_output["output"] == whole and not told.raw_output["truncated"]
        if session.transcript.terminals:
            (terminal,) = session.transcript.terminals.values()
            assert terminal.text == whole
        assert whole in models.model.requests[1].messages[-1].text


async def test_field_bug_141_what_is_more_than_the_cap_keeps_head_and_tail_with_a_notice(tmp_path: Path) -> None:
    """What the model gets is cut; what is streamed to the client is not."""
    bench = Bench(tmp_path, limits=CoderLimits(output_head=100, output_tail=200))
    outcome = await bench.run("run_command", command="i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done")
    assert outcome.text.startswith("line 0\n") and "line 499\n" in outcome.text
    assert outcome.data["truncated"] and "line 250\n" not in outcome.text
    streamed = b"".join(getattr(event, "data", b"") for event in bench.events)
    assert streamed == b"".join(b"line %d\n" % number for number in range(500))


# --- usage ------------------------------------------------------------------------------------------------------------


def using(tokens: int, then: list[ModelEvent]) -> Any:
    """A step that took so many tokens of context, of a window of 1000."""

    async def step(request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield Usage(tokens, 10, context_size=1000, cost=0.5)
        for event in then:
            yield event

    return step


async def test_field_bug_127_the_context_in_use_is_that_of_the_last_request_and_the_cost_a_total(
    tmp_path: Path, protocol: int
) -> None:
    """Three turns of four requests: what is told is never a sum, and falls when a request is smaller."""
    sizes = [[100, 200, 300, 400], [500, 600, 700, 800], [300, 320, 340, 360]]
    steps = []
    for turn in sizes:
        steps += [using(size, asks(call("list_files"))) for size in turn[:-1]]
        steps += [using(turn[-1], says())]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, person, _models):
        ends = []
        for _ in sizes:
            await take_turn(session)
            ends.append(session.transcript.usage)
        assert [(end.used, end.size) for end in ends if end] == [(410, 1000), (810, 1000), (370, 1000)]
        assert [end.cost.amount for end in ends if end and end.cost] == [2.0, 4.0, 6.0]
        assert max(update.used for update in person.of(UsageUpdateEvent)) == 810


async def test_field_bug_128_a_model_whose_window_is_not_known_tells_no_usage(tmp_path: Path, protocol: int) -> None:
    step: list[ModelEvent] = [Usage(100, 10), StepEnded(AssistantMessage("x"))]
    async with opened(tmp_path, step, protocol=protocol) as (session, person, _models):
        assert await take_turn(session) is StopReason.END_TURN
        assert person.of(UsageUpdateEvent) == []
