"""A turn from the outside: what it says, asks and does when something is refused, stopped, replayed or forgotten."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from offline_kit import Session

from duologue.coder.conversation import NOT_ASKED
from duologue.coder.dispatch import REFUSED
from duologue.coder.events import PermissionAnswer, PermissionQuestion
from duologue.coder.models.base import (
    AssistantMessage,
    ChatMessage,
    ModelEvent,
    ModelRequest,
    StepEnded,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolSpec,
    UserMessage,
)
from duologue.coder.models.offline import OfflineModel, Settings
from duologue.coder.models.offline.play import LOST
from duologue.coder.models.offline.turn import is_refused, why_not

NAMES = (
    "list_files",
    "read_file",
    "search",
    "write_file",
    "edit_file",
    "delete_file",
    "run_command",
    "update_plan",
    "set_title",
)
TOOLS = tuple(ToolSpec(name, "", {}) for name in NAMES)


def request(*messages: ChatMessage, conversation: str = "one", tools: tuple[ToolSpec, ...] = TOOLS) -> ModelRequest:
    return ModelRequest(conversation, "", messages, tools, "/nowhere")


async def step(model: OfflineModel, asked: ModelRequest) -> AssistantMessage:
    events: list[ModelEvent] = [event async for event in model.stream(asked)]
    assert isinstance(events[-1], StepEnded)
    assert sum(isinstance(event, StepEnded) for event in events) == 1
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert said == events[-1].message.text
    assert (events[-1].reason == "tool_calls") == bool(events[-1].message.calls)
    return events[-1].message


def result(call: ToolCall, data: object = None, *, ok: bool = True, text: str = "") -> ToolResult:
    return ToolResult(call.id, call.name, text, ok, data)


async def test_says_what_it_is_and_what_it_can_do(tmp_path: Path) -> None:
    turn = await Session(tmp_path, {"app/parser.py": "x = 1\n"}).say("who are you?")
    assert "rules, not a language model" in turn.said
    assert "cannot" in turn.said
    assert "show lines 1-20 of app.py" in turn.said
    assert turn.tools == [], "help needs no look at the project"
    assert turn.ended == "end_turn"


@pytest.mark.parametrize("text", ["write a poem about the sea", "/frobnicate now", "   "])
async def test_says_that_no_rule_fits_and_ends_the_turn(tmp_path: Path, text: str) -> None:
    session = Session(tmp_path, {"app.py": "x = 1\n"})
    turn = await session.say(text)
    assert "not a language model" in turn.said
    assert "fix the failing test" in turn.said
    assert turn.tools == []
    assert turn.ended == "end_turn"
    assert session.questions == []


async def test_a_title_is_set_once(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.txt": "one\n"})
    first = await session.say("find one")
    second = await session.say("find two")
    assert first.titles[-1] == "Find 'one'"
    assert second.titles == []


async def test_several_steps_follow_a_plan(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "one = 1\nprint(one)\n"})
    turn = await session.say("find one, then rename it to two and show a.py")
    states = [[item.status for item in plan.items] for plan in turn.plans]
    assert states[0] == ["in_progress", "pending", "pending"]
    assert states[-1] == ["completed"] * 3
    assert session.read("a.py") == "two = 1\nprint(two)\n"


async def test_a_refusal_ends_the_turn_with_a_sentence_and_the_next_turn_is_fresh(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "one = 1\n"})
    session.answers["edit"] = "reject_once"
    turn = await session.say("rename one to two and run `echo done`")
    assert turn.said.endswith("Not allowed, so I stopped. Nothing was changed.\n\nNot done: Run echo done.\n")
    assert turn.ended == "end_turn"
    assert turn.commands == []
    assert session.read("a.py") == "one = 1\n"
    session.answers.clear()
    assert "Done: 1 place" in (await session.say("rename one to two")).said


async def test_a_refusal_says_that_earlier_edits_stay_and_undo_says_where_it_works(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "one = 1\n"})
    session.answers["execute"] = "reject_once"
    turn = await session.say("rename one to two, run `echo done` and show a.py")
    assert "Not allowed, so I stopped. What I changed before that stays; “undo” takes it back." in turn.said
    assert "Not done: Show a.py." in turn.said
    await session.say("undo")
    assert session.read("a.py") == "one = 1\n"
    assert "each `duologue run` starts me anew" in (await session.say("undo")).said


async def test_a_refusal_of_one_file_ends_the_rename_and_says_what_is_done(tmp_path: Path) -> None:
    session = Session(tmp_path, {f"{name}.py": "one = 1\n" for name in "abcd"})
    asked: list[str] = []

    async def ask(question: PermissionQuestion) -> PermissionAnswer:
        asked.append(question.title)
        return "reject_once" if question.diffs[0].path.name == "c.py" else "allow_once"

    session.coder.gate.ask = ask
    turn = await session.say("rename one to two")
    assert len(asked) == 3
    assert "Changed: a.py, b.py. Not changed: c.py, d.py." in turn.said
    assert turn.said.count("“undo” takes it back") == 1 and "Done" not in turn.said
    assert [session.read(f"{name}.py")[:3] for name in "abcd"] == ["two", "two", "one", "one"]


async def test_undo_is_not_offered_where_it_cannot_work(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "one = 1\n"})
    session.coder.tools = tuple(tool for tool in session.coder.tools if tool.spec.name != "undo_edits")
    session.answers["execute"] = "reject_once"
    turn = await session.say("rename one to two and run `echo done`")
    assert "What I changed before that stays." in turn.said and "undo" not in turn.said
    assert "undo" not in (await session.say("what can you do?")).said
    assert "Nothing was undone. Undo takes back what I edited since I was started;" in (await session.say("undo")).said


@pytest.mark.parametrize("text", [*REFUSED.values(), NOT_ASKED])
def test_what_the_model_is_told_of_a_refusal_is_put_into_words_for_the_person(text: str) -> None:
    refused = ToolResult("c1", "edit_file", text, ok=False)
    assert is_refused(refused)
    said = why_not("edit_file", refused)
    assert said.startswith("Not allowed") and said.endswith("so I stopped.")
    assert not is_refused(ToolResult("c1", "edit_file", "there is no such file", ok=False))


async def test_a_step_that_is_not_reached_is_named(tmp_path: Path) -> None:
    turn = await Session(tmp_path, {"a.py": "one = 1\n"}).say("rename three to four, then undo")
    assert "nothing to change.\n\nNot done: Undo the last edits.\n" in turn.said
    assert "undo_edits" not in turn.tools


async def test_edits_and_undo_in_one_request(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "one = 1\n"})
    turn = await session.say("rename one to two, then undo")
    assert turn.tools.count("undo_edits") == 1
    assert session.read("a.py") == "one = 1\n"


async def test_a_cancelled_question_ends_the_turn_and_the_next_turn_is_fresh(tmp_path: Path) -> None:
    session = Session(tmp_path, {"a.py": "one = 1\n"})
    session.answers["execute"] = "cancelled"
    assert (await session.say("run `echo hello`")).ended == "cancelled"
    assert "1 place" in (await session.say("find one")).said


async def test_a_failure_of_a_tool_is_told(tmp_path: Path) -> None:
    turn = await Session(tmp_path).say("create ../outside.txt with the content `x`")
    assert "`write_file` did not work" in turn.said
    assert turn.ended == "end_turn"


async def test_says_when_a_tool_is_not_offered() -> None:
    message = await step(OfflineModel(), request(UserMessage("run `ls`"), tools=()))
    assert "does not offer it" in message.text
    assert message.calls == ()


async def test_a_turn_of_an_earlier_process_goes_on_from_its_history() -> None:
    asked: list[ChatMessage] = [UserMessage("find one")]
    first = await step(OfflineModel(), request(*asked))
    asked += [first, result(first.calls[0])]
    second = await step(OfflineModel(), request(*asked))
    assert second.calls[0].name == "search"
    found = {"matches": [{"path": "a.txt", "line": 3, "text": "one"}], "truncated": False}
    asked += [second, result(second.calls[0], found)]
    last = await step(OfflineModel(), request(*asked))
    assert "a.txt:3" in last.text
    assert last.calls == ()


async def test_a_history_that_does_not_fit_is_told() -> None:
    strange = ToolCall("c1", "run_command", {"command": "rm -rf /"})
    asked = request(UserMessage("find one"), AssistantMessage(calls=(strange,)), result(strange, {}))
    message = await step(OfflineModel(), asked)
    assert message.text == LOST
    assert message.calls == ()


async def test_the_same_step_asked_twice_gives_the_same_calls() -> None:
    model = OfflineModel()
    asked = request(UserMessage("find one"))
    first, second = await step(model, asked), await step(model, asked)
    assert [(c.name, c.arguments) for c in first.calls] == [(c.name, c.arguments) for c in second.calls]
    going_on = await step(model, request(UserMessage("find one"), first, result(first.calls[0])))
    assert going_on.calls[0].name == "search"


async def test_memory_is_bounded_and_forgotten_turns_still_go_on() -> None:
    model = OfflineModel(Settings(remembered_turns=8))
    steps = {
        name: await step(model, request(UserMessage("find one"), conversation=name)) for name in map(str, range(40))
    }
    assert len(model._plays) == 8
    for name in ("0", "39"):
        asked = request(UserMessage("find one"), steps[name], result(steps[name].calls[0]), conversation=name)
        assert (await step(model, asked)).calls[0].name == "search"


async def test_a_step_that_was_cut_off_does_not_spoil_the_next_turn() -> None:
    model = OfflineModel()
    stream = model.stream(request(UserMessage("what can you do?")))
    assert isinstance(stream, AsyncGenerator)
    await anext(stream)
    await stream.aclose()
    message = await step(model, request(UserMessage("what can you do?"), UserMessage("hello")))
    assert message.text.startswith("Hello.")


async def test_conversations_do_not_mix(tmp_path: Path) -> None:
    model = OfflineModel()
    folders = [tmp_path / str(n) for n in range(6)]
    for folder in folders:
        folder.mkdir()
    sessions = [Session(folder, {"a.txt": f"word{n}\n"}, model) for n, folder in enumerate(folders)]
    turns = await asyncio.gather(*(session.say(f"find word{n}") for n, session in enumerate(sessions)))
    assert all(f"`word{n}`: 1 place" in turn.said for n, turn in enumerate(turns))


async def test_the_package_loads_little() -> None:
    code = (
        "import sys; import duologue.coder.models.offline;"
        "print([m for m in ('tokenize', 'pytest', 'pydantic_ai', 'unittest', 'httpx') if m in sys.modules])"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert output.decode().strip() in ("[]", "['tokenize']")


async def test_a_clients_note_before_the_persons_words_is_passed_over() -> None:
    """JupyterLab puts one before the first message of a session."""
    note = "System note: When editing notebooks (.ipynb), use the notebook tools.\n\n"
    asked = request(UserMessage(f"{note}run echo hi"), tools=(ToolSpec("run_command", "", {}),))
    answer = await step(OfflineModel(Settings()), asked)
    assert [(call.name, call.arguments["command"]) for call in answer.calls] == [("run_command", "echo hi")]
