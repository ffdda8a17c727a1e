"""Reading the raw input of a tool call, which has no fixed form: what it names, and whether anything else is in it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

#: Where agents put a command line, the folder it runs in, and the files of a call.
COMMANDS = frozenset(("command", "cmd"))
FOLDERS = frozenset(("cwd", "workdir", "directory", "working_directory", "workingdirectory"))
PATHS = frozenset(
    (
        *("path", "paths", "file", "files", "filename", "file_name", "uri", "from", "to", "src", "dst", "target"),
        *("file_path", "file_paths", "filepath", "filepaths", "abs_path", "abspath", "absolute_path", "absolutepath"),
        *("source", "destination", "source_path", "sourcepath", "destination_path", "destinationpath"),
        *("old_path", "oldpath", "new_path", "newpath", "target_file", "targetfile", "target_path", "targetpath"),
    )
)

#: What changes neither the command that runs nor the files that are written.
REMARKS = frozenset(
    (
        *("description", "explanation", "reason", "title", "justification", "id", "call_id", "turn_id"),
        *("timeout", "timeout_ms", "timeout_seconds", "background", "run_in_background", "is_background"),
    )
)

#: What is written into the files that a call names.
TEXTS = frozenset(
    (
        *("content", "text", "new_text", "newtext", "old_text", "oldtext", "old", "new", "edits", "replace_all"),
        *("old_string", "new_string", "oldstring", "newstring", "old_str", "new_str", "all", "replaceall"),
        *("expected_replacements", "line", "insert_line", "insert_text", "offset", "limit", "overwrite"),
    )
)


@dataclass(slots=True)
class RawInput:
    """What a raw input names. `unclear` says that it holds something that may change what happens."""

    commands: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    texts: bool = False
    unclear: bool = False

    @property
    def command(self) -> str | None:
        return self.commands[0] if self.commands else None


def read_raw_input(raw: Any) -> RawInput:
    """Everything in it, also in lists and objects inside."""
    found = RawInput()
    if isinstance(raw, Mapping):
        _read(found, raw)
    elif _says_something(raw):
        found.unclear = True
    found.commands = list(dict.fromkeys(found.commands))
    found.unclear |= len(found.commands) > 1 or len(set(found.folders)) > 1
    return found


def _says_something(value: Any) -> bool:
    return isinstance(value, bool | int | float | str | list | dict) and value not in (False, "", [], {})


def _read(found: RawInput, members: Mapping[str, Any]) -> None:
    for written, value in members.items():
        name = written.lower()
        if not _says_something(value) or name in REMARKS:
            continue
        if name in COMMANDS:
            _read_command(found, value)
        elif name in FOLDERS:
            _read_folder(found, value)
        elif name in PATHS:
            _read_paths(found, value)
        elif name in TEXTS:
            found.texts = True
            _read_inner(found, value)
        else:
            found.unclear = True
            _read_inner(found, value)


def _read_command(found: RawInput, value: Any) -> None:
    """Words of a list are one command when no shell could read them in another way."""
    match value:
        case str(line):
            found.commands.append(line)
        case [str(), *_] as words if all(isinstance(word, str) for word in words):
            found.commands.append(shlex.join(words))
            found.unclear |= any(shlex.quote(word) != word for word in words)
        case _:
            found.unclear = True


def _read_folder(found: RawInput, value: Any) -> None:
    if isinstance(value, str):
        found.folders.append(value)
    found.unclear |= not (isinstance(value, str) and _is_literal(value))


def _read_paths(found: RawInput, value: Any) -> None:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            found.paths.append(item)
            found.unclear |= not _is_literal(item)
        elif isinstance(item, Mapping):
            _read(found, item)
        else:
            found.unclear = True


def _is_literal(path: str) -> bool:
    """Not one that an agent may read as something else: a home folder, a variable, an address, a pattern."""
    return bool(path) and "://" not in path and not path.startswith("~") and not set(path) & set("$*?\0")


def _read_inner(found: RawInput, value: Any) -> None:
    """Objects may name more files further down."""
    for item in _objects(value):
        _read(found, item)


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    match value:
        case Mapping():
            yield value
        case list():
            for item in value:
                yield from _objects(item)
