"""The database of sessions. One thread uses it; other processes may use the same file at the same time."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from duologue.coder.store.errors import Busy, StoreError, Unreadable
from duologue.coder.store.failures import failure
from duologue.coder.store.folder import prepare
from duologue.coder.store.rows import COLUMNS, SessionRow, columns, is_time, row_of
from duologue.coder.store.settings import StoreLimits
from duologue.local.lock import Lock

log = logging.getLogger("duologue.coder.store")

#: Marks the file as ours ("DuoL"), and its form. A file of a higher version is left alone.
APPLICATION = 0x44756F4C
VERSION = 1

#: How long to wait for the writing of another process, in seconds. It is tried again after that.
BUSY_SECONDS = 10.0

#: How many numbers are tried for a new session.
NUMBERS = 16

DAY = 24 * 60 * 60

SCHEMA = """
CREATE TABLE session (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, conversation TEXT NOT NULL,
    cwd TEXT NOT NULL, roots TEXT NOT NULL, title TEXT, model TEXT NOT NULL, mode TEXT NOT NULL,
    created REAL NOT NULL, used REAL NOT NULL, prompts INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE record (
    session INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE, place INTEGER NOT NULL,
    kind TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (session, place)
) WITHOUT ROWID;
"""

#: Is told of sessions that are damaged.
OnDamaged = Callable[[Unreadable], object]


class Database:
    """Raises StoreError when the file cannot be used; it is as it was then. `sqlite3.Error` and OSError may come
    later, see `failure`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = prepare(folder)
        self._locks = folder / "locks"
        self._held: dict[str, tuple[int, Lock]] = {}
        # What is let go of, or is gone, once the transaction is written.
        self._leaving: dict[str, tuple[int, Lock]] = {}
        self._gone: list[Lock] = []
        self._connection = _open(self.path)
        self._file = _identity(self.path)

    def close(self) -> None:
        for _, lock in self._held.values():
            lock.release()
        self._held.clear()
        self._connection.close()

    def is_there(self) -> bool:
        """Whether the file is still where it was opened. Of one that was removed SQLite says nothing: it writes on."""
        with contextlib.suppress(OSError):
            return _identity(self.path) == self._file
        return False

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All that happens inside, or nothing of it: the sessions that are open are those of before then."""
        before = self._held.copy()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._take_back(before)
            # Some failures, such as a full disk, have ended it already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        for _, lock in self._leaving.values():
            lock.release()
        for lock in self._gone:
            lock.remove()
        self._leaving, self._gone = {}, []

    def _take_back(self, before: dict[str, tuple[int, Lock]]) -> None:
        """Hold the locks of before, and no other."""
        kept = [lock for _, lock in before.values()]
        now = [lock for _, lock in (*self._held.values(), *self._leaving.values())]
        for lock in [*now, *self._gone]:
            if lock not in kept:
                lock.release()
        self._held, self._leaving, self._gone = before, {}, []

    # --- sessions -----------------------------------------------------------------------------------------------------

    def create(self, session_id: str, members: Mapping[str, Any], now: float) -> None:
        """A new session, which this process has open. Raises Busy when no number for it is free."""
        self._held[session_id] = self._new({"id": session_id, "created": now, "used": now, **columns(members)})

    def _new(self, members: Mapping[str, Any]) -> tuple[int, Lock]:
        for _ in range(NUMBERS):
            number = self._insert(members)
            lock = Lock.take(self._locks / str(number))
            if lock is not None:
                return number, lock
            # Another process had the number in a transaction that came to nothing, and has not let go of it yet.
            self._connection.execute("DELETE FROM session WHERE number = ?", (number,))
        raise Busy("other processes hold the locks of new sessions: end them, or try again")

    def _insert(self, members: Mapping[str, Any]) -> int:
        marks = ", ".join("?" * len(members))
        cursor = self._connection.execute(
            f"INSERT INTO session ({', '.join(members)}) VALUES ({marks})", tuple(members.values())
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def find(self, session_id: str) -> SessionRow | None:
        """What is known of a session; None of one that is not there. Raises Unreadable."""
        found = self._connection.execute(f"SELECT {COLUMNS} FROM session WHERE id = ?", (session_id,)).fetchone()
        return None if found is None else row_of(found)

    def take(self, session_id: str) -> bool:
        """Have a session open in this process alone from now on; whether it is there. Raises Busy while another
        process has it open."""
        if session_id in self._leaving:
            self._held[session_id] = self._leaving.pop(session_id)
        if session_id in self._held:
            return True
        number = self._number(session_id)
        if number is None:
            return False
        lock = Lock.take(self._locks / str(number))
        if lock is None:
            raise Busy("the session is open in another process: close it there, or end that process")
        # It may have been deleted before the lock was free.
        if self._number(session_id) is None:
            lock.remove()
            return False
        self._held[session_id] = (number, lock)
        return True

    def _number(self, session_id: str) -> int | None:
        found = self._connection.execute("SELECT number FROM session WHERE id = ?", (session_id,)).fetchone()
        return None if found is None else int(found[0])

    def release(self, session_id: str) -> None:
        """Let other processes have it, once what was written of it is."""
        held = self._held.pop(session_id, None)
        if held is None:
            return
        if self._connection.in_transaction:
            self._leaving[session_id] = held
        else:
            held[1].release()

    def rows(self, report: OnDamaged = lambda damaged: None) -> list[SessionRow]:
        """All sessions that can be read, the last used first; `report` is told of the others."""
        found = self._connection.execute(f"SELECT {COLUMNS} FROM session ORDER BY used DESC, number DESC").fetchall()
        rows = []
        for each in found:
            try:
                rows.append(row_of(each))
            except Unreadable as damaged:
                report(damaged)
        # A time that is none is not the latest, wherever SQLite has it.
        return sorted(rows, key=lambda row: row.used, reverse=True)

    def describe(self, session_id: str, members: Mapping[str, Any]) -> None:
        changed = columns(members)
        sets = ", ".join(f"{name} = ?" for name in changed)
        self._connection.execute(f"UPDATE session SET {sets} WHERE id = ?", (*changed.values(), session_id))

    def count(self, session_id: str, prompts: int) -> None:
        """There are so many more turns to go on from."""
        self._connection.execute("UPDATE session SET prompts = prompts + ? WHERE id = ?", (prompts, session_id))

    def delete(self, session_id: str) -> None:
        """Remove it for good; none is no error. Raises Busy while another process has it open."""
        if not self.take(session_id):
            return
        number, lock = self._held.pop(session_id)
        self._connection.execute("DELETE FROM session WHERE number = ?", (number,))
        if self._connection.in_transaction:
            self._gone.append(lock)
        else:
            lock.remove()

    def wipe(self) -> None:
        """Leave nothing of what was deleted in the files. Not inside a transaction."""
        self._connection.execute("PRAGMA incremental_vacuum").fetchall()
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # --- records ------------------------------------------------------------------------------------------------------

    def append(self, session_id: str, records: Iterable[tuple[str, bytes]]) -> None:
        """Write records behind those that are there. The session is one that this process has open."""
        number = self._held[session_id][0]
        last = self._connection.execute("SELECT max(place) FROM record WHERE session = ?", (number,)).fetchone()[0] or 0
        rows = [(number, last + index, kind, body) for index, (kind, body) in enumerate(records, 1)]
        self._connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", rows)
        size = sum(len(body) for *_, body in rows)
        self._connection.execute("UPDATE session SET bytes = bytes + ? WHERE number = ?", (size, number))

    def records(self, number: int) -> list[tuple[str, bytes]]:
        """Kind and body of each, in order."""
        found = self._connection.execute("SELECT kind, body FROM record WHERE session = ? ORDER BY place", (number,))
        return found.fetchall()

    # --- limits -------------------------------------------------------------------------------------------------------

    def prune(self, limits: StoreLimits, now: float) -> list[str]:
        """Drop what is too much, but nothing that is open. Returns the ids of what is gone."""
        gone: list[str] = []
        for session_id in self._too_much(limits, now):
            if session_id in self._held:
                continue
            with contextlib.suppress(Busy):
                self.delete(session_id)
                gone.append(session_id)
        return gone

    def _too_much(self, limits: StoreLimits, now: float) -> Iterator[str]:
        found = self._connection.execute("SELECT id, used, prompts, bytes FROM session ORDER BY used DESC, number DESC")
        count = size = 0
        for session_id, used, prompts, held in found.fetchall():
            days = limits.session_days if prompts else limits.unused_days
            held = held if isinstance(held, int) else 0
            count, size = count + 1, size + held
            # What has no time, or no id to delete it by, is not known to be too old.
            if not isinstance(session_id, str):
                continue
            if is_time(used) and used < now - days * DAY:
                count, size = count - 1, size - held
                yield session_id
            elif count > limits.session_count or size > limits.session_bytes:
                yield session_id

    # --- another file -------------------------------------------------------------------------------------------------

    def adopt(self, other: Database) -> None:
        """Have the sessions that are open in another database open in this one as well, with all that is in them."""
        for session_id in other._held:
            try:
                members, records = other._whole(session_id)
            except Unreadable as error:
                log.warning("a session is not kept any more: %s", error)
                continue
            self.delete(session_id)
            number, lock = self._new(members)
            self._held[session_id] = number, lock
            rows = [(number, *record) for record in records]
            self._connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", rows)

    def _whole(self, session_id: str) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
        number = self._held[session_id][0]
        found = self._connection.execute("SELECT * FROM session WHERE number = ?", (number,))
        names = [column[0] for column in found.description]
        row = found.fetchone()
        if row is None:
            raise Unreadable(f"stored session {number} was taken out of {self.path} by other means")
        members = dict(zip(names, row, strict=True))
        del members["number"]
        records = self._connection.execute("SELECT place, kind, body FROM record WHERE session = ?", (number,))
        return members, records.fetchall()


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def _text(stored: bytes) -> str | bytes:
    """A text of the database. One that is none stays bytes, so that it spoils no other."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


def _open(path: Path) -> sqlite3.Connection:
    try:
        if path.stat().st_size:
            _check(path)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        connection.text_factory = _text
        try:
            _set_up(connection)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, OSError) as error:
        raise failure(path, error) from None
    return connection


def _check(path: Path) -> None:
    """Look at a file without changing it. Raises StoreError or `sqlite3.Error`."""
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as connection:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        if application != APPLICATION and tables:
            raise StoreError(f"{path}: this is another program's database: move it away, or name another folder")
        if version > VERSION:
            newer = f"it was written by a newer version (its form is {version}, known here is {VERSION})"
            raise StoreError(f"{path}: {newer}: update, or name another folder")
        if tables:
            connection.execute(f"SELECT {COLUMNS} FROM session LIMIT 0").fetchone()
            connection.execute("SELECT * FROM record LIMIT 0").fetchone()


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    # A killed process loses nothing that was committed; one that reads and one that writes do not wait for each other.
    connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA secure_delete = ON").fetchone()
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
