"""A scripted model, a person who answers as told, and short ways to make and run a session in a folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from duologue.coder.commands import Shell
from duologue.coder.events import (
    Event,
    FileDiff,
    PermissionAnswer,
    PermissionQuestion,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from duologue.coder.files import Disk
from duologue.coder.journal import Journal
from duologue.coder.limits import CoderLimits
from duologue.coder.loop import Coder
from duologue.coder.models.base import (
    AssistantMessage,
    ModelEvent,
    ModelRequest,
    StepEnded,
    TextDelta,
    ToolCall,
    ToolResult,
    UserMessage,
)
from duologue.coder.permissions import PermissionStore
from duologue.coder.tools import Context, Outcome, Plan, Tool, builtin_tools
from duologue.local.workspace import Workspace
from procs import alive

Step = list[ModelEvent] | Callable[[ModelRequest], AsyncIterator[ModelEvent]]

TOOLS: dict[str, Tool] = {tool.spec.name: tool for tool in builtin_tools()}


def call(name: str, id: str = "call_0", **arguments: Any) -> ToolCall:
    return ToolCall(id, name, arguments)


def asks(*calls: ToolCall, text: str = "") -> list[ModelEvent]:
    """A step that wants these calls run."""
    said: list[ModelEvent] = [TextDelta(text)] if text else []
    return [*said, StepEnded(AssistantMessage(text, calls=calls), "tool_calls")]


def says(text: str = "done") -> list[ModelEvent]:
    """A step that ends the turn."""
    return [TextDelta(text), StepEnded(AssistantMessage(text))]


class ScriptedModel:
    """Plays one step after the other, and remembers what it was asked."""

    name = "scripted"
    description = "for tests"

    def __init__(self, *steps: Step) -> None:
        self.steps: list[Step] = list(steps)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        step = self.steps.pop(0)
        if callable(step):
            async for event in step(request):
                yield event
            return
        for event in step:
            yield event


class Person:
    """Gives the answers one by one, then the last one for ever; remembers the questions."""

    def __init__(self, *answers: Any) -> None:
        self.answers: list[Any] = list(answers) or ["allow_once"]
        self.questions: list[PermissionQuestion] = []

    async def __call__(self, question: PermissionQuestion) -> PermissionAnswer:
        self.questions.append(question)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[no-any-return]


def make_coder(
    root: Path | Sequence[Path], *steps: Step, ask: Any = None, store: PermissionStore | None = None, **more: Any
) -> Coder:
    roots = [root] if isinstance(root, Path) else root
    return Coder(
        model=ScriptedModel(*steps),
        workspace=Workspace(roots),
        permissions=store or PermissionStore(),
        ask=ask or Person(),
        **more,
    )


async def take_turn(coder: Coder, text: str = "go") -> list[Event]:
    async with aclosing(coder.turn(UserMessage(text))) as events:
        return [event async for event in events]


def of(events: Iterable[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def end_of(events: Sequence[Event]) -> str:
    last = events[-1]
    assert isinstance(last, TurnEnded)
    return last.reason


def outcomes(events: Iterable[Event]) -> list[str]:
    return [event.outcome for event in of(events, ToolFinished)]


def fill(root: Path, **files: str) -> None:
    """Write files; in their names ``__`` stands for a slash and ``_DOT_`` for a dot."""
    tree = {name.replace("__", "/").replace("_DOT_", "."): text for name, text in files.items()}
    for name, text in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def assert_consistent(coder: Coder) -> None:
    """Each call has exactly one result, right after its step, and ids are unique."""
    ids: list[str] = []
    waiting: list[str] = []
    for message in coder.conversation.messages:
        match message:
            case AssistantMessage(calls=calls):
                assert not waiting
                waiting = [each.id for each in calls]
                ids += waiting
            case ToolResult(call=name):
                assert name in waiting
                waiting.remove(name)
            case UserMessage():
                assert not waiting
    assert not waiting
    assert len(ids) == len(set(ids))


def assert_well_told(events: Sequence[Event]) -> None:
    """Each call that started has finished, once, afterwards."""
    started = [event.call for event in of(events, ToolStarted)]
    finished = [event.call for event in of(events, ToolFinished)]
    assert sorted(started) == sorted(finished)
    assert len(started) == len(set(started))
    for event in of(events, ToolFinished):
        start = next(i for i, each in enumerate(events) if isinstance(each, ToolStarted) and each.call == event.call)
        assert start < list(events).index(event)


class Bench:
    """Plans and runs single tools, without a model and without the gate."""

    def __init__(
        self, *roots: Path, limits: CoderLimits | None = None, files: Any = None, environment: Any = None
    ) -> None:
        self.limits = limits or CoderLimits()
        self.events: list[Event] = []
        workspace = Workspace(roots)
        disk = Disk(workspace, self.limits)
        shell = Shell(environment, grace=self.limits.stop_grace)
        journal = Journal(self.limits.journal)
        self.context = Context(workspace, files or disk, disk, shell, journal, self.limits, self._emit)

    async def _emit(self, event: Event) -> None:
        self.events.append(event)

    async def plan(self, name: str, **arguments: Any) -> Plan:
        return await TOOLS[name].plan(arguments, self.context)

    async def run(self, name: str, **arguments: Any) -> Outcome:
        return await (await self.plan(name, **arguments)).perform("c1")


def diff_bytes(diff: FileDiff) -> bytes:
    assert diff.new is not None
    return diff.new.encode()


def results(coder: Coder) -> list[ToolResult]:
    return [message for message in coder.conversation.messages if isinstance(message, ToolResult)]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def gone(pid: int) -> bool:
    """Whether a process ends within some seconds."""
    for _ in range(150):
        if not alive(pid):
            return True
        await asyncio.sleep(0.02)
    return False


async def written(path: Path) -> str:
    """The line that a command writes to a file, once it is there."""
    for _ in range(500):
        if text := _whole_line(path):
            return text.strip()
        await asyncio.sleep(0.02)
    raise AssertionError(f"{path.name} was not written")


def _whole_line(path: Path) -> str | None:
    text = path.read_text() if path.exists() else ""
    return text if text.endswith("\n") else None
