"""How a session is written down while it goes on. Nothing here waits for the disk."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from duologue.coder.models.base import ChatMessage
from duologue.coder.store.errors import StoreError, Unavailable
from duologue.coder.store.records import Record, RecordKind, message_record
from duologue.coder.store.worker import Worker
from duologue.protocol.v2.updates import SessionUpdate

log = logging.getLogger("duologue.coder.store")


class SessionLog:
    """One session's way into the store. It may be told everything at any time: without a store it goes nowhere."""

    def __init__(self, worker: Worker, session_id: str) -> None:
        self._worker = worker
        self._id = session_id

    def create(self, **members: Any) -> None:
        """The session is new."""
        self._worker.put(lambda desk: desk.create(self._id, members))

    def describe(self, **members: Any) -> None:
        """Something of it is another now."""
        self._worker.put(lambda desk: desk.describe(self._id, members))

    def used(self, when: datetime) -> None:
        """Something was asked of it. Told with the time that the session itself has: both stand in one list."""
        self.describe(used=when.timestamp())

    def began(self) -> None:
        """A turn begins."""
        self._put(Record(RecordKind.BEGAN))

    def ended(self) -> None:
        """A turn has ended: what it did is written at once."""
        self._put(Record(RecordKind.ENDED))
        self._worker.start()

    def update(self, update: SessionUpdate) -> None:
        """The client is told something."""
        self._put(Record(RecordKind.UPDATE, update))

    def added(self, message: ChatMessage) -> None:
        """See `Watcher`."""
        self._put(message_record(message))

    def dropped_from(self, mark: int) -> None:
        """See `Watcher`."""
        self._put(Record(RecordKind.DROPPED, mark))

    async def close(self) -> None:
        """Write the rest, and let another process have the session."""
        self._worker.put(lambda desk: desk.release(self._id))
        try:
            await self._worker.ask(lambda desk: None)
        except Unavailable as error:
            log.warning(
                "the last of session %s is lost if this process ends before it can be written: %s", self._id, error
            )
        except StoreError:
            return

    @property
    def notices(self) -> Sequence[str]:
        """What a person should know of the store, in the order in which it came up."""
        return self._worker.notices

    def _put(self, record: Record) -> None:
        self._worker.put(lambda desk: desk.write(self._id, record), record)
