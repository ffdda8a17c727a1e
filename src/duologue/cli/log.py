"""The file of `--log`: every message in and out, and what is logged."""

from __future__ import annotations

import contextlib
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from duologue.peer.message_log import MessageLog

if TYPE_CHECKING:
    from duologue.peer.link import Trace


class LogFile(logging.Handler):
    """Log records as lines among the messages."""

    def __init__(self, file: MessageLog) -> None:
        super().__init__()
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        self._file.write(level=record.levelname, logger=record.name, text=self.format(record))


def log_to(path: Path, command: str, further: Trace | None = None) -> Trace:
    """Log to a file that only its owner can read; the result is a trace for the connection, which `further` sees too.

    `command` is who says so, once, when the file cannot be written any more. Raises ValueError with the reason when it
    cannot be opened.
    """

    def failed(error: OSError) -> None:
        logging.getLogger("duologue").removeHandler(handler)
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):  # it may have gone away as well
                reason = error.strerror or error
                print(f"{command}: the log is not written any more: {path}: {reason}", file=sys.stderr, flush=True)

    try:
        file = MessageLog(path, failed=failed)
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise ValueError(f"--log {path}: {reason}") from None
    handler = LogFile(file)
    logging.getLogger("duologue").addHandler(handler)
    logging.getLogger("duologue").setLevel(logging.DEBUG)
    if further is None:
        return file

    def both(direction: Literal["in", "out"], line: bytes) -> None:
        file(direction, line)
        further(direction, line)

    return both
