"""What is done with the database: writing records in batches, opening, listing and deleting sessions."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any

from duologue.coder.models.base import AssistantMessage
from duologue.coder.store.cleaning import Cleaner
from duologue.coder.store.database import Database, OnDamaged
from duologue.coder.store.errors import Busy, StoreError
from duologue.coder.store.failures import failure
from duologue.coder.store.records import Record, RecordKind, encoded, joined, split
from duologue.coder.store.rows import SessionRow
from duologue.coder.store.saved import Saved, fold
from duologue.coder.store.settings import StoreSettings
from duologue.coder.store.worker import Job
from duologue.protocol.common.updates import SessionInfoUpdateEvent
from duologue.protocol.v2.updates import AgentMessageChunk, AgentThoughtChunk, ToolCallUpdateEvent

log = logging.getLogger("duologue.coder.store")

#: What is wrong with the records of one session: they have no form in JSON, or the session is not in the file any more.
_SESSION_FAULTS = (ValueError, TypeError, OverflowError, RecursionError, LookupError, sqlite3.IntegrityError)

#: A model's answer, in its history and as the client is told of it.
_ANSWERS = (AssistantMessage, AgentMessageChunk, AgentThoughtChunk, ToolCallUpdateEvent)


class Desk:
    """The store as its thread sees it. Raises StoreError when it cannot be opened, or not be used any more."""

    def __init__(self, settings: StoreSettings) -> None:
        self.limits = settings.limits
        self._cleaner = Cleaner(settings.secrets)
        self._database = Database(settings.folder)
        # Records that came in this batch, and the last words of earlier ones that wait to be whole.
        self._fresh: dict[str, list[Record]] = {}
        self._words: dict[str, Record] = {}
        self._open: set[str] = set()
        # Of the turns at work, whether the model has heard of the prompt (USER) and answered (ASSISTANT).
        self._turns: dict[str, RecordKind] = {}
        # Whether something may have become too much, and whether something was deleted.
        self._grown = True
        self._wipe = False

    def close(self) -> None:
        self._database.close()

    def holds_any(self) -> bool:
        """Whether a session is open."""
        return bool(self._open)

    def do(self, jobs: Sequence[Job]) -> None:
        """Do jobs in one transaction; they are answered when it is written. Raises StoreError: then nothing is done and
        nobody is answered, and where it is Unavailable it may be tried again."""
        before = (self._words.copy(), self._open.copy(), self._turns.copy(), self._grown, self._wipe)
        answers: list[tuple[Job, Any, StoreError | None]] = []
        try:
            self._follow()
            with self._database.transaction():
                for job in jobs:
                    answers.append((job, *self._outcome(job)))
                self._write_fresh()
                if self._grown:
                    self._prune()
        except Exception as error:
            self._fresh.clear()
            self._words, self._open, self._turns, self._grown, self._wipe = before
            raise failure(self._database.path, error) from None
        if self._wipe:
            self._wipe_out()
        for job, result, refusal in answers:
            if refusal is None:
                job.give(result)
            else:
                job.refuse(refusal)

    def _wipe_out(self) -> None:
        """Leave nothing in the files of what was deleted. Where that fails it comes with the next batch: this one is
        written."""
        with contextlib.suppress(sqlite3.Error):
            self._database.wipe()
            self._wipe = False

    def _follow(self) -> None:
        """Begin a new file where the one in use was removed or moved, with the sessions that are open here."""
        if self._database.is_there():
            return
        fresh = Database(self._database.folder)
        try:
            with fresh.transaction():
                fresh.adopt(self._database)
        except BaseException:
            fresh.close()
            raise
        log.warning("%s: it was removed or moved; a new one has the sessions that are open here", fresh.path)
        self._database.close()
        self._database = fresh

    def _outcome(self, job: Job) -> tuple[Any, StoreError | None]:
        try:
            return job.work(self), None
        except StoreError as problem:
            if isinstance(problem, Busy):
                problem.seconds = self.limits.busy_seconds
            if job.answer is None:  # Nobody else hears of it.
                log.warning("a session is not kept: %s", problem)
            return None, problem

    # --- writing ------------------------------------------------------------------------------------------------------

    def create(self, session_id: str, members: Mapping[str, Any]) -> None:
        self._database.create(session_id, members, time.time())
        self._open.add(session_id)

    def describe(self, session_id: str, members: Mapping[str, Any]) -> None:
        self._database.describe(session_id, members)

    def write(self, session_id: str, record: Record) -> None:
        """Written with the batch. What is told of a session that is not open here goes nowhere."""
        if session_id in self._open:
            self._fresh.setdefault(session_id, []).append(record)

    def release(self, session_id: str) -> None:
        """The session is closed here: its last words are written, and others may have it."""
        self._write(session_id, self._fresh.pop(session_id, []), whole=True)
        self._open.discard(session_id)
        self._turns.pop(session_id, None)
        self._database.release(session_id)

    def _write_fresh(self) -> None:
        fresh, self._fresh = self._fresh, {}
        for session_id, records in fresh.items():
            self._write(session_id, records, whole=False)

    def _write(self, session_id: str, records: list[Record], *, whole: bool) -> None:
        try:
            self._append(session_id, records, whole=whole)
        except _SESSION_FAULTS as error:
            # Only this session is spoilt. It ends where it still fits together.
            reason = type(error).__name__
            log.warning("session %s is not kept from here on: it cannot be written (%s)", session_id, reason)
            self._open.discard(session_id)
            self._database.release(session_id)

    def _append(self, session_id: str, records: list[Record], *, whole: bool) -> None:
        waiting = self._words.pop(session_id, None)
        told = list(joined([*([waiting] if waiting else []), *records]))
        if told and not whole:
            ready, rest = split(told.pop())
            told += [ready] if ready else []
            if rest is not None:
                self._words[session_id] = rest
        if told:
            self._database.append(session_id, [(record.kind, encoded(record, self._cleaner)) for record in told])
            self._note(session_id, told)

    def _note(self, session_id: str, told: Sequence[Record]) -> None:
        """What a listing shows."""
        turns = sum([self._counted(session_id, record) for record in told])
        if turns:
            self._database.count(session_id, turns)
        if turns or any(record.kind in (RecordKind.BEGAN, RecordKind.ENDED) for record in told):
            self._grown = True
        titles = [record.value.title for record in told if isinstance(record.value, SessionInfoUpdateEvent)]
        if titles:
            title = titles[-1]
            self.describe(session_id, {"title": self._cleaner.text(title) if isinstance(title, str) else None})

    def _counted(self, session_id: str, record: Record) -> int:
        """How many more turns there are to go on from: one that was answered is, until it is forgotten."""
        match record.kind, self._turns.get(session_id):
            case RecordKind.BEGAN | RecordKind.ENDED, _:
                self._turns.pop(session_id, None)
            case RecordKind.USER, _:
                self._turns[session_id] = RecordKind.USER
            case RecordKind.ASSISTANT | RecordKind.UPDATE, RecordKind.USER if isinstance(record.value, _ANSWERS):
                # What was said before the model had heard of the prompt are notes of the agent itself.
                self._turns[session_id] = RecordKind.ASSISTANT
                return 1
            case RecordKind.DROPPED, RecordKind.ASSISTANT:
                del self._turns[session_id]
                return -1
        return 0

    # --- sessions of earlier ------------------------------------------------------------------------------------------

    def rows(self, report: OnDamaged) -> list[SessionRow]:
        """All sessions that can be read, the last used first; `report` is told of the others."""
        return self._database.rows(report)

    def read(self, session_id: str) -> Saved | None:
        """What is kept of a session, open or not; None when there is none. Raises Unreadable."""
        self._write_fresh()
        row = self._database.find(session_id)
        return None if row is None else fold(row, self._database.records(row.number))

    def take(self, session_id: str) -> Saved | None:
        """The same, and it is open in this process alone from now on. Raises Busy and Unreadable."""
        if not self._database.take(session_id):
            return None
        try:
            saved = self.read(session_id)
        except StoreError:
            if session_id not in self._open:
                self._database.release(session_id)
            raise
        self._open.add(session_id)
        return saved

    def delete(self, session_id: str) -> None:
        """Remove a session for good. Raises Busy."""
        self._database.delete(session_id)
        self._open.discard(session_id)
        self._fresh.pop(session_id, None)
        self._words.pop(session_id, None)
        self._wipe = True

    def _prune(self) -> None:
        """Once a run, and whenever a turn has ended: sessions grow in turns."""
        self._grown = False
        if self._database.prune(self.limits, time.time()):
            self._wipe = True
