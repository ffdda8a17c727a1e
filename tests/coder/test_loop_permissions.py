"""The loop asks before each effect, in one place, and takes only a yes for a yes; sessions keep to their folders."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from coder_kit import (
    Person,
    asks,
    assert_well_told,
    call,
    end_of,
    make_coder,
    names_in,
    of,
    outcomes,
    results,
    says,
    take_turn,
)

from duologue.coder.conversation import NOT_ASKED
from duologue.coder.events import (
    FileDiff,
    Location,
    ToolFinished,
    ToolOutput,
    ToolRunning,
    ToolStarted,
)
from duologue.coder.models.base import (
    AssistantMessage,
    ModelEvent,
    StepEnded,
    TextDelta,
    ToolCall,
    UserMessage,
)
from duologue.coder.permissions import PermissionStore
from duologue.coder.tools import Arguments, Context, Outcome, Plan, tool
from duologue.local.rules import Use, parse_rule


class Nothing(Arguments, frozen=True):
    pass


# --- Permissions -----------------------------------------------------------------------------------------------------

EFFECTS = [
    (call("write_file", path="a", text="new"), "edit", 1),
    (call("edit_file", path="a", edits=[{"old": "old", "new": "new"}]), "edit", 1),
    (call("delete_file", path="a"), "delete", 1),
    (call("move_file", path="a", to="b"), "move", 2),
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
    rules = [parse_rule("edit:ok/**"), parse_rule("run:touch *"), parse_rule("reject run:touch c")]
    person = Person("reject_once")
    calls = [
        call("write_file", path="ok/a", text=""),
        call("write_file", path="a", text="x"),
        call("run_command", command="touch b"),
        call("run_command", command="touch c"),
        call("run_command", command="touch d; touch e"),
    ]
    store = PermissionStore(rules=rules)
    coder = make_coder(tmp_path, *(asks(each) for each in calls), says(), ask=person, store=store)
    events = await take_turn(coder)
    assert outcomes(events) == ["completed", "failed", "completed", "failed", "failed"]
    assert [question.title for question in person.questions] == ["Create a", "Run touch d; touch e"]
    assert names_in(tmp_path) == ["b", "ok"]
    assert "rule" in results(coder)[3].text


@pytest.mark.parametrize("refused_by", ["a person", "a rule"])
async def test_a_refusal_is_the_last_question_about_calls_that_were_made_together(
    tmp_path: Path, refused_by: str
) -> None:
    """The model may make them anew, one by one."""
    (tmp_path / "seen").write_text("")
    rules = [parse_rule("edit:c"), *([parse_rule("reject edit:b")] if refused_by == "a rule" else [])]
    person = Person(*(["allow_once", "reject_once"] if refused_by == "a person" else []), "allow_once")
    together = [call("write_file", path=name, text="x") for name in "abcd"]
    steps = [asks(*together, call("list_files", "look")), asks(call("write_file", "anew", path="d", text="x")), says()]
    coder = make_coder(tmp_path, *steps, ask=person, store=PermissionStore(rules=rules))
    events = await take_turn(coder)
    asked = ["Create a", "Create b", "Create d"] if refused_by == "a person" else ["Create a", "Create d"]
    assert [question.title for question in person.questions] == asked
    assert outcomes(events) == ["completed", "failed", "completed", "completed"]
    assert names_in(tmp_path) == ["a", "d", "seen"]
    assert [result.text for result in results(coder)[2:4]] == [NOT_ASKED] * 2


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


async def test_field_bug_17_what_is_no_text_never_reaches_history_or_events(tmp_path: Path) -> None:
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
    assert json.loads(json.dumps(results(coder)[0].data)) == ["bad � text", {"�": 1}]


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


@pytest.mark.parametrize("pause", [0, 0.05])
async def test_nobody_is_asked_about_a_call_that_was_not_shown_yet(tmp_path: Path, pause: float) -> None:
    shown: list[str] = []

    async def ask(question: Any) -> Any:
        assert shown[-1] == question.call
        return "allow_once"

    calls = [call("run_command", id=f"c{n}", command="true") for n in range(3)]
    coder = make_coder(tmp_path, asks(*calls, text="Now."), says(), ask=ask)
    finished = 0
    async for event in coder.turn(UserMessage("go")):
        await asyncio.sleep(pause)
        if isinstance(event, ToolStarted):
            shown.append(event.call)
        if isinstance(event, ToolFinished):
            assert event.outcome == "completed"
            finished += 1
    assert finished == 3


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
