"""Changes of files: shown before they are made, made only if the files still are what was shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from weakref import WeakValueDictionary

from duologue.coder.errors import Stale
from duologue.coder.events import FileDiff, Location
from duologue.coder.files import Disk, Files
from duologue.coder.journal import Change, Content
from duologue.coder.texts import line_of
from duologue.local.errors import NotText, TooLarge
from duologue.local.workspace import Place

# A lock lives as long as somebody holds it or waits for it.
_LOCKS: WeakValueDictionary[tuple[asyncio.AbstractEventLoop, Path], asyncio.Lock] = WeakValueDictionary()


async def content_of(files: Files, disk: Disk, path: Path) -> Content:
    """What is there now: the editor's or the disk's text, bytes where that is no text, None for no file."""
    try:
        return await files.read_text(path)
    except FileNotFoundError:
        return None
    except NotText:
        return await disk.read_bytes(path)


async def text_of(files: Files, path: Path) -> str | None:
    """The text that is there now, None for no file. Raises ToolError when there is something else."""
    try:
        return await files.read_text(path)
    except FileNotFoundError:
        return None


def change_of(place: Place, before: Content, after: Content, mode: int | None = None) -> Change:
    return Change(place.shown, place.real, before, after, mode)


def diff_of(change: Change) -> FileDiff | None:
    """The change as a person is shown it; None when one side is no text."""
    if isinstance(change.before, bytes) or isinstance(change.after, bytes):
        return None
    return FileDiff(change.path, change.before, change.after)


def diffs_of(changes: Sequence[Change]) -> tuple[FileDiff, ...]:
    return tuple(diff for change in changes if (diff := diff_of(change)))


def location_of(change: Change) -> Location:
    """The file, and the first line that differs when there is one to go to."""
    diff = diff_of(change)
    if diff is None or diff.new is None:
        return Location(change.path)
    return Location(change.path, first_changed_line(diff.old or "", diff.new))


def first_changed_line(old: str, new: str) -> int:
    """1-based, in the new text."""
    most = min(len(old), len(new))
    low, high = 0, most
    # Halving with slices compares at the speed of C, however long the texts.
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[low:middle] == new[low:middle] else (low, middle - 1)
    return line_of(new, low)


@asynccontextmanager
async def alone(changes: Sequence[Change]) -> AsyncIterator[None]:
    """Between the look at these files and the writing, no other session of this process writes them."""
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as held:
        for path in sorted({change.real for change in changes}):
            lock = _LOCKS.setdefault((loop, path), asyncio.Lock())
            await held.enter_async_context(lock)
        yield


async def check(files: Files, disk: Disk, changes: Sequence[Change]) -> None:
    """Raises Stale when a file is not what its change says it was, or its path leads elsewhere now."""
    for change in changes:
        place = disk.workspace.resolve(change.path)
        if place.real != change.real:
            raise Stale(f"{place.name}: the path leads elsewhere than when the change was shown; nothing was written")
        try:
            now = await content_of(disk if change.whole else files, disk, change.path)
        except TooLarge:
            now = b""
        if now != change.before:
            raise Stale(
                f"{place.name}: the file has changed since the change was shown; nothing was written. "
                "Read it again before the next attempt."
            )


async def make(files: Files, disk: Disk, change: Change) -> None:
    """Write what the change says, without looking again."""
    match change.after:
        case None:
            await disk.delete(change.path)
        case bytes(data):
            await disk.write_bytes(change.path, data, change.mode)
        case str(text) if change.whole:
            await disk.write_bytes(change.path, text.encode(), change.mode)
        case str(text):
            await files.write_text(change.path, text)
