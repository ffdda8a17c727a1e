"""Ending a process and everything it started, in stages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

log = logging.getLogger("duologue.transports")

#: How often a group is looked at while it is being ended, in seconds.
POLL_SECONDS = 0.02


class Group:
    """The process group led by `pid`, and what descends from it even in a session of its own.

    On Linux descendants are found by their parents; elsewhere the group alone is ended.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        # Looked up while the leader lives: orphans are adopted by another process.
        self._strays = {child for child in descendants(pid) if _group_of(child) != pid}

    async def end(self, exited: asyncio.Future[Any], seconds: float) -> None:
        """Terminate what is left, kill what is left then. Bounded by twice `seconds` and a little."""
        if sys.platform == "win32":
            return
        self._strays |= {child for child in descendants(self._pid) if _group_of(child) != self._pid}
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._gone(exited):
                return
            self._send(number)
            await self._wait_gone(exited, seconds)
        if not self._gone(exited):
            log.warning("some processes of the agent could not be ended: group %d, %s", self._pid, sorted(self._strays))

    def _gone(self, exited: asyncio.Future[Any]) -> bool:
        return exited.done() and not _alive_group(self._pid) and not any(map(_alive, self._strays))

    def _send(self, number: int) -> None:
        _signal(os.killpg, self._pid, number)
        for child in self._strays:
            _signal(os.kill, child, number)

    async def _wait_gone(self, exited: asyncio.Future[Any], seconds: float) -> None:
        # Polled: nothing tells when the last member of a group that is not our child ends.
        for _ in range(int(seconds / POLL_SECONDS)):
            if self._gone(exited):
                return
            await asyncio.sleep(POLL_SECONDS)


def _signal(send: Callable[[int, int], None], pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        send(pid, number)


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def descendants(pid: int) -> set[int]:
    """All processes below `pid`; empty where there is no /proc."""
    parents: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                parents.setdefault(_parent_of(entry), []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _stat(process: Path) -> list[str]:
    # The command's name may hold spaces and brackets: what counts follows the last bracket.
    with contextlib.suppress(OSError):
        return (process / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return []


def _parent_of(process: Path) -> int:
    fields = _stat(process)
    return int(fields[1]) if len(fields) > 1 else -1


def _group_of(pid: int) -> int:
    with contextlib.suppress(OSError):
        return os.getpgid(pid)
    return -1


def _alive(pid: int) -> bool:
    fields = _stat(Path("/proc") / str(pid))
    return bool(fields) and fields[0] != "Z"


def _alive_group(pid: int) -> bool:
    """Whether the group has a member that is not a zombie."""
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    if not Path("/proc/self/stat").exists():
        return True
    members = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return any((fields := _stat(entry)) and fields[0] != "Z" and int(fields[2]) == pid for entry in members)
