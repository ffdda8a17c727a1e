"""The messages of a connection in a file: one JSON object a line, without secrets, for its owner alone."""

from __future__ import annotations

import errno
import json
import logging
import os
import stat
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from duologue.local.arguments import as_path
from duologue.local.masking import mask, mask_broken

log = logging.getLogger("duologue.peer")

#: Characters of one string that are written.
LOGGED_CHARACTERS = 16 * 1024

#: Bytes that wait for a slow reader of a pipe; what comes when there are more is left out.
PENDING_BYTES = 1024 * 1024


class MessageLog:
    """A `Trace` that appends every message to a file: `connect(command, trace=MessageLog(path))`.

    A line is ``{"time": ..., "direction": "in" or "out", "message": {...}}``, in UTC; what is no JSON stands as a
    string under `text`. Secrets are masked (`duologue.local.masking`) and long strings cut: a line says less than the
    message. The file is made readable by its owner alone first, since messages hold what was said.
    When it cannot be written any more, `failed` is called once (without it the log says so) and the work goes on.
    Nothing waits for the reader of a pipe: a line that finds more than `PENDING_BYTES` before it is left out, and a
    line with ``"lost"`` says later how many were.
    Raises OSError when the file cannot be opened, is a pipe that nobody reads, or belongs to somebody else and is open
    to others.
    """

    def __init__(self, path: Path | str, *, failed: Callable[[OSError], None] | None = None) -> None:
        self.path = as_path(path, "the file of a MessageLog")
        self._failed = failed or self._warn
        self._pending = bytearray()
        self._lost = 0
        self._lock = threading.RLock()
        self._file: int | None = _open_private(self.path)

    def __call__(self, direction: Literal["in", "out"], line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        try:
            self.write(direction=direction, message=json.loads(text))
        except (ValueError, RecursionError):
            self.write(direction=direction, text=mask_broken(text[:LOGGED_CHARACTERS]))

    def write(self, **members: Any) -> None:
        """Append a line with the time and these members. Raises ValueError or RecursionError when they are no JSON."""
        if self._file is None:
            return
        line = _line(**mask(members, LOGGED_CHARACTERS))
        with self._lock:  # log records come from threads as well
            if len(self._pending) > PENDING_BYTES:
                self._flush()
            if len(self._pending) > PENDING_BYTES:
                self._lost += 1
                return
            if self._lost:
                self._pending += _line(lost=self._lost)
                self._lost = 0
            self._pending += line
            self._flush()

    def _flush(self) -> None:
        try:
            # In one piece: several processes may append to one file.
            while self._pending and self._file is not None:
                del self._pending[: os.write(self._file, self._pending)]
        except BlockingIOError:
            return
        except OSError as error:
            self.close()
            self._failed(error)

    def close(self) -> None:
        """Write no more."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _warn(self, error: OSError) -> None:
        log.warning("the log %s is not written any more: %s", self.path, error)


def _line(**members: Any) -> bytes:
    entry = {"time": datetime.now(UTC).isoformat(timespec="microseconds"), **members}
    return json.dumps(entry, allow_nan=False).encode() + b"\n"


def _open_private(path: Path) -> int:
    # Without waiting: a pipe that nobody reads is an error here, and a full one when it is written.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"):
        flags |= getattr(os, name, 0)
    try:
        file = os.open(path, flags, 0o600)
    except OSError as error:
        raise _explained(error, path) from None
    try:
        status = os.fstat(file)
        if hasattr(os, "fchmod") and stat.S_ISREG(status.st_mode) and status.st_mode & 0o077:
            os.fchmod(file, 0o600)
    except BaseException:
        os.close(file)
        raise
    return file


def _explained(error: OSError, path: Path) -> OSError:
    """The error with words that say what to do, where the system's own do not."""
    match error.errno:
        case errno.ENXIO:
            words = "nothing reads this pipe: start its reader first, or name a file"
        case errno.EISDIR:
            words = "this is a folder: name a file in it"
        case errno.ENOENT | errno.ENOTDIR:
            words = f"there is no such folder: {path.parent}"
        case _:
            return error
    return type(error)(error.errno, words, str(path))
