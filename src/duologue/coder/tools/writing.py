"""`write_file`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from duologue.coder.diffs import change_of, text_of
from duologue.coder.errors import ToolError
from duologue.coder.settling import in_thread
from duologue.coder.texts import restyle
from duologue.coder.tools.base import Arguments, Context, Outcome, Plan, tool
from duologue.coder.tools.changing import nothing_to_do, plan_changes


class WriteFile(Arguments, frozen=True):
    path: Annotated[str, Meta(description="File to create or replace.")]
    text: Annotated[str, Meta(description="The whole new text.")]
    create: Annotated[bool, Meta(description="Only create: fail where there is a file.")] = False


@tool(
    "write_file",
    "Create a file or replace all of its text. A file that is there keeps its newline style, its byte order mark and "
    "whether it ends with a newline. Folders are made as needed. Prefer edit_file for small changes.",
    "edit",
    WriteFile,
)
async def write_file(arguments: WriteFile, context: Context) -> Plan:
    place = context.workspace.resolve(arguments.path)
    before = await text_of(context.files, place.shown)
    if arguments.create and before is not None:
        raise ToolError(f"{place.name} exists already, and nothing is overwritten")
    after = arguments.text if before is None else await in_thread(restyle, before, arguments.text)
    data = {"path": place.name, "created": before is None}
    title = f"{'Create' if before is None else 'Write'} {place.name}"
    if before == after:
        return nothing_to_do(title, Outcome(f"{place.name} already has exactly this text.", data))
    done = Outcome(f"{'Created' if before is None else 'Wrote'} {place.name}.", data)
    return plan_changes(title, (change_of(place, before, after),), done, context)
