"""What a permission request is really about: the files and commands that a rule can be held against.

Titles are for people and count for nothing here. What cannot be told for certain is about nothing that a rule covers.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from duologue.client.raw_input import RawInput, read_raw_input
from duologue.local.rules import Rule, Run, Subject, Use, Write, allowing_rule
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.tools import ToolKind
from duologue.protocol.markdown import fenced
from duologue.protocol.patches import FilePatch, read_patch
from duologue.protocol.v2.diff import DeleteChange, DiffPatch, MoveChange
from duologue.protocol.v2.permission import CommandSubject, RequestPermissionRequest, ToolCallSubject
from duologue.protocol.v2.tools import ToolCallContent, ToolCallUpdate, ToolContent, ToolDiff
from duologue.session.entries import ToolCallState

CHANGES = frozenset((ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE))


@dataclass(frozen=True, slots=True)
class Matter:
    """What a request is about: what a yes would certainly allow, and whether that is all.

    `paths` are those it names without saying that they are written, `raw` is the raw input when that says more than is
    understood, `call` and `content` are the tool call and what it holds. `kind` and `titles` are what the agent calls
    it.
    """

    subjects: tuple[Subject, ...] = ()
    certain: bool = False
    paths: tuple[Path, ...] = ()
    raw: Any = None
    call: str = ""
    content: tuple[ToolCallContent, ...] = ()
    kind: ToolKind | None = None
    titles: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


def matter_of(request: RequestPermissionRequest, call: ToolCallState | None, cwd: Path) -> Matter:
    """Everything that a yes would allow. `call` is what was told of the tool call."""
    match request.subject:
        case CommandSubject(command=command, cwd=folder):
            run = Run(command, real(folder, cwd))
            return Matter((run,), certain=True, kind=ToolKind.EXECUTE, titles=(request.title,))
        case ToolCallSubject(tool_call=patch):
            merged = ToolCallState(patch.tool_call_id)
            for update in (*(call.updates() if call is not None else ()), patch):
                merged.patch(update)
            matter = _of_call(merged, request.title, cwd)
            return dataclasses.replace(matter, texts=_texts(patch, matter.subjects))
    return Matter(titles=(request.title,))


def _texts(patch: ToolCallUpdate, subjects: Sequence[Subject]) -> tuple[str, ...]:
    """The texts that the request shows, without a command that is a subject by itself."""
    runs = [subject.command for subject in subjects if isinstance(subject, Run)]
    commands = {form.strip() for command in runs for form in (command, fenced(command))}
    return tuple(
        item.content.text
        for item in patch.content or ()
        if isinstance(item, ToolContent) and isinstance(item.content, TextBlock)
        if item.content.text.strip() not in commands
    )


def _of_call(call: ToolCallState, title: str, cwd: Path) -> Matter:
    raw = read_raw_input(call.raw_input)
    paths = tuple(dict.fromkeys(_paths(call, raw, cwd)))
    subjects = tuple(_subjects(call, raw, paths, cwd))
    certain = bool(subjects) and _is_certain(call, raw, subjects)
    written = any(isinstance(subject, Write) for subject in subjects)
    return Matter(
        subjects,
        certain,
        () if written else paths,
        None if certain or not isinstance(call.raw_input, dict | list | str) else call.raw_input,
        call.id,
        tuple(call.content),
        call.kind or None,
        tuple(dict.fromkeys(name for name in (title, call.title) if isinstance(name, str))),
    )


def _subjects(call: ToolCallState, raw: RawInput, paths: tuple[Path, ...], cwd: Path) -> Iterator[Subject]:
    for command in raw.commands:
        yield Run(command, real(raw.folders[0] if raw.folders else ".", cwd))
    if call.kind in CHANGES or _diffs(call):
        if paths:
            yield Write(paths, _verb(call))
    elif call.kind != ToolKind.EXECUTE and isinstance(call.name, str):
        # What it takes for a command is its own affair: a rule for commands alone does not speak for the tool.
        yield Use(call.name)


def _is_certain(call: ToolCallState, raw: RawInput, subjects: Sequence[Subject]) -> bool:
    """A tool that is known by its name may take anything, but what may be two commands. A command takes no files and no
    texts beside it, and what changes files must say which."""
    if isinstance(subjects[-1], Use):
        return not raw.commands or not raw.unclear
    changes = call.kind in CHANGES or bool(_diffs(call))
    if raw.unclear or (changes and not isinstance(subjects[-1], Write)):
        return False
    return changes or not (raw.paths or raw.texts)


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


def _paths(call: ToolCallState, raw: RawInput, cwd: Path) -> Iterator[Path]:
    for diff in _diffs(call):
        for change in diff.changes:
            for member in ("path", "old_path"):
                if isinstance(named := getattr(change, member, None), str):
                    yield real(named, cwd)
    for section in _sections(call):
        yield from (real(path, cwd) for path in (section.path, section.old_path) if path is not None)
    for place in call.locations or ():
        yield real(place.path, cwd)
    yield from (real(path, cwd) for path in raw.paths)


def real(path: str, cwd: Path) -> Path:
    """Where a path leads, links followed."""
    return Path(os.path.realpath(cwd / path.replace("\0", "\ufffd")))


def deciding(rules: Sequence[Rule], matter: Matter, project: Path) -> Rule | None:
    """The rule that answers: one that rejects any of it, else one that allows, when all is certain and allowed."""
    for rule in rules:
        if rule.effect == "reject" and any(rule.covers(subject, project) for subject in matter.subjects):
            return rule
    if not matter.certain:
        return None
    allowing = [allowing_rule(rules, subject, project) for subject in matter.subjects]
    return allowing[0] if allowing and all(allowing) else None


def may_reject(rules: Sequence[Rule], matter: Matter, project: Path) -> Rule | None:
    """A rule that could refuse it, if it were known for certain what it does."""
    for rule in rules:
        if rule.effect == "reject" and (
            not matter.certain or any(rule.may_cover(subject, project) for subject in matter.subjects)
        ):
            return rule
    return None
