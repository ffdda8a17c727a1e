"""A log file of an agent: what it logs, and every message in and out."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from duologue.peer.link import Trace

#: Bytes of one message that are logged.
LOGGED_BYTES = 64 * 1024

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def log_to(path: Path, further: Trace | None = None) -> Trace:
    """Log to a file that only its owner can read; the result is a trace for the connection, which `further` sees too.

    Raises OSError.
    """
    stream = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "a", buffering=1)
    handler = logging.StreamHandler(stream)
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
