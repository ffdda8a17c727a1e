"""A log file of an agent: what it logs, and every message in and out."""

from __future__ import annotations

import logging
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

if TYPE_CHECKING:
    from duologue.peer.link import Trace

#: Bytes of one message that are logged.
LOGGED_BYTES = 64 * 1024

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class LogFile(logging.StreamHandler[TextIO]):
    """Writes to a file until that fails, which is said once; the work goes on."""

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        logging.getLogger("duologue").removeHandler(self)
        print(f"duologue agent: the log is not written any more: {error}", file=sys.stderr, flush=True)


def _open_private(path: Path) -> TextIO:
    """The file, to append to. One that others could read is closed to them first: messages hold what was said."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        status = os.fstat(file)
        if stat.S_ISREG(status.st_mode) and status.st_mode & 0o077:
            os.fchmod(file, 0o600)
        return os.fdopen(file, "a", buffering=1, encoding="utf-8", errors="backslashreplace")
    except BaseException:
        os.close(file)
        raise


def log_to(path: Path, further: Trace | None = None) -> Trace:
    """Log to a file that only its owner can read; the result is a trace for the connection, which `further` sees too.

    Raises OSError, also for a file of somebody else.
    """
    handler = LogFile(_open_private(path))
    handler.setFormatter(logging.Formatter(FORMAT))
    logging.getLogger("duologue").addHandler(handler)
    logging.getLogger("duologue").setLevel(logging.DEBUG)
    wire = logging.getLogger("duologue.wire")

    def trace(direction: Literal["in", "out"], line: bytes) -> None:
        cut = "" if len(line) <= LOGGED_BYTES else f" [{len(line) - LOGGED_BYTES} more bytes]"
        wire.debug("%s %s%s", direction, line[:LOGGED_BYTES].decode("utf-8", "replace"), cut)
        if further is not None:
            further(direction, line)

    return trace
