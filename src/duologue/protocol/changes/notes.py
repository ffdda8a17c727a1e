"""The way back from a change of `session/update`: one notification as it is, several or none as steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duologue.protocol.changes.steps import Notify
from duologue.protocol.method import Notification
from duologue.protocol.v1 import table as v1
from duologue.protocol.v1.updates import SessionNotification
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.updates import UpdateSessionNotification


def down(notes: Sequence[Any]) -> Any:
    """Notifications for v1's wire."""
    return _packed(v1.SESSION_UPDATE, notes)


def up(notes: Sequence[Any]) -> Any:
    """Notifications for code that speaks v2."""
    return _packed(v2.SESSION_UPDATE, notes)


def note_down(session_id: str, update: Any) -> SessionNotification:
    return SessionNotification(session_id=session_id, update=update)


def note_up(session_id: str, update: Any) -> UpdateSessionNotification:
    return UpdateSessionNotification(session_id=session_id, update=update)


def as_steps(method: Notification[Any], result: Any) -> Sequence[Any]:
    """What a change gave back, as steps in any case."""
    return result if isinstance(result, (tuple, list)) else (Notify(method, result),)


def _packed(method: Notification[Any], notes: Sequence[Any]) -> Any:
    if len(notes) == 1:
        return notes[0]
    return tuple(Notify(method, note) for note in notes)
