"""The loop: steps, calls, permissions, and what a turn leaves behind however it ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from coder_kit import (
    Person,
    ScriptedModel,
    as_json,
    asks,
    assert_consistent,
    assert_well_told,
    call,
    end_of,
    make_coder,
    of,
    outcomes,
    says,
    take_turn,
)

from duologue.coder.conversation import Conversation
from duologue.coder.events import (
    FileDiff,
    Location,
    PlanChanged,
    PlanItem,
    Text,
    Thought,
    TitleChanged,
    ToolFinished,
    ToolOutput,
    ToolRunning,
    ToolStarted,
    TurnEnded,
    TurnUsage,
    UsageChanged,
)
from duologue.coder.limits import Limits
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
    Usage,
    UserMessage,
)
from duologue.coder.permissions import PermissionStore, parse_rule
from duologue.coder.rules import Use
from duologue.coder.tools import Arguments, Context, Outcome, Plan, tool


def results(coder: Any) -> list[ToolResult]:
    return [message for message in coder.conversation.messages if isinstance(message, ToolResult)]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


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
    coder = make_coder(tmp_path, *[asks(call("list_files"))] * 9, limits=Limits(steps=3))
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
    refusal = [TextDelta("I won't."), StepEnded(AssistantMessage("I won't."), "refusal")]
    coder = make_coder(tmp_path, says("hello"), asks(call("list_files")), refusal)
    await take_turn(coder, "hi")
    before = list(coder.conversation.messages)
    assert end_of(await take_turn(coder, "bad")) == "refusal"
    assert coder.conversation.messages == before


async def test_speech_and_thought_are_messages_of_their_own(tmp_path: Path) -> None:
    parts: list[ModelEvent] = [
        ThoughtDelta("hm"),
        ThoughtDelta(" m"),
        CallDelta("c", "list_files", "{"),
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


@tool("sly", "Shows an effect and asks for nothing.", "edit", Nothing)
async def sly(arguments: Nothing, context: Context) -> Plan:
    async def perform(call: str) -> Outcome:
        (context.workspace.cwd / "x").touch()
        return Outcome("")

    return Plan("Sly", None, perform, diffs=(FileDiff(context.workspace.cwd / "x", None, ""),))


async def test_a_plan_that_hides_its_effect_is_asked_about(tmp_path: Path) -> None:
    person = Person("reject_once")
    coder = make_coder(tmp_path, asks(call("sly")), says(), tools=[sly], ask=person)
    await take_turn(coder)
    assert len(person.questions) == 1
    assert not (tmp_path / "x").exists()


# --- Permissions -----------------------------------------------------------------------------------------------------

EFFECTS = [
    (call("write_file", path="a", text="new"), "edit", 1),
    (call("edit_file", path="a", edits=[{"old": "old", "new": "new"}]), "edit", 1),
    (call("delete_file", path="a"), "delete", 1),
    (call("run_command", command="rm a"), "execute", 0),
]


@pytest.mark.parametrize(("effect", "kind", "diffs"), EFFECTS)
@pytest.mark.parametrize("answer", ["reject_once", "reject_always", "nonsense", None, RuntimeError("lost")])
@pytest.mark.req("all-permissions-06", "all-permissions-07", "all-permissions-09")
async def test_a_refused_call_has_no_effect_and_the_turn_goes_on(
    tmp_path: Path, effect: ToolCall, kind: str, diffs: int, answer: Any
) -> None:
    (tmp_path / "a").write_text("old\n")
    person = Person(answer)
    coder = make_coder(tmp_path, asks(effect), says("Then not."), ask=person)
    events = await take_turn(coder)
    assert (tmp_path / "a").read_text() == "old\n"
    assert end_of(events) == "end_turn"
    assert outcomes(events) == ["failed"]
    assert "refused" in results(coder)[0].text
    assert not of(events, ToolRunning)
    question = person.questions[0]
    assert (question.kind, len(question.diffs)) == (kind, diffs)
    assert question.call == of(events, ToolStarted)[0].call
    assert_well_told(events)


async def test_a_question_shows_command_folder_and_scope(tmp_path: Path) -> None:
    person = Person("reject_once")
    await take_turn(make_coder(tmp_path, asks(call("run_command", command="make x")), says(), ask=person))
    question = person.questions[0]
    assert (question.title, question.command, question.cwd) == ("Run make x", "make x", tmp_path)
    assert question.scope == "exactly `make x`, in this project"


async def test_rules_decide_before_anyone_is_asked(tmp_path: Path) -> None:
    rules = [parse_rule("edit:ok/**"), parse_rule("run:touch *"), parse_rule("deny run:touch c")]
    person = Person("reject_once")
    calls = [
        call("write_file", path="ok/a", text=""),
        call("write_file", path="a", text="x"),
        call("run_command", command="touch b"),
        call("run_command", command="touch c"),
        call("run_command", command="touch d; touch e"),
    ]
    store = PermissionStore(rules=rules)
    coder = make_coder(tmp_path, asks(*calls), says(), ask=person, store=store)
    events = await take_turn(coder)
    assert outcomes(events) == ["completed", "failed", "completed", "failed", "failed"]
    assert [question.title for question in person.questions] == ["Create a", "Run touch d; touch e"]
    assert names_in(tmp_path) == ["b", "ok"]
    assert "rule" in results(coder)[3].text


async def test_always_spares_the_next_question(tmp_path: Path) -> None:
    person = Person("allow_always", "reject_once")
    steps = [asks(call("write_file", path=f"src/{n}", text="x")) for n in range(3)]
    coder = make_coder(tmp_path, *steps, asks(call("write_file", path="top", text="x")), says(), ask=person)
    events = await take_turn(coder)
    assert outcomes(events) == ["completed"] * 3 + ["failed"]
    assert len(person.questions) == 2


async def test_a_file_changed_while_the_question_was_open_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old\n")

    async def ask(question: Any) -> Any:
        (tmp_path / "a").write_text("changed by hand\n")
        return "allow_once"

    coder = make_coder(tmp_path, asks(call("write_file", path="a", text="new\n")), says(), ask=ask)
    events = await take_turn(coder)
    assert outcomes(events) == ["failed"]
    assert "has changed" in results(coder)[0].text
    assert (tmp_path / "a").read_text() == "changed by hand\n"


async def test_reading_asks_nobody(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    person = Person()
    calls = [call("read_file", path="a"), call("list_files"), call("search", pattern="x")]
    events = await take_turn(make_coder(tmp_path, asks(*calls), says(), ask=person))
    assert outcomes(events) == ["completed"] * 3
    assert not person.questions


@tool("db__drop", "A tool of somebody else.", "other", Nothing)
async def foreign(arguments: Nothing, context: Context) -> Plan:
    async def perform(call: str) -> Outcome:
        return Outcome("dropped", data=("bad \ud800 text", {"\udfff": 1}))

    return Plan("Drop \ud800 it", Use("db__drop"), perform)


async def test_tools_of_others_go_through_the_same_gate(tmp_path: Path) -> None:
    person = Person("allow_always", "reject_once")
    steps = asks(call("db__drop")), asks(call("db__drop")), says()
    coder = make_coder(tmp_path, *steps, tools=[foreign], ask=person)
    assert outcomes(await take_turn(coder)) == ["completed"] * 2
    assert person.questions[0].scope == "the tool `db__drop` in this project"
    assert len(person.questions) == 1


async def test_what_is_no_text_never_reaches_history_or_events(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    surrogates: list[ModelEvent] = [
        TextDelta("a\ud800b"),
        StepEnded(
            AssistantMessage(
                "a\ud800b", calls=(call("db__drop"), call("write_file", path="é", text="\ud83c\udf78 \ud800"))
            ),
            "tool_calls",
        ),
    ]
    tools = [foreign, *make_coder(tmp_path).tools]
    coder = make_coder(tmp_path, surrogates, says("ok"), says("ok"), tools=tools)
    events = await take_turn(coder, "hi \udc00") + await take_turn(coder)
    for message in coder.conversation.messages:
        str(message).encode()
    for event in events:
        str(event).encode()
    assert (tmp_path / "é").read_text() == "🍸 �"
    assert json.loads(as_json(results(coder)[0].data)) == ["bad � text", {"�": 1}]


# --- Paths of two sessions -------------------------------------------------------------------------------------------


@pytest.mark.req("all-session-04", "all-tools-05")
async def test_each_session_works_in_its_own_folder_with_absolute_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for name in ("one", "two"):
        root = tmp_path / name
        root.mkdir()
        calls = [call("write_file", path="a.txt", text=name), call("run_command", command="pwd; cat a.txt")]
        events = await take_turn(make_coder(root, asks(*calls), says()))
        edit, command = of(events, ToolStarted)
        assert edit.locations == (Location(root / "a.txt", 1),)
        assert edit.diffs == (FileDiff(root / "a.txt", None, name),)
        assert of(events, ToolRunning)[1] == ToolRunning(command.call, "pwd; cat a.txt", root)
        assert b"".join(event.data for event in of(events, ToolOutput)) == f"{root}\n{name}".encode()
        assert (root / "a.txt").read_text() == name
    assert list(elsewhere.iterdir()) == []


# --- Plan, title, usage ----------------------------------------------------------------------------------------------


async def test_a_plan_is_told_and_no_call_is_shown(tmp_path: Path) -> None:
    items = [{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress", "priority": "high"}]
    coder = make_coder(tmp_path, asks(call("update_plan", items=items)), says())
    events = await take_turn(coder)
    assert of(events, PlanChanged) == [PlanChanged((PlanItem("a", "completed"), PlanItem("b", "in_progress", "high")))]
    assert not of(events, ToolStarted)
    assert results(coder)[0].ok


@pytest.mark.parametrize(
    "items", [[{"content": "a", "status": "doing"}], [{"content": "a"}], "all", [{"status": "pending"}]]
)
async def test_a_plan_that_does_not_fit_is_not_told(tmp_path: Path, items: Any) -> None:
    coder = make_coder(tmp_path, asks(call("update_plan", items=items)), says())
    events = await take_turn(coder)
    assert not of(events, PlanChanged)
    assert not results(coder)[0].ok


async def test_a_session_is_named_after_its_first_prompt_until_the_model_names_it(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, says(), asks(call("set_title", title=" A\n better  name ")), says())
    long = "Please   fix\nthe bug " + "x" * 100
    events = await take_turn(coder, long) + await take_turn(coder, "more")
    titles = [event.title for event in of(events, TitleChanged)]
    assert titles[0].startswith("Please fix the bug xxx")
    assert len(titles[0]) <= 80
    assert titles[1:] == ["A better name"]
    assert coder.conversation.title == "A better name"


async def test_usage_is_the_context_of_the_last_step_and_the_sum_of_the_turn(tmp_path: Path) -> None:
    first, *rest = asks(call("list_files"))
    one = Usage(100, 10, 5, 50, 20, context_size=1000, cost=0.25)
    two = Usage(200, 20, context_size=1000, cost=0.5)
    coder = make_coder(
        tmp_path, [Usage(1, 1), one, first, *rest], [TextDelta("x"), two, StepEnded(AssistantMessage("x"))]
    )
    events = await take_turn(coder)
    assert of(events, UsageChanged) == [UsageChanged(110, 1000, 0.25), UsageChanged(220, 1000, 0.75)]
    assert events[-1] == TurnEnded("end_turn", TurnUsage(300, 30, 5, 50, 20))


async def test_unknown_usage_is_not_zero_usage(tmp_path: Path) -> None:
    events = await take_turn(make_coder(tmp_path, says()))
    assert events[-1] == TurnEnded("end_turn", None)
    assert not of(events, UsageChanged)


async def test_a_prompt_without_text_gives_no_title(tmp_path: Path) -> None:
    events = await take_turn(make_coder(tmp_path, says()), "  ")
    assert not of(events, TitleChanged)


# --- Undo ------------------------------------------------------------------------------------------------------------


async def test_the_edits_of_the_last_turn_are_undone_with_permission_and_diffs(tmp_path: Path) -> None:
    (tmp_path / "edited").write_bytes(b"\xef\xbb\xbfold\r\n")
    (tmp_path / "gone").write_text("gone\n")
    (tmp_path / "gone").chmod(0o750)
    (tmp_path / "binary").write_bytes(b"\0\1")
    person = Person()
    edits = [
        call("write_file", path="edited", text="mid\n"),
        call("edit_file", path="edited", edits=[{"old": "mid", "new": "new"}]),
        call("write_file", path="sub/created", text="c"),
        call("delete_file", path="gone"),
        call("delete_file", path="binary"),
        call("write_file", path="brief", text="b"),
        call("delete_file", path="brief"),
    ]
    coder = make_coder(
        tmp_path, asks(*edits), says(), says(), asks(call("undo_edits"), call("undo_edits")), says(), ask=person
    )
    await take_turn(coder)
    assert names_in(tmp_path) == ["edited", "sub"]
    await take_turn(coder, "nice")
    events = await take_turn(coder, "undo")
    assert outcomes(events) == ["completed", "failed"]
    assert (tmp_path / "edited").read_bytes() == b"\xef\xbb\xbfold\r\n"
    assert not (tmp_path / "sub" / "created").exists()
    assert (tmp_path / "gone").read_text() == "gone\n"
    assert (tmp_path / "gone").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "binary").read_bytes() == b"\0\1"
    assert not (tmp_path / "brief").exists()
    question = person.questions[-1]
    assert question.title == "Undo changes of 4 files"
    assert question.diffs == (
        FileDiff(tmp_path / "edited", "\ufeffnew\r\n", "\ufeffold\r\n"),
        FileDiff(tmp_path / "sub" / "created", "c", None),
        FileDiff(tmp_path / "gone", None, "gone\n"),
    )
    assert "no edits to undo" in results(coder)[-1].text


async def test_undo_goes_back_turn_by_turn(tmp_path: Path) -> None:
    steps = []
    for text in ("one", "two"):
        steps += [asks(call("write_file", path="a", text=text)), says()]
    coder = make_coder(tmp_path, *steps, asks(call("undo_edits")), says(), asks(call("undo_edits")), says())
    for _ in range(3):
        await take_turn(coder)
    assert (tmp_path / "a").read_text() == "one"
    await take_turn(coder)
    assert not (tmp_path / "a").exists()


async def test_undo_refuses_when_any_file_has_changed_since(tmp_path: Path) -> None:
    person = Person()
    edits = asks(call("write_file", path="a", text="a"), call("write_file", path="b", text="b"))
    coder = make_coder(tmp_path, edits, says(), asks(call("undo_edits")), says(), ask=person)
    await take_turn(coder)
    (tmp_path / "b").write_text("mine")
    assert outcomes(await take_turn(coder)) == ["failed"]
    assert "b: the file has changed" in results(coder)[-1].text
    assert (tmp_path / "a").read_text() == "a"
    assert len(person.questions) == 2


async def test_a_refused_undo_can_be_asked_again(tmp_path: Path) -> None:
    person = Person("allow_once", "reject_once", "allow_once")
    steps = asks(call("write_file", path="a", text="a")), asks(call("undo_edits")), asks(call("undo_edits")), says()
    coder = make_coder(tmp_path, *steps, ask=person)
    assert outcomes(await take_turn(coder)) == ["completed", "failed", "completed"]
    assert not (tmp_path / "a").exists()


async def test_a_write_that_failed_does_not_stand_in_the_way_of_undo(tmp_path: Path) -> None:
    (tmp_path / "ro").write_text("x")
    (tmp_path / "ro").chmod(0o444)
    edits = asks(call("write_file", path="a", text="a"), call("write_file", path="ro", text="y"))
    coder = make_coder(tmp_path, edits, says(), asks(call("undo_edits")), says())
    assert outcomes(await take_turn(coder)) == ["completed", "failed"]
    assert outcomes(await take_turn(coder)) == ["completed"]
    assert not (tmp_path / "a").exists()


async def test_old_turns_are_forgotten_when_they_grow_too_large(tmp_path: Path) -> None:
    steps = [step for n in range(3) for step in (asks(call("write_file", path="a", text=f"{n}" * 100)), says())]
    undo = [asks(call("undo_edits"), call("undo_edits"), call("undo_edits")), says()]
    coder = make_coder(tmp_path, *steps, *undo, limits=Limits(journal=450))
    for _ in range(3):
        await take_turn(coder)
    assert outcomes(await take_turn(coder)) == ["completed", "completed", "failed"]
    assert (tmp_path / "a").read_text() == "0" * 100
