"""The database of sessions. One thread uses it; other processes may use the same file at the same time."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from duologue.coder.store.errors import Busy, StoreError
from duologue.coder.store.folder import prepare
from duologue.coder.store.lock import Lock
from duologue.coder.store.settings import StoreLimits

#: Marks the file as ours ("DuoL"), and its form. A file of a higher version is left alone.
APPLICATION = 0x44756F4C
VERSION = 1

#: How long to wait for the writing of another process, in seconds.
BUSY_SECONDS = 30.0

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


class Row(NamedTuple):
    """What is known of a session. Times are seconds since 1970, `roots` the additional ones."""

    number: int
    id: str
    conversation: str
    cwd: str
    roots: tuple[str, ...]
    title: str | None
    model: str
    mode: str
    used: float
    prompts: int


_COLUMNS = ", ".join(Row._fields)


class Database:
    """Raises StoreError when the file cannot be used; it is as it was then. `sqlite3.Error` may come later."""

    def __init__(self, folder: Path) -> None:
        self.path = prepare(folder)
        self._locks = folder / "locks"
        self._held: dict[str, tuple[int, Lock]] = {}
        self._connection = _open(self.path)

    def close(self) -> None:
        for session_id in [*self._held]:
            self.release(session_id)
        self._connection.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All that happens inside, or nothing of it."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            # Some failures, such as a full disk, have ended it already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    # --- sessions -----------------------------------------------------------------------------------------------------

    def create(self, session_id: str, members: Mapping[str, Any], now: float) -> None:
        """A new session, which this process has open. Raises Busy when no number for it is free."""
        columns = {"id": session_id, "created": now, "used": now, **_columns(members)}
        for _ in range(NUMBERS):
            number = self._insert(columns)
            lock = Lock.take(self._locks / str(number))
            if lock is not None:
                self._held[session_id] = (number, lock)
                return
            # Another process had the number in a transaction that came to nothing, and has not let go of it yet.
            self._connection.execute("DELETE FROM session WHERE number = ?", (number,))
        raise Busy("other processes hold the locks of new sessions: end them, or try again")

    def _insert(self, columns: Mapping[str, Any]) -> int:
        marks = ", ".join("?" * len(columns))
        cursor = self._connection.execute(
            f"INSERT INTO session ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values())
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def find(self, session_id: str) -> Row | None:
        found = self._connection.execute(f"SELECT {_COLUMNS} FROM session WHERE id = ?", (session_id,)).fetchone()
        return None if found is None else _row(found)

    def take(self, session_id: str) -> Row | None:
        """The same, open in this process alone from now on. Raises Busy while another one has it open."""
        row = self.find(session_id)
        if row is None or session_id in self._held:
            return row
        lock = Lock.take(self._locks / str(row.number))
        if lock is None:
            raise Busy("the session is open in another process: close it there, or end that process")
        # It may have been deleted, or gone on with, before the lock was free.
        row = self.find(session_id)
        if row is None:
            lock.remove()
            return None
        self._held[session_id] = (row.number, lock)
        return row

    def release(self, session_id: str) -> None:
        """Let other processes have it."""
        held = self._held.pop(session_id, None)
        if held is not None:
            held[1].release()

    def rows(self) -> list[Row]:
        """All sessions, the last used first."""
        found = self._connection.execute(f"SELECT {_COLUMNS} FROM session ORDER BY used DESC, number DESC")
        return [_row(each) for each in found]

    def describe(self, session_id: str, members: Mapping[str, Any]) -> None:
        columns = _columns(members)
        sets = ", ".join(f"{name} = ?" for name in columns)
        self._connection.execute(f"UPDATE session SET {sets} WHERE id = ?", (*columns.values(), session_id))

    def used(self, session_id: str, prompts: int, now: float) -> None:
        """Someone worked in it, with so many new prompts."""
        self._connection.execute(
            "UPDATE session SET used = ?, prompts = prompts + ? WHERE id = ?", (now, prompts, session_id)
        )

    def delete(self, session_id: str) -> None:
        """Remove it for good; none is no error. Raises Busy while another process has it open."""
        row = self.take(session_id)
        if row is None:
            return
        self._connection.execute("DELETE FROM session WHERE number = ?", (row.number,))
        self._held.pop(session_id)[1].remove()

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
            count, size = count + 1, size + held
            if used < now - days * DAY:
                count, size = count - 1, size - held
                yield session_id
            elif count > limits.session_count or size > limits.session_bytes:
                yield session_id


def _columns(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: json.dumps(value) if name == "roots" else value for name, value in members.items()}


def _row(found: tuple[Any, ...]) -> Row:
    row = Row(*found)
    return row._replace(roots=tuple(json.loads(found[Row._fields.index("roots")])))


def _open(path: Path) -> sqlite3.Connection:
    try:
        if path.stat().st_size:
            _check(path)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            _set_up(connection)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {explained(error)}") from None
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
            connection.execute(f"SELECT {_COLUMNS} FROM session LIMIT 1").fetchone()
            connection.execute("SELECT * FROM record LIMIT 1").fetchone()


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


def explained(error: sqlite3.Error) -> str:
    """What is wrong, and what to do."""
    match getattr(error, "sqlite_errorcode", None):
        case sqlite3.SQLITE_FULL:
            return "the disk is full"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another process keeps it locked"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"the file is damaged ({error}): move it away to begin a new one"
    return str(error)
