"""Cancelling a turn, in any phase and by any way, and readers that are slow or go away."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress
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
    says,
    take_turn,
    written,
)

from duologue.coder.events import Event, Text, ToolFinished, ToolOutput, ToolRunning, ToolStarted, TurnEnded
from duologue.coder.limits import CoderLimits
from duologue.coder.loop import Coder
from duologue.coder.models.base import (
    AssistantMessage,
    ModelEvent,
    ModelRequest,
    StepEnded,
    TextDelta,
    ToolResult,
    Usage,
    UserMessage,
)
from duologue.coder.permissions import PermissionStore
from duologue.local.rules import parse_rule
from procs import alive

QUICK = CoderLimits(stop_grace=0.5)


async def hanging(request: ModelRequest) -> AsyncIterator[ModelEvent]:
    yield TextDelta("Let me ")
    yield Usage(5, 1)
    await asyncio.sleep(60)


async def silent(request: ModelRequest) -> AsyncIterator[ModelEvent]:
    await asyncio.sleep(60)
    yield TextDelta("")


async def hanging_ask(question: Any) -> Any:
    await asyncio.sleep(60)


RUN = asks(call("run_command", command="echo begun; sleep 60 & echo $! > pid; wait"), call("list_files"))

PHASES: list[tuple[str, Any, Any, Callable[[Event], bool]]] = [
    ("the model is silent", silent, Person(), lambda event: not isinstance(event, TurnEnded)),
    ("the model speaks", hanging, Person(), lambda event: isinstance(event, Text)),
    ("a question is open", RUN, hanging_ask, lambda event: isinstance(event, ToolStarted)),
    ("a command runs", RUN, Person(), lambda event: isinstance(event, ToolOutput)),
]


async def cancel_at(coder: Coder, when: Callable[[Event], bool], times: int = 1) -> list[Event]:
    events: list[Event] = []
    async with aclosing(coder.turn(UserMessage("go"))) as turn:
        async for event in turn:
            events.append(event)
            if when(event):
                for _ in range(times):
                    coder.cancel()
    return events


@pytest.mark.parametrize(("name", "step", "ask", "when"), PHASES, ids=[phase[0] for phase in PHASES])
@pytest.mark.req("v1-cancellation-01", "v1-cancellation-02", "all-cancellation-01")
async def test_a_cancelled_turn_ends_as_cancelled_in_any_phase(
    tmp_path: Path, name: str, step: Any, ask: Any, when: Callable[[Event], bool]
) -> None:
    coder = make_coder(tmp_path, step, says("next"), ask=ask, limits=QUICK)
    events = await asyncio.wait_for(cancel_at(coder, when), 30)
    assert end_of(events) == "cancelled"
    assert of(events, TurnEnded) == [events[-1]]
    assert outcomes(events) == ["cancelled"] * len(of(events, ToolStarted))
    assert_well_told(events)
    assert_consistent(coder)
    after = await take_turn(coder, "again")
    assert end_of(after) == "end_turn"
    assert [event.text for event in of(after, Text)] == ["next"]
    assert_consistent(coder)


async def test_a_cancel_before_anything_was_done_asks_no_model(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, says("never"), says("next"))
    turn = coder.turn(UserMessage("go"))
    first = asyncio.create_task(anext(turn))
    await asyncio.sleep(0)
    assert coder.cancel()
    events = [await first] + [event async for event in turn]
    assert end_of(events) == "cancelled"
    assert isinstance(coder.model, ScriptedModel)
    assert coder.model.requests == []
    assert end_of(await take_turn(coder)) == "end_turn"


async def test_a_cancel_after_the_last_words_still_ends_the_turn_once(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, says("all"), says("next"))
    events = await cancel_at(coder, lambda event: isinstance(event, Text))
    assert len(of(events, TurnEnded)) == 1
    assert end_of(await take_turn(coder)) == "end_turn"


async def test_what_was_said_before_the_cancel_is_remembered(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, hanging)
    events = await cancel_at(coder, lambda event: isinstance(event, Text))
    assert coder.conversation.messages == [UserMessage("go"), AssistantMessage("Let me ")]
    last = events[-1]
    assert isinstance(last, TurnEnded)


async def test_usage_of_a_cancelled_turn_is_what_is_known(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, [Usage(7, 2), *RUN], limits=QUICK)
    events = await cancel_at(coder, lambda event: isinstance(event, ToolRunning))
    last = events[-1]
    assert isinstance(last, TurnEnded)
    assert last.usage is not None
    assert (last.usage.input_tokens, last.usage.output_tokens) == (7, 2)
    nothing = await cancel_at(make_coder(tmp_path, silent), lambda event: True)
    assert nothing[-1] == TurnEnded("cancelled", None)


async def test_cancelling_again_changes_nothing_also_not_for_the_next_turn(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, RUN, asks(call("run_command", command="echo x > x")), says(), limits=QUICK)
    assert not coder.cancel()
    events = await cancel_at(coder, lambda event: isinstance(event, ToolRunning | ToolFinished), times=3)
    assert outcomes(events) == ["cancelled"]
    assert not coder.cancel()
    assert outcomes(await take_turn(coder)) == ["completed"]
    assert (tmp_path / "x").exists()


async def test_calls_that_did_not_begin_are_neither_run_nor_shown(tmp_path: Path) -> None:
    calls = [call("run_command", command="sleep 60"), call("write_file", path="x", text="x")]
    coder = make_coder(tmp_path, asks(*calls), limits=QUICK)
    events = await cancel_at(coder, lambda event: isinstance(event, ToolRunning))
    assert [event.tool for event in of(events, ToolStarted)] == ["run_command"]
    assert not (tmp_path / "x").exists()
    results = [message for message in coder.conversation.messages if isinstance(message, ToolResult)]
    assert [result.ok for result in results] == [False, False]


async def test_an_answer_of_cancelled_ends_the_turn(tmp_path: Path) -> None:
    person = Person("cancelled")
    coder = make_coder(tmp_path, asks(call("write_file", path="x", text=""), call("list_files")), says(), ask=person)
    events = await take_turn(coder)
    assert end_of(events) == "cancelled"
    assert outcomes(events) == ["cancelled"]
    assert not (tmp_path / "x").exists()
    assert_consistent(coder)
    assert isinstance(coder.model, ScriptedModel)
    assert len(coder.model.requests) == 1


async def test_a_model_that_fails_when_it_is_stopped_does_not_spoil_the_cancel(tmp_path: Path) -> None:
    async def stubborn(request: ModelRequest) -> AsyncIterator[ModelEvent]:
        try:
            yield TextDelta("x")
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise RuntimeError("abort failed") from None

    events = await cancel_at(make_coder(tmp_path, stubborn), lambda event: isinstance(event, Text))
    assert end_of(events) == "cancelled"


async def test_a_model_that_does_not_heed_the_cancel_is_not_heard(tmp_path: Path) -> None:
    async def deaf(request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("x")
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        yield TextDelta("late")
        yield StepEnded(AssistantMessage("x late", calls=(call("list_files"),)), "tool_calls")

    events = await cancel_at(make_coder(tmp_path, deaf), lambda event: isinstance(event, Text))
    assert [event.text for event in of(events, Text)] == ["x"]
    assert end_of(events) == "cancelled"
    assert not of(events, ToolStarted)


class SlowEditor:
    """An editor whose writes take a moment, and happen."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.files: dict[Path, str] = {}

    async def read_text(self, path: Path) -> str:
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    async def write_text(self, path: Path, text: str) -> None:
        self.begun.set()
        await asyncio.sleep(0.2)
        self.files[path] = text


