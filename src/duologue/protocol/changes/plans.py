"""Plans: v2 keeps several by id and in several forms, stable v1 has one list of entries.

A v1 client that sent the `plan` capability gets them by id. Others get one plan with the entries of all: a plan in
Markdown or in a file stands there as one entry. A cancelled entry is a completed one whose words say so.
"""

from __future__ import annotations

from typing import Any

from duologue.protocol.base import Unknown
from duologue.protocol.changes.memory import SessionMemory, keep
from duologue.protocol.common.plan import FilePlan, MarkdownPlan, PlanEntryPriority
from duologue.protocol.v1 import plan as v1
from duologue.protocol.v1.updates import PlanEvent, SessionNotification
from duologue.protocol.v1.updates import PlanUpdateEvent as PlanUpdateV1
from duologue.protocol.v2 import plan as v2
from duologue.protocol.v2.updates import PlanUpdateEvent as PlanUpdateV2
from duologue.protocol.v2.updates import UpdateSessionNotification

#: The id of a plan that came without one.
PLAN_ID = "plan"

CANCELLED_MARK = " (cancelled)"


# --- Down ------------------------------------------------------------------------------------------------------------


def plan_down(session: SessionMemory, note: UpdateSessionNotification) -> Any:
    update: Any = note.update
    plan = update.plan
    if session.connection.client.plans:
        return () if isinstance(plan, Unknown) else _by_id_down(note, plan)
    plan_id = plan.raw.get("planId") if isinstance(plan, Unknown) else plan.plan_id
    keep(session.plans, str(plan_id), plan, session.connection.bounds.plans)
    return _all_down(session, note, update.meta)


def plan_removed_down(session: SessionMemory, note: UpdateSessionNotification) -> Any:
    update: Any = note.update
    if session.connection.client.plans:
        return note
    if session.plans.pop(update.plan_id, None) is None:
        return ()
    return _all_down(session, note, update.meta)


def _by_id_down(note: UpdateSessionNotification, plan: Any) -> Any:
    update: Any = note.update
    if not isinstance(plan, v2.ItemsPlan):
        return note
    items = v1.ItemsPlan(plan_id=plan.plan_id, entries=_entries_down(plan.entries), meta=plan.meta)
    return SessionNotification(
        session_id=note.session_id, update=PlanUpdateV1(plan=items, meta=update.meta), meta=note.meta
    )


def _all_down(session: SessionMemory, note: UpdateSessionNotification, meta: Any) -> SessionNotification:
    entries = [entry for plan in session.plans.values() for entry in _as_entries(plan)]
    return SessionNotification(session_id=note.session_id, update=PlanEvent(entries=entries, meta=meta), meta=note.meta)


def _as_entries(plan: Any) -> list[v1.PlanEntry]:
    match plan:
        case v2.ItemsPlan(entries=entries):
            return _entries_down(entries)
        case MarkdownPlan(content=text) | FilePlan(uri=text):
            status, priority = v1.PlanEntryStatus.IN_PROGRESS, PlanEntryPriority.MEDIUM
            return [v1.PlanEntry(content=text, priority=priority, status=status)]
    return []


def _entries_down(entries: list[v2.PlanEntry]) -> list[v1.PlanEntry]:
    return [_entry_down(entry) for entry in entries]


def _entry_down(entry: v2.PlanEntry) -> v1.PlanEntry:
    content, status = entry.content, v1.PlanEntryStatus(entry.status.value)
    if entry.status == v2.PlanEntryStatus.CANCELLED:
        content, status = content + CANCELLED_MARK, v1.PlanEntryStatus.COMPLETED
    elif not status.known:
        status = v1.PlanEntryStatus.PENDING
    priority = entry.priority if entry.priority.known else PlanEntryPriority.MEDIUM
    return v1.PlanEntry(content=content, priority=priority, status=status, meta=entry.meta)


# --- Up --------------------------------------------------------------------------------------------------------------


def plan_up(session: SessionMemory, note: SessionNotification) -> UpdateSessionNotification:
    """v1's only plan, under an id of our own."""
    update: Any = note.update
    session.end_message()
    items = v2.ItemsPlan(plan_id=PLAN_ID, entries=_entries_up(update.entries))
    return _up(note, PlanUpdateV2(plan=items, meta=update.meta))


def plan_update_up(session: SessionMemory, note: SessionNotification) -> UpdateSessionNotification:
    update: Any = note.update
    session.end_message()
    plan = update.plan
    if isinstance(plan, v1.ItemsPlan):
        plan = v2.ItemsPlan(plan_id=plan.plan_id, entries=_entries_up(plan.entries), meta=plan.meta)
    return _up(note, PlanUpdateV2(plan=plan, meta=update.meta))


def plan_removed_up(session: SessionMemory, note: SessionNotification) -> UpdateSessionNotification:
    session.end_message()
    return _up(note, note.update)


def _up(note: SessionNotification, update: Any) -> UpdateSessionNotification:
    return UpdateSessionNotification(session_id=note.session_id, update=update, meta=note.meta)


def _entries_up(entries: list[v1.PlanEntry]) -> list[v2.PlanEntry]:
    return [_entry_up(entry) for entry in entries]


def _entry_up(entry: v1.PlanEntry) -> v2.PlanEntry:
    status = v2.PlanEntryStatus(entry.status.value)
    return v2.PlanEntry(content=entry.content, priority=entry.priority, status=status, meta=entry.meta)
