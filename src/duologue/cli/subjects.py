"""What a permission request is really about: the files and commands that a rule can be held against.

Titles are for people and count for nothing here. What cannot be told for certain is about nothing that a rule covers.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from duologue.coder.rules import Rule, Run, Subject, Use, Write
from duologue.protocol.changes.patches import FilePatch, read_patch
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.v2.diff import DeleteChange, DiffPatch, MoveChange
from duologue.protocol.v2.permission import CommandSubject, RequestPermissionRequest, ToolCallSubject
from duologue.protocol.v2.tools import ToolDiff
from duologue.session.entries import ToolCallState

#: Where agents put the path of a file, and the folder of a command, in the raw input of a tool call.
PATH_MEMBERS = ("path", "file_path", "filePath", "abs_path", "file")
FOLDER_MEMBERS = ("cwd", "workdir", "directory")

CHANGES = frozenset((ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE))


def subjects_of(request: RequestPermissionRequest, call: ToolCallState | None, cwd: Path) -> Sequence[Subject]:
    """Everything that a yes would allow; empty when that is not certain. `call` is what was told of the tool call."""
    match request.subject:
        case CommandSubject(command=command, cwd=folder):
            return (Run(command, real(folder, cwd)),)
        case ToolCallSubject(tool_call=patch):
            merged = ToolCallState(patch.tool_call_id)
            for update in (*(call.updates() if call is not None else ()), patch):
                merged.patch(update)
            return tuple(_of_call(merged, cwd))
    return ()


def _of_call(call: ToolCallState, cwd: Path) -> Iterator[Subject]:
    raw = call.raw_input if isinstance(call.raw_input, dict) else {}
    command = _command(raw)
    paths = tuple(dict.fromkeys(_paths(call, raw, cwd)))
    if command is not None:
        yield Run(command, real(_first(raw, FOLDER_MEMBERS) or ".", cwd))
    if call.kind in CHANGES or _diffs(call):
        if paths:
            yield Write(paths, _verb(call))
    elif command is None and call.kind != ToolKind.EXECUTE and isinstance(call.name, str):
        yield Use(call.name)


def _verb(call: ToolCallState) -> Literal["edit", "delete"]:
    """A move takes a file away, and so does any change that says so."""
    changes = [change for diff in _diffs(call) for change in diff.changes]
    operations = [section.operation for section in _sections(call)]
    deletes = any(isinstance(change, DeleteChange | MoveChange) for change in changes) or {"delete", "move"} & {
        *operations
    }
    return "delete" if deletes or call.kind in (ToolKind.DELETE, ToolKind.MOVE) else "edit"


def _diffs(call: ToolCallState) -> list[ToolDiff]:
    return [item for item in call.content if isinstance(item, ToolDiff)]


def _sections(call: ToolCallState) -> list[FilePatch]:
    """What the patches touch, which need not be what the changes name."""
    patches = [diff.patch.text for diff in _diffs(call) if isinstance(diff.patch, DiffPatch)]
    return [section for patch in patches for section in read_patch(patch)]


def _paths(call: ToolCallState, raw: dict[str, Any], cwd: Path) -> Iterator[Path]:
    for diff in _diffs(call):
        for change in diff.changes:
            for member in ("path", "old_path"):
                if isinstance(named := getattr(change, member, None), str):
                    yield real(named, cwd)
    for section in _sections(call):
        yield from (real(path, cwd) for path in (section.path, section.old_path) if path is not None)
    for place in call.locations or ():
        yield real(place.path, cwd)
    if (named := _first(raw, PATH_MEMBERS)) is not None:
        yield real(named, cwd)


def _command(raw: dict[str, Any]) -> str | None:
    match raw.get("command", raw.get("cmd")):
        case str(line):
            return line
        case [str(), *_] as words if all(isinstance(word, str) for word in words):
            return shlex.join(words)
    return None


def _first(raw: dict[str, Any], names: Sequence[str]) -> str | None:
    return next((raw[name] for name in names if isinstance(raw.get(name), str)), None)


def real(path: str, cwd: Path) -> Path:
    """Where a path leads, links followed."""
    return Path(os.path.realpath(cwd / path))


def deciding(rules: Sequence[Rule], subjects: Sequence[Subject], project: Path) -> Rule | None:
    """The rule that answers: one that denies any of it, else one that allows, when all of it is allowed."""
    for rule in rules:
        if rule.effect == "deny" and any(rule.covers(subject, project) for subject in subjects):
            return rule
    allowing = [
        next((rule for rule in rules if rule.effect == "allow" and rule.covers(subject, project)), None)
        for subject in subjects
    ]
    return allowing[0] if allowing and all(allowing) else None