async def test_a_write_that_has_begun_is_told_as_it_really_ended(tmp_path: Path) -> None:
    editor = SlowEditor()
    steps = asks(call("write_file", path="a", text="x")), asks(call("undo_edits")), says()
    coder = make_coder(tmp_path, *steps, files=editor)
    work = asyncio.create_task(take_turn(coder))
    await editor.begun.wait()
    coder.cancel()
    events = await work
    assert editor.files == {tmp_path / "a": "x"}
    assert outcomes(events) == ["completed"]
    assert end_of(events) == "cancelled"
    result = coder.conversation.messages[-1]
    assert isinstance(result, ToolResult)
    assert result.ok


async def test_a_write_that_never_ends_does_not_hold_the_cancel_up(tmp_path: Path) -> None:
    class HangingEditor(SlowEditor):
        async def write_text(self, path: Path, text: str) -> None:
            self.begun.set()
            await asyncio.sleep(60)

    editor = HangingEditor()
    coder = make_coder(
        tmp_path, asks(call("write_file", path="a", text="x")), files=editor, limits=CoderLimits(settle=0.1)
    )
    work = asyncio.create_task(take_turn(coder))
    await editor.begun.wait()
    coder.cancel()
    events = await asyncio.wait_for(work, 20)
    assert outcomes(events) == ["cancelled"]
    assert end_of(events) == "cancelled"
    assert_consistent(coder)


# --- Readers ---------------------------------------------------------------------------------------------------------


async def test_a_cancelled_reader_gets_the_end_and_then_its_cancellation(tmp_path: Path) -> None:
    events: list[Event] = []
    begun = asyncio.Event()
    coder = make_coder(tmp_path, RUN, says(), limits=QUICK)

    async def read() -> None:
        async for event in coder.turn(UserMessage("go")):
            events.append(event)
            if isinstance(event, ToolOutput):
                begun.set()

    reader = asyncio.create_task(read())
    await begun.wait()
    await written(tmp_path / "pid")
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert end_of(events) == "cancelled"
    assert outcomes(events) == ["cancelled"]
    assert not alive(int((tmp_path / "pid").read_text()))
    assert end_of(await take_turn(coder)) == "end_turn"


