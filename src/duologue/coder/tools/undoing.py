"""`undo_edits`: takes back what the newest turn with edits did to files."""

from __future__ import annotations

from collections.abc import Sequence

from duologue.coder.diffs import alone, check, diffs_of, location_of, make
from duologue.coder.errors import Stale, ToolError, reason
from duologue.coder.journal import Change
from duologue.coder.settling import settled
from duologue.coder.tools.base import Arguments, Context, Outcome, Plan, tool
from duologue.coder.tools.changing import subject_of
from duologue.local.errors import LocalError


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
        async with alone(changes):
            await check(context.files, context.disk, changes)
            await settled(_make(changes, context), context.limits.settle)
        return Outcome(f"Undid the changes of {', '.join(names)}.", {"paths": names})

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


async def _make(changes: Sequence[Change], context: Context) -> None:
    """What is undone is forgotten at once: when a file cannot be written, the others can be undone again without it.

    What comes back does so before anything goes: a moved file that cannot be put back stays where it was moved to.
    """
    undone: list[str] = []
    for change in sorted(changes, key=lambda change: change.after is None):
        name = context.workspace.resolve(change.path).name
        try:
            await make(context.files, context.disk, change)
        except (OSError, ToolError, LocalError) as error:
            so_far = f". Undone so far: {', '.join(undone)}" if undone else ""
            raise ToolError(f"{name} was not undone: {reason(error)}{so_far}") from error
        context.journal.forget(change.real)
        undone.append(name)
