"""What is done with the database: writing records in batches, opening, listing and deleting sessions."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any

from duologue.coder.store.cleaning import Cleaner
from duologue.coder.store.database import Database, Row, explained
from duologue.coder.store.errors import Busy, StoreError
from duologue.coder.store.records import Kind, Record, encoded, joined, split
from duologue.coder.store.saved import Saved, fold
from duologue.coder.store.settings import StoreSettings
from duologue.coder.store.worker import Job
from duologue.protocol.common.updates import SessionInfoUpdateEvent

log = logging.getLogger("duologue.coder.store")


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
        # Whether something may have become too much, and whether something was deleted.
        self._grown = True
        self._wipe = False

    def close(self) -> None:
        self._database.close()

    def holds_any(self) -> bool:
        """Whether a session is open."""
        return bool(self._open)

    def do(self, jobs: Sequence[Job]) -> None:
        """Do jobs in one transaction; they are answered when it is written. Raises StoreError: then nothing is done."""
        answers: list[tuple[Job, Any, StoreError | None]] = []
        try:
            with self._database.transaction():
                for job in jobs:
                    answers.append((job, *self._outcome(job)))
                self._write_fresh()
                if self._grown:
                    self._prune()
            if self._wipe:
                self._database.wipe()
                self._wipe = False
        except Exception as error:
            failure = StoreError(f"{self._database.path}: {_reason(error)}")
            for job in jobs:
                _answer(job, None, failure)
            raise failure from None
        for job, result, problem in answers:
            _answer(job, result, problem)

    def _outcome(self, job: Job) -> tuple[Any, StoreError | None]:
        try:
            return job.work(self), None
        except Busy as problem:
            problem.seconds = self.limits.busy_seconds
            if job.answer is None:
                log.warning("a session is not kept: %s", problem)
            return None, problem
        except StoreError as problem:
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
        self._database.release(session_id)

    def _write_fresh(self) -> None:
        fresh, self._fresh = self._fresh, {}
        for session_id, records in fresh.items():
            self._write(session_id, records, whole=False)

    def _write(self, session_id: str, records: list[Record], *, whole: bool) -> None:
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
        prompts = sum(record.kind is Kind.BEGAN for record in told)
        if prompts or any(record.kind is Kind.ENDED for record in told):
            self._database.used(session_id, prompts, time.time())
            self._grown = True
        titles = [record.value.title for record in told if isinstance(record.value, SessionInfoUpdateEvent)]
        if titles:
            title = titles[-1]
            self.describe(session_id, {"title": self._cleaner.text(title) if isinstance(title, str) else None})

    # --- sessions of earlier ------------------------------------------------------------------------------------------

    def rows(self) -> list[Row]:
        return self._database.rows()

    def read(self, session_id: str) -> Saved | None:
        """What is kept of a session, open or not; None when there is none. Raises Unreadable."""
        self._write_fresh()
        row = self._database.find(session_id)
        return None if row is None else fold(row, self._database.records(row.number))

    def take(self, session_id: str) -> Saved | None:
        """The same, and it is open in this process alone from now on. Raises Busy and Unreadable."""
        row = self._database.take(session_id)
        if row is None:
            return None
        try:
            saved = fold(row, self._database.records(row.number))
        except StoreError:
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


def _reason(error: Exception) -> str:
    """What went wrong, without what was to be written: that may hold secrets."""
    match error:
        case sqlite3.Error():
            return explained(error)
        case OSError() | StoreError():
            return str(error)
    return f"it cannot be written ({type(error).__name__})"


def _answer(job: Job, result: Any, problem: StoreError | None) -> None:
    if job.answer is None or job.answer.done():
        return
    if problem is None:
        job.answer.set_result(result)
    else:
        job.answer.set_exception(problem)
