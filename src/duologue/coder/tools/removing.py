"""`delete_file` and `move_file`: a file goes as it is on the disk, with its bytes and its mode, whatever it holds."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from duologue.coder.diffs import change_of, content_of
from duologue.coder.errors import ToolError
from duologue.coder.journal import Change
from duologue.coder.tools.base import Arguments, Context, Outcome, Plan, tool
from duologue.coder.tools.changing import plan_changes


class DeleteFile(Arguments, frozen=True):
    path: Annotated[str, Meta(description="File to delete.")]


@tool("delete_file", "Delete a file.", "delete", DeleteFile)
async def delete_file(arguments: DeleteFile, context: Context) -> Plan:
    gone = await _removal(arguments.path, context)
    name = context.workspace.resolve(gone.path).name
    done = Outcome(f"Deleted {name}.", {"path": name})
    return plan_changes(f"Delete {name}", (gone,), done, context)


class MoveFile(Arguments, frozen=True):
    path: Annotated[str, Meta(description="File to move.")]
    to: Annotated[str, Meta(description="Where it will be, its name included.")]


@tool(
    "move_file",
    "Move or rename a file, whatever it holds. Folders are made as needed, nothing is overwritten, and what names the "
    "file elsewhere is not changed.",
    "move",
    MoveFile,
)
async def move_file(arguments: MoveFile, context: Context) -> Plan:
    gone = await _removal(arguments.path, context)
    name, place = context.workspace.resolve(gone.path).name, context.workspace.resolve(arguments.to)
    if context.disk.mode(place.shown) is not None:
        raise ToolError(f"{place.name} exists already, and nothing is overwritten")
    come = change_of(place, None, gone.before, gone.mode)
    done = Outcome(f"Moved {name} to {place.name}.", {"path": name, "to": place.name})
    return plan_changes(f"Move {name} to {place.name}", (come, gone), done, context)


async def _removal(path: str, context: Context) -> Change:
    """The change that takes a file away. Raises ToolError when there is none."""
    place = context.workspace.resolve(path)
    if (context.workspace.cwd / path).is_symlink():
        raise ToolError(f"{path}: a link to {place.name}; give that path, or change the link with a command")
    before = await content_of(context.disk, context.disk, place.shown)
    if before is None:
        raise ToolError(f"{place.name}: there is no such file")
    return change_of(place, before, None, context.disk.mode(place.shown))
