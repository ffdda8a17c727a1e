"""How long the start of an agent took: marks on standard error, in milliseconds since the process began."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Literal

from duologue.protocol.v2.table import INITIALIZE, SESSION_UPDATE

UPDATE = b'"method":"%b"' % SESSION_UPDATE.name.encode()


class Profile:
    """Watches the first messages. `trace` is to be given to the connection."""

    def __init__(self) -> None:
        self._began = process_start()
        self._told: set[str] = set()
        self._mark("import")

    def trace(self, direction: Literal["in", "out"], line: bytes) -> None:
        """Note the answers to `initialize` and `session/new`, and the first update after them."""
        if direction == "in":
            return
        if UPDATE in line[:64]:
            self._mark("first update")
        elif b'"protocolVersion"' in line:
            self._mark(INITIALIZE.name)
        elif b'"result":{"sessionId"' in line:
            self._mark("new")

    def _mark(self, name: str) -> None:
        if name in self._told:
            return
        self._told.add(name)
        print(f"duologue: {name} {(time.time() - self._began) * 1000:.0f} ms", file=sys.stderr, flush=True)


def process_start() -> float:
    """When this process began, in seconds since the epoch; now, where the system does not tell."""
    if sys.platform != "linux":
        return time.time()
    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        since_boot = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot)
    except (OSError, ValueError, IndexError):
        return time.time()
