"""A folder, a session of the real loop with the offline model in it, and what a person would have seen."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from duologue.coder.events import (
    Event,
    PermissionAnswer,
    PermissionQuestion,
    PlanChanged,
    Text,
    TitleChanged,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from duologue.coder.loop import Coder
from duologue.coder.models.base import UserMessage
from duologue.coder.models.offline import OfflineModel, Settings
from duologue.coder.permissions import PermissionStore
from duologue.local.workspace import Workspace

#: A busy machine must not make the search for a repair give up; it ends when the repair is found.
PATIENT = Settings(repair_seconds=150)

EXAMPLE = Path(__file__).parents[3] / "examples" / "project"


@dataclass
class Turn:
    """One turn as it was seen."""

    events: list[Event] = field(default_factory=list)

    @property
    def said(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Text))

    @property
    def tools(self) -> list[str]:
        return [event.tool for event in self.events if isinstance(event, ToolStarted)]

    @property
    def commands(self) -> list[str]:
        started = (event for event in self.events if isinstance(event, ToolStarted))
        return [event.arguments["command"] for event in started if event.tool == "run_command"]

    @property
    def failed(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, ToolFinished) and event.outcome == "failed"]

    @property
    def titles(self) -> list[str]:
        return [event.title for event in self.events if isinstance(event, TitleChanged)]

    @property
    def plans(self) -> list[PlanChanged]:
        return [event for event in self.events if isinstance(event, PlanChanged)]

    @property
    def ended(self) -> str:
        last = self.events[-1]
        assert isinstance(last, TurnEnded)
        return last.reason


class Session:
    """A conversation in a folder. `answers` gives what the person says to a question about a tool; else yes."""

    def __init__(self, root: Path, files: Mapping[str, str] | None = None, model: OfflineModel | None = None) -> None:
        self.root = root
        self.questions: list[PermissionQuestion] = []
        self.answers: dict[str, PermissionAnswer] = {}
        self.model = model or OfflineModel(PATIENT)
        for path, text in (files or {}).items():
            self.write(path, text)
        self.coder = Coder(model=self.model, workspace=Workspace([root]), permissions=PermissionStore(), ask=self._ask)

    async def _ask(self, question: PermissionQuestion) -> PermissionAnswer:
        self.questions.append(question)
        return self.answers.get(question.kind, "allow_once")

    async def say(self, text: str) -> Turn:
        turn = Turn()
        async with aclosing(self.coder.turn(UserMessage(text))) as events:
            async for event in events:
                turn.events.append(event)
        return turn

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def files(self) -> set[str]:
        found = (path for path in self.root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(self.root).as_posix() for path in found if ".pytest_cache" not in path.parts}


def example(folder: Path) -> Path:
    """A copy of the example project."""
    target = folder / "project"
    shutil.copytree(EXAMPLE, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def write_python(target: Path, *options: str) -> None:
    """A program that is the running interpreter with its packages; `-I -S` leaves it without any."""
    target.parent.mkdir(parents=True, exist_ok=True)
    words = shlex.join([sys.executable, *options])
    target.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    target.chmod(0o755)
