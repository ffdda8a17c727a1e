"""The loop: steps, failing models, and calls that cannot run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from coder_kit import (
    Person,
    ScriptedModel,
    asks,
    assert_consistent,
    assert_well_told,
    call,
    end_of,
    make_coder,
    of,
    outcomes,
    results,
    says,
    take_turn,
)

from duologue.coder.conversation import Conversation
from duologue.coder.events import (
    FileDiff,
    Location,
    Text,
    Thought,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from duologue.coder.limits import CoderLimits
from duologue.coder.models.base import (
    AssistantMessage,
    CallDelta,
    ModelError,
    ModelEvent,
    ModelRequest,
    StepEnded,
    TextDelta,
    ThoughtDelta,
    ToolCall,
    ToolResult,
    UserMessage,
)
from duologue.coder.tools import Arguments, Context, Outcome, Plan, tool

# --- Steps -----------------------------------------------------------------------------------------------------------


async def test_a_turn_goes_on_until_a_step_has_no_call(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text of a\n")
    coder = make_coder(tmp_path, asks(call("read_file", path="a"), text="Looking."), says("It says a."))
    events = await take_turn(coder, "What does a say?")
    assert end_of(events) == "end_turn"
    assert [event.text for event in of(events, Text)] == ["Looking.", "It says a."]
    assert len({event.message for event in of(events, Text)}) == 2
    model = coder.model
    assert isinstance(model, ScriptedModel)
    assert [type(message) for message in model.requests[1].messages] == [UserMessage, AssistantMessage, ToolResult]
    result = model.requests[1].messages[-1]
    assert isinstance(result, ToolResult)
    assert (result.text, result.ok) == ("text of a\n", True)
    assert model.requests[0].cwd == str(tmp_path)
    assert model.requests[0].conversation == model.requests[1].conversation == coder.conversation.id
    assert str(tmp_path) in model.requests[0].system
    assert_consistent(coder)


async def test_the_next_turn_has_the_whole_history(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, says("one"), says("two"))
    await take_turn(coder, "first")
    await take_turn(coder, "second")
    assert coder.conversation.messages == [
        UserMessage("first"),
        AssistantMessage("one"),
        UserMessage("second"),
        AssistantMessage("two"),
    ]


@pytest.mark.req("all-tools-01", "all-tools-03", "all-tools-04")
async def test_a_call_is_told_then_asked_then_run_then_ended(tmp_path: Path) -> None:
    seen: list[str] = []

    async def ask(question: Any) -> Any:
        seen.append("exists" if (tmp_path / "new").exists() else "asked before")
        return "allow_once"

    coder = make_coder(tmp_path, asks(call("write_file", path="new", text="x\n")), says(), ask=ask)
    events = await take_turn(coder)
    names = [type(event).__name__ for event in events]
    assert names == ["TitleChanged", "ToolStarted", "ToolRunning", "ToolFinished", "Text", "TurnEnded"]
    diff = FileDiff(tmp_path / "new", None, "x\n")
    start, finish = of(events, ToolStarted)[0], of(events, ToolFinished)[0]
    assert start == ToolStarted(
        start.call,
        "write_file",
        "Create new",
        "edit",
        {"path": "new", "text": "x\n"},
        (Location(tmp_path / "new", 1),),
        (diff,),
    )
    assert finish.outcome == "completed"
    assert finish.diffs == (diff,)
    assert finish.raw == {"path": "new", "created": True}
    assert seen == ["asked before"]
    assert (tmp_path / "new").read_text() == "x\n"


@pytest.mark.req("all-tools-02")
async def test_ids_of_calls_are_unique_though_the_model_repeats_them(tmp_path: Path) -> None:
    step = asks(
        call("list_files"), call("list_files"), call("list_files", id=""), call("list_files", id="bad id \ud800")
    )
    coder = make_coder(tmp_path, step, asks(call("list_files")), says(), asks(call("list_files")), says())
    events = await take_turn(coder) + await take_turn(coder)
    ids = [event.call for event in of(events, ToolStarted)]
    assert len(ids) == len(set(ids)) == 6
    assert [result.call for result in results(coder)] == ids
    assert_consistent(coder)
    assert_well_told(events)


async def test_a_continued_conversation_uses_no_id_again(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, asks(call("list_files")), says())
    await take_turn(coder)
    old = Conversation(messages=list(coder.conversation.messages))
    again = make_coder(tmp_path, asks(call("list_files")), says(), conversation=old)
    await take_turn(again)
    assert_consistent(again)


def test_a_loaded_conversation_with_open_calls_is_settled() -> None:
    calls = (call("a", id="1"), call("b", id="2"))
    loaded = Conversation(messages=[UserMessage("x"), AssistantMessage(calls=calls), ToolResult("1", "a", "done")])
    assert loaded.open_calls() == ()
    last = loaded.messages[-1]
    assert isinstance(last, ToolResult)
    assert (last.call, last.ok) == ("2", False)


async def test_calls_of_a_step_run_one_after_the_other_in_order(tmp_path: Path) -> None:
    calls = [call("run_command", id=f"c{n}", command=f"sleep 0.0{5 - n}; echo {n} >> log") for n in range(4)]
    coder = make_coder(tmp_path, asks(*calls), says())
    events = await take_turn(coder)
    assert (tmp_path / "log").read_text() == "0\n1\n2\n3\n"
    order = [(type(event).__name__, event.call) for event in events if isinstance(event, ToolStarted | ToolFinished)]
    assert order == [(name, f"c{n}") for n in range(4) for name in ("ToolStarted", "ToolFinished")]


@pytest.mark.req("v1-prompt-06")
async def test_a_turn_has_a_limit_of_steps(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, *[asks(call("list_files")) for _ in range(9)], limits=CoderLimits(steps=3))
    events = await take_turn(coder)
    assert end_of(events) == "max_turn_requests"
    assert isinstance(coder.model, ScriptedModel)
    assert len(coder.model.requests) == 3
    assert outcomes(events) == ["completed"] * 3
    assert_consistent(coder)


async def test_an_answer_that_is_too_long_ends_the_turn_and_runs_nothing(tmp_path: Path) -> None:
    cut = AssistantMessage("half an ans", calls=(call("run_command", command="touch x"),))
    coder = make_coder(tmp_path, [TextDelta("half an ans"), StepEnded(cut, "length")], says())
    assert end_of(await take_turn(coder)) == "max_tokens"
    assert not (tmp_path / "x").exists()
    assert_consistent(coder)
    assert not results(coder)[0].ok
    assert end_of(await take_turn(coder)) == "end_turn"


async def test_a_refusal_leaves_no_trace_in_the_history(tmp_path: Path) -> None:
    refusal: list[ModelEvent] = [TextDelta("I won't."), StepEnded(AssistantMessage("I won't."), "refusal")]
    coder = make_coder(tmp_path, says("hello"), asks(call("list_files")), refusal)
    await take_turn(coder, "hi")
    before = list(coder.conversation.messages)
    assert end_of(await take_turn(coder, "bad")) == "refusal"
    assert coder.conversation.messages == before


async def rejecting(request: ModelRequest) -> AsyncIterator[ModelEvent]:
    raise ModelError("the prompt is too long", status=400)
    yield TextDelta("")


@pytest.mark.parametrize("steps_before", [0, 1])
async def test_a_message_that_the_model_cannot_take_is_not_sent_again(tmp_path: Path, steps_before: int) -> None:
    coder = make_coder(tmp_path, says("hello"), *[asks(call("list_files"))] * steps_before, rejecting, says("yes"))
    await take_turn(coder, "hi")
    before = len(coder.conversation.messages)
    with pytest.raises(ModelError):
        await take_turn(coder, "far too long")
    # What was done for it stays: the user has seen it.
    assert len(coder.conversation.messages) == before + (3 if steps_before else 0)
    assert end_of(await take_turn(coder)) == "end_turn"


async def test_speech_and_thought_are_messages_of_their_own(tmp_path: Path) -> None:
    parts: list[ModelEvent] = [
        ThoughtDelta("hm"),
        ThoughtDelta(" m"),
        CallDelta("c", "list_files"),
        TextDelta("so"),
        TextDelta(""),
        TextDelta("!"),
        ThoughtDelta("ok"),
        StepEnded(AssistantMessage("so!", "hm mok")),
    ]
    events = await take_turn(make_coder(tmp_path, parts))
    said = [(type(event), event.text) for event in events if isinstance(event, Text | Thought)]
    assert said == [(Thought, "hm"), (Thought, " m"), (Text, "so"), (Text, "!"), (Thought, "ok")]
    ids = [event.message for event in events if isinstance(event, Text | Thought)]
    assert ids[0] == ids[1] != ids[2] == ids[3] != ids[4] != ids[0]


async def test_a_model_that_does_not_stream_is_heard(tmp_path: Path) -> None:
    events = await take_turn(make_coder(tmp_path, [StepEnded(AssistantMessage("all at once"))]))
    assert [event.text for event in of(events, Text)] == ["all at once"]


# --- Failing models --------------------------------------------------------------------------------------------------


async def failing(request: ModelRequest) -> AsyncIterator[ModelEvent]:
    yield TextDelta("Half")
    raise ModelError("the model is overloaded", retryable=True)


async def breaking(request: ModelRequest) -> AsyncIterator[ModelEvent]:
    raise KeyError("bug")
    yield TextDelta("")


async def ending_early(request: ModelRequest) -> AsyncIterator[ModelEvent]:
    yield TextDelta("Half")


@pytest.mark.parametrize(("step", "error"), [(failing, ModelError), (ending_early, ModelError), (breaking, KeyError)])
async def test_a_failing_model_is_raised_after_the_events_and_the_next_turn_works(
    tmp_path: Path, step: Any, error: type[Exception]
) -> None:
    coder = make_coder(tmp_path, asks(call("list_files")), step, says("again"))
    events = []
    with pytest.raises(error):
        async for event in coder.turn(UserMessage("go")):
            events.append(event)
    assert not of(events, TurnEnded)
    assert outcomes(events) == ["completed"]
    assert_consistent(coder)
    if step is not breaking:
        assert coder.conversation.messages[-1] == AssistantMessage("Half")
    assert end_of(await take_turn(coder)) == "end_turn"
    assert_consistent(coder)


# --- Calls that cannot run -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (call("fly"), "there is no tool 'fly'; there are: list_files"),
        (call(""), "there is no tool ''"),
        (call("read_file"), "missing required field `path`"),
        (call("read_file", path="a", lines=3), "unknown field `lines`"),
        (call("read_file", path="/etc/passwd"), "outside the workspace"),
        (call("read_file", path="none"), "no such file"),
        (ToolCall("c", "read_file", {}, error="the arguments are not valid JSON"), "not valid JSON"),
    ],
)
async def test_a_call_that_cannot_be_meant_fails_with_the_reason_and_the_turn_goes_on(
    tmp_path: Path, bad: ToolCall, reason: str
) -> None:
    person = Person()
    coder = make_coder(tmp_path, asks(bad), says(), ask=person)
    events = await take_turn(coder)
    assert end_of(events) == "end_turn"
    assert outcomes(events) == ["failed"]
    assert reason in results(coder)[0].text
    assert reason in of(events, ToolFinished)[0].text
    assert not results(coder)[0].ok
    assert not person.questions
    assert_well_told(events)


class Nothing(Arguments, frozen=True):
    pass


@tool("broken", "Breaks.", "other", Nothing)
async def broken(arguments: Nothing, context: Context) -> Plan:
    async def perform(call: str) -> Outcome:
        raise RuntimeError("with a secret inside")

    return Plan("Break", None, perform)


@tool("broken_plan", "Breaks early.", "other", Nothing)
async def broken_plan(arguments: Nothing, context: Context) -> Plan:
    raise ZeroDivisionError


async def test_a_tool_with_a_fault_fails_its_call_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    coder = make_coder(tmp_path, asks(call("broken"), call("broken_plan")), says(), tools=[broken, broken_plan])
    events = await take_turn(coder)
    assert outcomes(events) == ["failed", "failed"]
    assert "RuntimeError" in results(coder)[0].text
    assert "secret" not in results(coder)[0].text + caplog.text
    assert end_of(events) == "end_turn"
