"""A project, what may be done in it, and a gate with a person who answers."""

from __future__ import annotations

from pathlib import Path

from coder_kit import Person

from duologue.coder.events import PermissionQuestion
from duologue.coder.permissions import Gate, PermissionStore
from duologue.local.rules import Run, Write

PROJECT = Path("/home/me/project")
QUESTION = PermissionQuestion("c1", "title", "execute", "scope")


def run(command: str, cwd: Path = PROJECT) -> Run:
    return Run(command, cwd)


def write(*names: str) -> Write:
    return Write(tuple(PROJECT / name for name in names))


def gate_with(*answers: object, store: PermissionStore | None = None, project: Path = PROJECT) -> tuple[Gate, Person]:
    person = Person(*answers)
    return Gate(store or PermissionStore(), person, project), person
