"""Walking the files below a folder without ever following a link, leaving out what is ignored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from duologue.coder.errors import ToolError
from duologue.coder.ignore import SKIP_MARKS, SKIPPED_FOLDERS, Ignore, ignored
from duologue.coder.texts import scrub
from duologue.local.errors import LocalError
from duologue.local.files import FOLDER, open_folder, read_at
from duologue.local.workspace import DEEPEST

IGNORE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Found:
    """A file: its path below the root, and its name in an open folder (valid until the next one is asked for)."""

    path: str
    folder: int
    name: str
    is_link: bool


def walk(
    root: Path, parts: Sequence[str], stop: Callable[[], bool] = lambda: False, behind: Sequence[str] = ()
) -> Iterator[Found]:
    """The files below a folder, in the order of their names. Paths are relative to the root, which must be a real path.

    A folder that is asked for by name is shown even when it is ignored. Ends early when `stop` says so, and begins
    behind a file whose names below the folder are given.
    Raises PathRefused, or OSError when the folder cannot be opened.
    """
    base = "".join(f"{part}/" for part in parts)
    ignores = _ignores_above(root, parts)
    with open_folder(root, parts) as folder:
        yield from _walk(folder, base, ignores, stop, tuple(behind))


def _ignores_above(root: Path, parts: Sequence[str]) -> tuple[Ignore, ...]:
    """The ignore files from the root to the folder that is asked for, without those that leave it out itself."""
    ignores: list[Ignore] = []
    for depth in range(len(parts)):
        base = "".join(f"{part}/" for part in parts[:depth])
        below = f"{base}{parts[depth]}/"
        with open_folder(root, parts[:depth]) as folder:
            ignores += _ignores_of(folder, base)
        if ignored(below, ignores):
            ignores = []
    return tuple(ignores)


def _ignores_of(folder: int, base: str) -> list[Ignore]:
    with suppress(OSError, ToolError, LocalError):
        text = read_at(folder, ".gitignore", ".gitignore", IGNORE_BYTES).decode("utf-8", "replace")
        return [Ignore(text.splitlines(), base)]
    return []


def _walk(
    folder: int, base: str, ignores: tuple[Ignore, ...], stop: Callable[[], bool], behind: tuple[str, ...]
) -> Iterator[Found]:
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    ignores = (*ignores, *_ignores_of(folder, base))
    for entry in entries:
        if stop():
            return
        name = scrub(entry.name) if behind else entry.name
        if behind and name < behind[0]:
            continue
        path = base + entry.name
        if entry.is_dir(follow_symlinks=False):
            # Each folder on the way is open, and Python's own depth is bounded.
            if path.count("/") < DEEPEST and entry.name not in SKIPPED_FOLDERS and not ignored(path + "/", ignores):
                rest = behind[1:] if behind and name == behind[0] else ()
                yield from _below(folder, entry.name, path + "/", ignores, stop, rest)
        elif behind == (name,):
            continue
        elif (entry.is_file(follow_symlinks=False) or entry.is_symlink()) and not ignored(path, ignores):
            yield Found(path, folder, entry.name, entry.is_symlink())


def _below(
    folder: int, name: str, base: str, ignores: tuple[Ignore, ...], stop: Callable[[], bool], behind: tuple[str, ...]
) -> Iterator[Found]:
    try:
        below = os.open(name, FOLDER, dir_fd=folder)
    except OSError:
        # Gone meanwhile, turned into a link, or closed to us: not part of the listing.
        return
    try:
        if not any(_exists(below, mark) for mark in SKIP_MARKS):
            yield from _walk(below, base, ignores, stop, behind)
    finally:
        os.close(below)


def _exists(folder: int, name: str) -> bool:
    with suppress(OSError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return True
    return False
