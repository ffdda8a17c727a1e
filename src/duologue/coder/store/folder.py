"""The folder and the file of the database: made for their owner alone, and refused where others could have written."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from duologue.coder.store.errors import StoreError, Unavailable

DATABASE = "sessions.db"


def prepare(folder: Path) -> Path:
    """Make what is missing; the path of the database. Raises StoreError; what is there stays as it is then."""
    path = folder / DATABASE
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check(folder, folder.stat(), stat.S_ISDIR)
        with _alone(folder):
            _clear_away(path)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
            file = os.open(path, flags, 0o600)
        try:
            _check(path, os.fstat(file), stat.S_ISREG)
            if hasattr(os, "fchmod"):
                os.fchmod(file, 0o600)
        finally:
            os.close(file)
    except OSError as error:
        raise Unavailable(f"{error.filename or path}: {error.strerror or error}") from None
    return path


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process makes the file meanwhile."""
    if sys.platform == "win32":
        # What is open cannot be removed there.
        yield
        return
    import fcntl

    place = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Not every network's files can be locked.
        with contextlib.suppress(OSError):
            fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def _clear_away(path: Path) -> None:
    """Remove what a database that was removed has left: whoever still writes to it would share it with the new one."""
    if not path.exists() and not path.is_symlink():
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)


def _check(path: Path, status: os.stat_result, fits: Callable[[int], bool]) -> None:
    if not fits(status.st_mode):
        raise StoreError(f"{path}: this is no {'folder' if fits is stat.S_ISDIR else 'file'}: move it away")
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        raise StoreError(f"{path}: others can write here, or it is not yours: run `chmod go-w`, or name another folder")
