"""The folder and the file of the database: made for their owner alone, and refused where others could have written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from duologue.coder.store.errors import StoreError

DATABASE = "sessions.db"


def prepare(folder: Path) -> Path:
    """Make what is missing; the path of the database. Raises StoreError; what is there stays as it is then."""
    path = folder / DATABASE
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check(folder, folder.stat(), stat.S_ISDIR)
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _check(path, os.fstat(file), stat.S_ISREG)
            if hasattr(os, "fchmod"):
                os.fchmod(file, 0o600)
        finally:
            os.close(file)
    except OSError as error:
        raise StoreError(f"{error.filename or path}: {error.strerror or error}") from None
    return path


def _check(path: Path, status: os.stat_result, fits: object) -> None:
    assert callable(fits)
    if not fits(status.st_mode):
        raise StoreError(f"{path}: this is no {'folder' if fits is stat.S_ISDIR else 'file'}: move it away")
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        raise StoreError(f"{path}: others can write here, or it is not yours: run `chmod go-w`, or name another folder")
