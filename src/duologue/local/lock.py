"""A lock that one process holds, such as the one that has a session open. It ends with the process, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path


class Lock:
    """A lock that is held."""

    def __init__(self, path: Path, file: int) -> None:
        self._path = path
        self._file = file

    @classmethod
    def take(cls, path: Path) -> Lock | None:
        """The lock of that name; None while another process (or another store of this one) holds it."""
        path.parent.mkdir(exist_ok=True, mode=0o700)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        file = os.open(path, flags, 0o600)
        if _locked(file):
            return cls(path, file)
        os.close(file)
        return None

    def release(self) -> None:
        os.close(self._file)

    def remove(self) -> None:
        """Release it for good: what it stood for is gone."""
        if sys.platform != "win32":
            self._path.unlink(missing_ok=True)
        self.release()


def _locked(file: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
