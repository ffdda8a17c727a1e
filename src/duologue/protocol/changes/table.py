"""The table of differences between v1 and v2: one row for each thing that changed.

`down` takes v2's form to v1, `up` takes v1's form to v2; None where one version has nothing like it, and then `reason`
says what happens instead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from duologue.protocol.changes.later import Loading
from duologue.protocol.changes.memory import ConnectionMemory, SessionMemory
from duologue.protocol.changes.rows import Kind, Row
from duologue.protocol.changes.steps import Steps
from duologue.protocol.changes.table_methods import METHODS
from duologue.protocol.changes.table_updates import PARTS, UPDATES
from duologue.protocol.method import Notification, Request
from duologue.protocol.v1 import updates as v1u

__all__ = ["METHODS", "PARTS", "UPDATES", "Kind", "Row"]

RequestChange = Callable[[ConnectionMemory, Any, Hashable], Steps]
NotificationChange = Callable[[ConnectionMemory, Any], Steps]
UpdateChange = Callable[[SessionMemory, Any], Any]


def _changes(column: str, change: str, of: type) -> dict[Any, Any]:
    # What only v1 has is asked for by its name there.
    rows = ((getattr(row, column) or row.v1, getattr(row, change)) for row in (*METHODS, *UPDATES))
    return {key: function for key, function in rows if isinstance(key, of) and function is not None}


REQUESTS_DOWN: Mapping[Any, RequestChange | None] = Loading(_changes("v2", "down", Request))
REQUESTS_UP: Mapping[Any, RequestChange | None] = Loading(_changes("v1", "up", Request))
NOTIFICATIONS_DOWN: dict[Any, NotificationChange] = _changes("v2", "down", Notification)
NOTIFICATIONS_UP: dict[Any, NotificationChange] = _changes("v1", "up", Notification)
UPDATES_DOWN: dict[type, UpdateChange] = _changes("v2", "down", type)
UPDATES_UP: dict[type, UpdateChange] = _changes("v1", "up", type)

#: Updates by which a v1 agent shows that it works on a prompt.
SIGNS_OF_WORK: frozenset[type] = frozenset(
    {
        *(v1u.AgentMessageChunk, v1u.AgentThoughtChunk, v1u.UserMessageChunk),
        *(v1u.ToolCallEvent, v1u.ToolCallUpdateEvent, v1u.PlanEvent, v1u.PlanUpdateEvent),
    }
)
