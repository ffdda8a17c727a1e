"""What the tests see of the processes of this machine."""

from __future__ import annotations

import sys

import psutil
import pytest

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="who is outside of the group is known on Linux only")

_OVER = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return psutil.Process(pid).status() not in _OVER
    except psutil.NoSuchProcess:
        return False


def children() -> set[int]:
    """The live child processes of this one."""
    return {child.pid for child in psutil.Process().children() if alive(child.pid)}


def zombies() -> list[int]:
    """Children of this process that have ended and are not reaped."""
    return [child.pid for child in psutil.Process().children() if child.is_running() and not alive(child.pid)]


def descendants(pid: int) -> list[int]:
    """All processes that have come from one, in whatever session."""
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


def open_descriptors() -> int:
    """How many descriptors this process has open."""
    return psutil.Process().num_fds()
