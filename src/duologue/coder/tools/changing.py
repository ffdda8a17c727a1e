"""What the tools that change files have in common: the plan with its diffs, and the one way to write."""

from __future__ import annotations

from collections.abc import Sequence

from duologue.coder.diffs import alone, check, diffs_of, location_of, make
from duologue.coder.journal import Change
from duologue.coder.settling import settled
from duologue.coder.texts import shorten
from duologue.coder.tools.base import CALL_TITLE_CHARACTERS, Context, Outcome, Plan
from duologue.local.errors import TooLarge
from duologue.local.rules import Write


def plan_changes(title: str, changes: Sequence[Change], done: Outcome, context: Context) -> Plan:
    """A plan that makes these changes, if the files still are as they were. Raises TooLarge."""
    for change in changes:
        if isinstance(change.after, str) and len(change.after.encode()) > context.limits.file:
            raise TooLarge(f"{change.path.name}: more text than the limit of {context.limits.file} bytes for one file")

    async def perform(call: str) -> Outcome:
        async with alone(changes):
            await check(context.files, context.disk, changes)
            await settled(_make(changes, context), context.limits.settle)
        return done

    return Plan(
        title=shorten(title, CALL_TITLE_CHARACTERS),
        subject=subject_of(changes),
        perform=perform,
        locations=tuple(location_of(change) for change in changes),
        diffs=diffs_of(changes),
    )


async def _make(changes: Sequence[Change], context: Context) -> None:
    made: list[Change] = []
    for change in changes:
        context.journal.record(change)
        try:
            await make(context.files, context.disk, change)
        except Exception:
            # Of a write that is cut off in its midst nobody knows whether it took place, so the journal keeps that one.
            context.journal.take_back(change)
            await _take_back(made, context)
            raise
        made.append(change)


async def _take_back(made: Sequence[Change], context: Context) -> None:
    """Leave nothing half done: a file that was moved and could not be removed would be there twice."""
    for change in reversed(made):
        await make(context.files, context.disk, change.reversed())
        context.journal.take_back(change)


def subject_of(changes: Sequence[Change]) -> Write:
    """What needs permission: a call that deletes anything counts as deleting."""
    deletes = any(change.after is None for change in changes)
    return Write(tuple(change.real for change in changes), "delete" if deletes else "edit")


def nothing_to_do(title: str, outcome: Outcome) -> Plan:
    """A plan without effect, so nobody is asked."""

    async def perform(call: str) -> Outcome:
        return outcome

    return Plan(shorten(title, CALL_TITLE_CHARACTERS), None, perform)
