"""`undo_edits`: takes back what the newest turn with edits did to files."""

from __future__ import annotations

from duologue.coder.diffs import check, diffs_of, location_of, make
from duologue.coder.errors import Stale, ToolError
from duologue.coder.settling import settled
from duologue.coder.tools.base import Arguments, Context, Outcome, Plan, tool
from duologue.coder.tools.changing import subject_of


class UndoEdits(Arguments, frozen=True):
    pass


@tool(
    "undo_edits",
    "Take back all changes that the newest turn with edits made by write_file, edit_file, delete_file and move_file. "
    "Refused when a file has changed since. What commands did to files cannot be taken back.",
    "edit",
    UndoEdits,
)
async def undo_edits(arguments: UndoEdits, context: Context) -> Plan:
    changes = tuple(change.reversed() for change in context.journal.last())
    if not changes:
        raise ToolError("there are no edits to undo")
    names = [context.workspace.resolve(change.path).name for change in changes]

    async def perform(call: str) -> Outcome:
        await check(context.files, context.disk, changes)
        await settled(_make(), context.limits.settle)
        return Outcome(f"Undid the changes of {', '.join(names)}.", {"paths": names})

    async def _make() -> None:
        for change in changes:
            await make(context.files, context.disk, change)
        context.journal.forget_last()

    try:
        await check(context.files, context.disk, changes)
    except Stale as error:
        raise Stale(f"cannot be undone: {error}") from None
    return Plan(
        title=f"Undo changes of {len(changes)} file{'s' * (len(changes) != 1)}",
        subject=subject_of(changes),
        perform=perform,
        locations=tuple(location_of(change) for change in changes),
        diffs=diffs_of(changes),
    )
