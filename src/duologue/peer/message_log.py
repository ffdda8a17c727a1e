"""The messages of a connection in a file: one JSON object a line, without secrets, for its owner alone."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from duologue.local.masking import mask, mask_broken

log = logging.getLogger("duologue.peer")

#: Characters of one string that are written.
LOGGED_CHARACTERS = 16 * 1024


class MessageLog:
    """A `Trace` that appends every message to a file: `connect(command, trace=MessageLog(path))`.

    A line is ``{"time": ..., "direction": "in" or "out", "message": {...}}``, in UTC; what is no JSON stands as a
    string under `text`. Secrets are masked (`duologue.local.masking`) and long strings cut: a line says less than the
    message. The file is made readable by its owner alone first, since messages hold what was said.
    When it cannot be written any more, `failed` is called once (without it the log says so) and the work goes on.
    Raises OSError when the file cannot be opened, or belongs to somebody else and is open to others.
    """

    def __init__(self, path: Path, *, failed: Callable[[OSError], None] | None = None) -> None:
        self.path = path
        self._failed = failed or self._warn
        self._file: int | None = _open_private(path)

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
        entry = {"time": datetime.now(UTC).isoformat(timespec="microseconds"), **mask(members, LOGGED_CHARACTERS)}
        data = json.dumps(entry, allow_nan=False).encode() + b"\n"
        try:
            # In one piece: several processes may append to one file.
            while data:
                data = data[os.write(self._file, data) :]
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


def _open_private(path: Path) -> int:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        status = os.fstat(file)
        if hasattr(os, "fchmod") and stat.S_ISREG(status.st_mode) and status.st_mode & 0o077:
            os.fchmod(file, 0o600)
    except BaseException:
        os.close(file)
        raise
    return file
