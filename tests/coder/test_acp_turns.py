"""A turn of the coding agent as a client sees it, in both versions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Person, Scripted, opened, take_turn
from coder_kit import asks, call, says

from duologue.client import TurnFailed
from duologue.coder.acp import CodingAgent
from duologue.coder.models.base import (
    AssistantMessage,
    ModelError,
    ModelEvent,
    ModelRequest,
    StepEnded,
    TextDelta,
    ThoughtDelta,
    ToolResult,
    Usage,
)
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.common.updates import SessionInfoUpdateEvent, UsageUpdateEvent
from duologue.protocol.v2.content import ResourceLinkBlock
from duologue.protocol.v2.plan import ItemsPlan
from duologue.protocol.v2.tools import ToolContent, ToolDiff
from duologue.protocol.v2.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    PlanUpdateEvent,
    TerminalUpdateEvent,
    ToolCallUpdateEvent,
)
from duologue.session.entries import Role
from duologue.testing import connected


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def tool_text(content: list[Any]) -> str:
    blocks = [item.content for item in content if isinstance(item, ToolContent)]
    return "\n".join(block.text for block in blocks if isinstance(block, TextBlock))


def failing(error: Exception) -> Any:
    async def step(request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("so far ")
        raise error

    return step


@pytest.mark.req("v1-prompt-03", "v1-prompt-05", "v2-prompt-03", "v2-prompt-06")
async def test_thoughts_and_text_stream_as_messages_of_their_own(tmp_path: Path, protocol: int) -> None:
    step: list[ModelEvent] = [
        ThoughtDelta("let me "),
        ThoughtDelta("see"),
        TextDelta("Hello "),
        TextDelta("there"),
        Usage(100, 20, thought_tokens=5, context_size=1000, cost=0.25),
        StepEnded(AssistantMessage("Hello there")),
    ]
    async with opened(tmp_path, step, protocol=protocol) as (session, person, _):
        turn = session.prompt("hi")
        async for _ in turn:
            pass
        said = [(message.role, message.text) for message in session.transcript.messages]
        assert said == [(Role.USER, "hi"), (Role.THOUGHT, "let me see"), (Role.AGENT, "Hello there")]
        assert len(person.of(AgentThoughtChunk)) == 2 and len(person.of(AgentMessageChunk)) == 2
        assert turn.stop_reason is StopReason.END_TURN
        assert turn.usage is not None and (turn.usage.input_tokens, turn.usage.output_tokens) == (100, 20)
        (usage,) = person.of(UsageUpdateEvent)
        assert (usage.used, usage.size) == (120, 1000)
        assert usage.cost and usage.cost.amount == 0.25
        assert person.of(SessionInfoUpdateEvent)[0].title == "hi"


@pytest.mark.req("all-tools-01", "all-tools-03", "all-tools-04", "all-tools-05", "v1-tools-10", "v2-tools-02")
async def test_an_edit_is_told_asked_and_kept_with_its_diff(tmp_path: Path, protocol: int) -> None:
    """Field bugs 60, 102, 105 and 107."""
    file = tmp_path / "a.txt"
    file.write_text("one\ntwo\n")
    edit = call("edit_file", path="a.txt", edits=[{"old": "two", "new": "three"}])
    seen: list[str] = []

    async def look(session: Any, request: Any) -> None:
        assert file.read_text() == "one\ntwo\n"
        told = session.transcript.tool_calls[request.subject.tool_call.tool_call_id]
        seen.append(str(told.status))

    person = Person(at_question=look)
    async with opened(tmp_path, asks(edit), says(), protocol=protocol, person=person) as (session, _, _models):
        assert await take_turn(session) is StopReason.END_TURN
        assert file.read_text() == "one\nthree\n"
        assert seen == ["pending"]
        (question,) = person.questions
        shown = question.subject.tool_call
        (diff,) = [item for item in shown.content if isinstance(item, ToolDiff)]
        assert diff.patch and "-two\n+three" in diff.patch.text
        (told,) = session.transcript.tool_calls.values()
        assert person.statuses(told.id) == ["pending", "in_progress", "completed"]
        assert told.name == "edit_file" and told.kind == "edit"
        assert told.raw_input["path"] == str(file)
        assert [(place.path, place.line) for place in told.locations] == [(str(file), 2)]
        (kept,) = told.content
        assert isinstance(kept, ToolDiff) and [getattr(change, "path", None) for change in kept.changes] == [str(file)]
        assert told.raw_output["path"] == "a.txt"


async def test_a_move_is_told_and_asked_with_both_of_its_paths(tmp_path: Path, protocol: int) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    move = call("move_file", path="a.txt", to="sub/b.txt")
    person = Person()
    async with opened(tmp_path, asks(move), says(), protocol=protocol, person=person) as (session, _, _models):
        assert await take_turn(session) is StopReason.END_TURN
        (question,) = person.questions
        shown = question.subject.tool_call
        assert shown.kind == "move" and shown.title == "Move a.txt to sub/b.txt"
        assert "Always allow deleting and moving files" in [option.name[:38] for option in question.options]
        (told,) = session.transcript.tool_calls.values()
        both = [str(tmp_path / "sub" / "b.txt"), str(tmp_path / "a.txt")]
        assert [told.raw_input["to"], told.raw_input["path"]] == both
        assert [place.path for place in told.locations] == both


@pytest.mark.req("all-permissions-06", "all-permissions-07")
async def test_a_refused_edit_fails_and_the_turn_goes_on(tmp_path: Path, protocol: int) -> None:
    """Field bugs 66 and 70."""
    write = call("write_file", path="a.txt", text="x")
    person = Person("reject_once")
    async with opened(tmp_path, asks(write), says("I leave it."), protocol=protocol, person=person) as (session, _, _m):
        assert await take_turn(session) is StopReason.END_TURN
        assert not (tmp_path / "a.txt").exists()
        (told,) = session.transcript.tool_calls.values()
        assert person.statuses(told.id) == ["pending", "failed"]
        assert "refused" in tool_text(told.content)


@pytest.mark.req("all-permissions-08", "all-permissions-10", "all-permissions-01")
async def test_always_holds_for_what_its_label_says(tmp_path: Path, protocol: int) -> None:
    """Field bug 65."""
    steps = [
        asks(call("run_command", command="echo a")),
        asks(call("run_command", command="echo b c")),
        asks(call("run_command", command="touch made")),
        says(),
    ]
    person = Person("allow_always", "reject_once")
    async with opened(tmp_path, *steps, protocol=protocol, person=person) as (session, _, _models):
        await take_turn(session)
        assert [question.title for question in person.questions] == ["Run echo a", "Run touch made"]
        names = {str(option.kind): option.name for option in person.questions[0].options}
        assert "`echo`" in names["allow_always"] and "`echo`" in names["reject_always"]
        assert not (tmp_path / "made").exists()


async def test_always_outlives_the_process_where_it_can_be_kept(tmp_path: Path) -> None:
    """Field bug 65."""
    root, store = tmp_path / "project", tmp_path / "state" / "permissions.json"
    root.mkdir()
    for answer, questions in (("allow_always", 1), ("reject_once", 0)):
        person = Person(answer)
        step = asks(call("write_file", path="a.txt", text=answer))
        async with opened(root, step, says(), person=person, permissions=store) as (session, _, _models):
            await take_turn(session)
        assert len(person.questions) == questions
        assert (root / "a.txt").read_text().strip() == answer


@pytest.mark.req("all-permissions-09")
async def test_a_client_that_cannot_be_asked_has_refused(tmp_path: Path, protocol: int) -> None:
    async def broken(session: Any, request: Any) -> None:
        raise RpcError(-32603, "no window")

    person = Person(at_question=broken)
    write = call("write_file", path="a.txt", text="x")
    async with opened(tmp_path, asks(write), says(), protocol=protocol, person=person) as (session, _, _models):
        assert await take_turn(session) is StopReason.END_TURN
        assert not (tmp_path / "a.txt").exists()


@pytest.mark.req("v2-terminal-01", "v2-terminal-06", "v2-terminal-07", "v2-permissions-03")
async def test_a_command_shows_its_terminal(tmp_path: Path, protocol: int) -> None:
    run = call("run_command", command="echo out; echo err >&2; exit 3")
    async with opened(tmp_path, asks(run), says(), protocol=protocol) as (session, person, _):
        await take_turn(session)
        (question,) = person.questions
        if protocol == 2:
            assert question.subject.command == "echo out; echo err >&2; exit 3"
            assert question.subject.cwd == str(tmp_path)
        else:
            assert "echo out; echo err >&2; exit 3" in tool_text(question.subject.tool_call.content)
        (told,) = session.transcript.tool_calls.values()
        (terminal,) = session.transcript.terminals.values()
        assert terminal.text == "out\nerr\n" and terminal.exit_status is not None
        assert terminal.exit_status.exit_code == 3
        assert [getattr(item, "terminal_id", None) for item in told.content] == [terminal.id]
        assert person.statuses(told.id) == ["pending", "in_progress", "failed"]
        assert told.raw_output["exit_code"] == 3 and told.raw_input["command"].startswith("echo out")
        if protocol == 2:
            first = person.of(TerminalUpdateEvent)[0]
            assert first.command == "echo out; echo err >&2; exit 3" and first.cwd == str(tmp_path)


@pytest.mark.req("all-plan-01")
async def test_a_plan_is_shown_and_no_tool_call_for_it(tmp_path: Path, protocol: int) -> None:
    items = [{"content": "look", "status": "completed", "priority": "high"}, {"content": "act", "status": "pending"}]
    async with opened(tmp_path, asks(call("update_plan", items=items)), says(), protocol=protocol) as (
        session,
        person,
        _,
    ):
        await take_turn(session)
        plan = person.of(PlanUpdateEvent)[-1].plan
        assert isinstance(plan, ItemsPlan)
        assert [(e.content, e.status, e.priority) for e in plan.entries] == [
            ("look", "completed", "high"),
            ("act", "pending", "medium"),
        ]
        assert not person.of(ToolCallUpdateEvent)


@pytest.mark.req("v2-cancellation-03", "v1-prompt-08")
@pytest.mark.parametrize(("status", "code"), [(401, -32000), (429, -32603), (None, -32603)])
async def test_a_failing_model_is_an_error_with_its_cause(
    tmp_path: Path, protocol: int, status: int | None, code: int
) -> None:
    """Field bug 91."""
    error = ModelError("the provider said no", status=status, retryable=status == 429)
    async with opened(tmp_path, failing(error), says("again"), protocol=protocol) as (session, _, models):
        with pytest.raises((TurnFailed, RpcError)) as caught:
            await take_turn(session)
        assert caught.value.code == code
        assert caught.value.message == "the provider said no"
        assert caught.value.data["details"] == "the provider said no"
        assert await take_turn(session, "once more") is StopReason.END_TURN
        assert [message.text for message in models.model.requests[-1].messages if hasattr(message, "images")] == [
            "go",
            "once more",
        ]


@pytest.mark.req("v1-prompt-04")
@pytest.mark.parametrize(("reason", "expected"), [("length", "max_tokens"), ("refusal", "refusal")])
async def test_stop_reasons(tmp_path: Path, protocol: int, reason: Any, expected: str) -> None:
    step: list[ModelEvent] = [TextDelta("x"), StepEnded(AssistantMessage("x"), reason)]
    async with opened(tmp_path, step, protocol=protocol) as (session, _, _models):
        assert await take_turn(session) == expected


@pytest.mark.req("v1-prompt-07")
async def test_a_refused_prompt_is_not_in_the_next_request(tmp_path: Path, protocol: int) -> None:
    refused: list[ModelEvent] = [TextDelta("I won't"), StepEnded(AssistantMessage("I won't"), "refusal")]
    steps = [says("hello"), asks(call("list_files")), refused, says()]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, _, models):
        await take_turn(session, "first")
        assert await take_turn(session, "something bad") == StopReason.REFUSAL
        assert await take_turn(session, "last") == StopReason.END_TURN
        told = [getattr(message, "text", "") for message in models.model.requests[-1].messages]
        assert told == ["first", "hello", "last"]


@pytest.mark.req("all-session-02", "all-prompt-04")
async def test_sessions_work_in_their_own_folders_at_once(tmp_path: Path, protocol: int) -> None:
    """Field bug 107."""
    roots = [tmp_path / name for name in ("one", "two")]
    models = Scripted(*[asks(call("write_file", path="a.txt", text="x")) for _ in roots], says(), says())
    person = Person()
    async with connected(CodingAgent(models=models), person, protocol=protocol) as connection:  # type: ignore[arg-type]
        sessions = []
        for root in roots:
            root.mkdir()
            sessions.append(await connection.new_session(root))
        await asyncio.gather(*(take_turn(session) for session in sessions))
        for root, session in zip(roots, sessions, strict=True):
            (told,) = session.transcript.tool_calls.values()
            assert told.locations[0].path == str(root / "a.txt") and (root / "a.txt").exists()


@pytest.mark.req("all-tools-02")
async def test_ids_of_calls_are_unique_though_the_model_repeats_its_own(tmp_path: Path, protocol: int) -> None:
    """Field bug 108."""
    steps = [asks(call("list_files")), says(), asks(call("list_files")), says()]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, _, _models):
        await take_turn(session)
        await take_turn(session)
        assert len(session.transcript.tool_calls) == 2


@pytest.mark.req("v2-terminal-15", "v1-session-05")
async def test_a_replay_gives_what_was_seen_live(tmp_path: Path, protocol: int) -> None:
    """Field bugs 72 and 73."""
    steps = [
        asks(
            call("write_file", "c1", path="a.txt", text="x"), call("run_command", "c2", command="echo hi"), text="Now:"
        ),
        says("done"),
    ]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, person, _models):
        await take_turn(session, "please")
        live = session.transcript
        count = len(person.updates)
        again = await session.connection.resume_session(session.id, tmp_path, replay=True)
        replayed = again.transcript
        assert [(m.role, m.text) for m in replayed.messages] == [(m.role, m.text) for m in live.messages]
        assert [m.id for m in replayed.messages if m.role is Role.AGENT] == [
            m.id for m in live.messages if m.role is Role.AGENT
        ]
        assert list(replayed.tool_calls) == list(live.tool_calls)
        for one, other in zip(replayed.tool_calls.values(), live.tool_calls.values(), strict=True):
            assert list(one.updates()) == list(other.updates())
        assert [t.output for t in replayed.terminals.values()] == [t.output for t in live.terminals.values()]
        assert len(person.updates) > count
        count = len(person.updates)
        await session.connection.resume_session(session.id, tmp_path, replay=False)
        assert len(person.updates) == count


async def test_a_session_of_another_process_is_unknown(tmp_path: Path, protocol: int) -> None:
    """Field bug 76."""
    async with opened(tmp_path, protocol=protocol) as (session, _, _models):
        with pytest.raises(RpcError) as caught:
            await session.connection.resume_session("nope", tmp_path)
        assert caught.value.code == -32002


@pytest.mark.req("all-prompt-02")
@pytest.mark.parametrize("text", ["/some/dir is full", "// comment", "/unknown x", "/", "/fix a\n  b\tc  d"])
async def test_text_with_a_slash_is_text(tmp_path: Path, text: str) -> None:
    """Field bugs 118 and 119."""
    async with opened(tmp_path, says()) as (session, _, models):
        await take_turn(session, text)
        assert models.model.requests[0].messages[0].text == text


@pytest.mark.req("all-prompt-02")
async def test_a_linked_file_is_read_into_the_prompt(tmp_path: Path, protocol: int) -> None:
    (tmp_path / "a b#c.txt").write_text("inside\n")
    link = ResourceLinkBlock(name="a", uri=f"file://{tmp_path}/a%20b%23c.txt")
    async with opened(tmp_path, says(), protocol=protocol) as (session, _, models):
        await take_turn(session, [link])
        assert "inside" in models.model.requests[0].messages[0].text


def test_what_is_loaded_ahead_ends_with_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer would not: it could fire when the loop takes no more steps, which leaves a coroutine never awaited."""
    monkeypatch.setattr("duologue.coder.acp.LOAD_AFTER", 1000)
    agent = CodingAgent(models=Scripted())
    begun: list[asyncio.Future[None]] = []

    async def main() -> None:
        async with connected(agent, Person()) as connection:
            await connection.new_session(tmp_path)
            begun.extend(agent._preparing)

    asyncio.run(main())
    assert [task.cancelled() for task in begun] == [True]
    assert agent._loading is None


@pytest.mark.parametrize("depth", [150, 240, 5000])
@pytest.mark.parametrize("tool", ["read_file", "no_such_tool"])
async def test_arguments_that_nest_too_deep_are_the_models_mistake(
    tmp_path: Path, protocol: int, tool: str, depth: int
) -> None:
    """A client refused the update that told of the call, and it was shown as in progress for ever."""
    nested: Any = 1
    for _ in range(depth):
        nested = [nested]
    steps = [asks(call(tool, "c1", path=nested)), asks(call(tool, "c2", path={"a": nested})), says("went on")]
    async with opened(tmp_path, *steps, protocol=protocol) as (session, person, models):
        assert await take_turn(session) == "end_turn"
        assert [person.statuses(id)[-1] for id in ("c1", "c2")] == ["failed", "failed"]
        assert [message.text for message in session.transcript.messages][-1] == "went on"
        told = [message.text for message in models.model.requests[-1].messages if isinstance(message, ToolResult)]
        assert len(told) == 2 and (tool != "read_file" or all("nest deeper than 100" in text for text in told))
