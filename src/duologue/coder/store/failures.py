"""What an error of the disk or of SQLite means for the store: whether to try again, and what to tell."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from duologue.coder.store.errors import StoreError, Unavailable

#: What may be over by the next try. (The lower byte of a code is its kind.)
PASSING = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_INTERRUPT,
    )
)


def failure(path: Path, error: Exception) -> StoreError:
    """The error as one of the store, without what was to be written: that may hold secrets."""
    match error:
        case StoreError():
            return error
        case sqlite3.Error():
            kind = Unavailable if _code(error) in PASSING else StoreError
            return kind(f"{path}: {_explained(error)}")
        case OSError():
            return Unavailable(f"{error.filename or path}: {error.strerror or error}")
    return StoreError(f"{path}: it cannot be written ({type(error).__name__})")


def _code(error: sqlite3.Error) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _explained(error: sqlite3.Error) -> str:
    """What is wrong, and what to do."""
    match _code(error):
        case sqlite3.SQLITE_FULL:
            return "the disk is full: make room"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another process keeps it locked: let it end"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"it cannot be written ({error}): let it and its folder be written"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"the file is damaged ({error}): move it away to begin a new one"
    return str(error)
