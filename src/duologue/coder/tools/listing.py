"""`list_files`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from duologue.coder.errors import BadArguments
from duologue.coder.events import Location
from duologue.coder.settling import in_thread
from duologue.coder.texts import scrub, shorten
from duologue.coder.tools.base import CALL_TITLE_CHARACTERS, Arguments, Context, Outcome, Plan, tool
from duologue.coder.walk import walk
from duologue.local import globs
from duologue.local.workspace import Place


class ListFiles(Arguments, frozen=True):
    path: Annotated[str, Meta(description="Folder to list with all below it; the working folder when left out.")] = "."
    pattern: (
        Annotated[str, Meta(max_length=1000, description="Glob such as `*.py` (any depth) or `src/**/*.py`.")] | None
    ) = None
    limit: Annotated[int, Meta(ge=1, description="How many files to name at most.")] | None = None
    after: Annotated[str, Meta(description="The last file of a list that was cut: go on behind it.")] | None = None


@tool("list_files", "List the files of a folder and its subfolders; ignored files are left out.", "search", ListFiles)
async def list_files(arguments: ListFiles, context: Context) -> Plan:
    place = context.workspace.folder(arguments.path)
    check_glob(arguments.pattern)
    limit = min(arguments.limit or context.limits.listed_files, context.limits.listed_files)

    async def perform(call: str) -> Outcome:
        files, truncated = await _list(place, arguments, limit, context)
        notice = "\n[there are more; narrow the path or the pattern, or go on with after]" if truncated else ""
        text = "\n".join(files) + notice if files else "[no files]"
        return Outcome(text, {"files": files, "truncated": truncated})

    pattern = f" matching {arguments.pattern}" if arguments.pattern else ""
    title = shorten(f"List {place.name}{pattern}", CALL_TITLE_CHARACTERS)
    return Plan(title, None, perform, locations=(Location(place.shown),))


def check_glob(pattern: str | None) -> None:
    """Raises BadArguments for a glob that does not mean the same everywhere."""
    if pattern is not None and pattern.startswith(("!", "/")):
        raise BadArguments(f"{pattern!r}: a glob begins with a name or a wildcard, relative to the path")
    try:
        globs.compiled(pattern or "*")
    except ValueError as error:
        raise BadArguments(str(error)) from None


async def _list(place: Place, arguments: ListFiles, limit: int, context: Context) -> tuple[list[str], bool]:
    """Names as the model can use them in its next call, and whether there are more."""
    stop = threading.Event()
    timer = asyncio.get_running_loop().call_later(context.limits.search_seconds, stop.set)
    prefix = context.workspace.prefix(place)
    behind = arguments.after.removeprefix(prefix).split("/") if arguments.after else []
    try:
        found = await in_thread(_paths, place, arguments.pattern, limit, stop, behind)
        truncated = len(found) > limit or stop.is_set()
    finally:
        timer.cancel()
        stop.set()
    return [scrub(prefix + path) for path in found[:limit]], truncated


def _paths(place: Place, pattern: str | None, limit: int, stop: threading.Event, behind: Sequence[str]) -> list[str]:
    base = len("".join(f"{part}/" for part in place.parts))
    found: list[str] = []
    for file in walk(place.root, place.parts, stop.is_set, behind):
        path = file.path[base:]
        if pattern is None or globs.matches_anywhere(pattern, path):
            found.append(path)
        if len(found) > limit:
            break
    return found