@pytest.mark.parametrize("how", ["break", "error", "aclose"])
async def test_a_reader_that_leaves_ends_the_turn_and_its_processes(tmp_path: Path, how: str) -> None:
    coder = make_coder(tmp_path, RUN, says(), limits=QUICK)

    async def read() -> None:
        async with aclosing(coder.turn(UserMessage("go"))) as turn:
            async for event in turn:
                if isinstance(event, ToolOutput):
                    await written(tmp_path / "pid")
                    if how == "break":
                        break
                    if how == "error":
                        raise LookupError
                    await coder.aclose()

    if how == "error":
        with pytest.raises(LookupError):
            await read()
    else:
        await read()
    assert not alive(int((tmp_path / "pid").read_text()))
    assert_consistent(coder)
    assert end_of(await take_turn(coder)) == "end_turn"


async def test_a_reader_that_never_comes_back_does_not_keep_the_process(tmp_path: Path) -> None:
    (tmp_path / "flood").write_text("echo $$ > pid; exec yes")
    store = PermissionStore(rules=[parse_rule("run:sh flood")])
    coder = make_coder(tmp_path, asks(call("run_command", command="sh flood")), limits=QUICK, store=store)
    turn = coder.turn(UserMessage("go"))
    await anext(turn)
    await written(tmp_path / "pid")
    await asyncio.sleep(0.1)
    await coder.aclose()
    assert not alive(int((tmp_path / "pid").read_text()))
    await turn.aclose()


async def test_a_slow_reader_holds_the_turn_back(tmp_path: Path) -> None:
    made = 0

    async def talking(request: ModelRequest) -> AsyncIterator[ModelEvent]:
        nonlocal made
        while made < 1000:
            made += 1
            yield TextDelta("x")
        yield StepEnded(AssistantMessage("x" * 1000))

    coder = make_coder(tmp_path, talking, limits=CoderLimits(events=10))
    taken = 0
    async for event in coder.turn(UserMessage("go")):
        taken += isinstance(event, Text)
        if taken < 20:
            await asyncio.sleep(0.005)
        assert made - taken <= 11
    assert taken == 1000


async def test_output_arrives_while_the_command_runs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    coder = make_coder(tmp_path, asks(call("run_command", command="echo one; read x < go; echo two")), says())
    async for event in coder.turn(UserMessage("go")):
        if isinstance(event, ToolOutput) and event.data.startswith(b"one"):
            await asyncio.to_thread((tmp_path / "go").write_text, "\n")
    assert coder.conversation.messages[-1] == AssistantMessage("done")


async def test_one_turn_at_a_time(tmp_path: Path) -> None:
    coder = make_coder(tmp_path, hanging, says())
    async with aclosing(coder.turn(UserMessage("go"))) as turn:
        await anext(turn)
        with pytest.raises(RuntimeError, match="under way"):
            await take_turn(coder)
    assert end_of(await take_turn(coder)) == "end_turn"
    assert sum(isinstance(message, UserMessage) for message in coder.conversation.messages) == 2


async def test_a_reader_that_is_cancelled_again_and_again_does_not_keep_the_session_busy(tmp_path: Path) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    async def slow_to_end(request: ModelRequest) -> AsyncIterator[ModelEvent]:
        try:
            began.set()
            await asyncio.sleep(60)
            yield TextDelta("")
        finally:
            await go_on.wait()

    coder = make_coder(tmp_path, slow_to_end, says())
    reader = asyncio.create_task(take_turn(coder))
    await began.wait()
    while not reader.done():
        reader.cancel()
        await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="under way"):
        await take_turn(coder)
    go_on.set()
    await coder.aclose()
    assert end_of(await take_turn(coder)) == "end_turn"


@pytest.mark.req("all-cancellation-05")
async def test_cancelling_one_session_leaves_the_other_alone(tmp_path: Path) -> None:
    one = make_coder(tmp_path, RUN, limits=QUICK)
    two = make_coder(tmp_path, asks(call("run_command", command="sleep 0.5; echo done")), says())
    other = asyncio.create_task(take_turn(two))
    assert end_of(await cancel_at(one, lambda event: isinstance(event, ToolRunning))) == "cancelled"
    assert outcomes(await other) == ["completed"]


async def test_nothing_of_a_cancelled_turn_reaches_the_next(tmp_path: Path) -> None:
    stubborn = "trap '' TERM; echo begun; while :; do echo late; sleep 0.02; done"
    coder = make_coder(tmp_path, asks(call("run_command", command=stubborn)), says("next"), limits=QUICK)
    events = await cancel_at(coder, lambda event: isinstance(event, ToolOutput))
    assert isinstance(events[-1], TurnEnded)
    after = await take_turn(coder)
    assert not [event for event in after if isinstance(event, ToolOutput | ToolFinished)]
