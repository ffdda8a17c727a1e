"""Updates on their way to sessions, also of those that are just being opened or that nobody knows."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from duologue.protocol.v2.updates import SessionUpdate, UpdateSessionNotification

if TYPE_CHECKING:
    from duologue.client.session import Session

log = logging.getLogger("duologue.client")

#: Updates kept while a session is being opened, before the response that names it.
EARLY_UPDATES = 1000


class Arrivals:
    """Gives each update to its session."""

    def __init__(self, sessions: dict[str, Session]) -> None:
        self._sessions = sessions
        self._opening = 0
        self._early: dict[str, list[SessionUpdate]] = {}
        self._early_count = 0
        self._strangers: set[str] = set()

    @contextlib.contextmanager
    def opening(self) -> Iterator[None]:
        """While a session is being opened that has no name yet."""
        self._opening += 1
        try:
            yield
        finally:
            self._opening -= 1
            if not self._opening:
                self._early.clear()
                self._early_count = 0

    def add(self, session: Session) -> None:
        """A session was opened; what came early for it comes now."""
        self._sessions[session.id] = session
        for update in self._early.pop(session.id, ()):
            session.receive(update)

    def update(self, note: UpdateSessionNotification) -> None:
        """An update was read."""
        session = self._sessions.get(note.session_id)
        if session is not None:
            session.receive(note.update)
        else:
            self._stranger(note)

    def _stranger(self, note: UpdateSessionNotification) -> None:
        """An update for a session that is not known: kept while one is being opened, else dropped, told once."""
        if self._opening:
            if self._early_count < EARLY_UPDATES:
                self._early.setdefault(note.session_id, []).append(note.update)
                self._early_count += 1
        elif note.session_id not in self._strangers and len(self._strangers) < EARLY_UPDATES:
            self._strangers.add(note.session_id)
            log.info("updates for an unknown session are ignored: %s", note.session_id)
