"""Who belongs to a started program: its process group, what descends from it, and what carries its mark.

Needs the standard library alone: what ends the programs of a dead process runs this file as a script (see `keeper`).
On Linux members outside of the group are found in /proc; elsewhere the group is all.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

#: Set in the environment of a program, so that descendants are known that have left it.
MARK = "DUOLOGUE_PROCESS"
#: How long each stage of an end may take before the next one, in seconds.
GRACE_SECONDS = 2.0
#: How often a tree is looked at while it is being ended, in seconds.
POLL_SECONDS = 0.02


class Running(NamedTuple):
    """A process that is more than a zombie."""

    pid: int
    parent: int
    group: int
    started: bytes


class Tree:
    """The group that `leader` leads and, on Linux, its descendants in other groups.

    A descendant is known by its living parents and, once they are gone, by its mark.
    """

    def __init__(self, leader: int, mark: str = "") -> None:
        self.leader = leader
        self._mark = mark
        # By number and start: a number alone may come to belong to another process.
        self._strays: set[tuple[int, bytes]] = set()

    def look(self, *, marked: bool = False) -> None:
        """Note who lives outside of the group: a leader that ends leaves its descendants without a parent to know
        them by. Those that carry the mark though they have no parent left are noted if `marked`."""
        everyone = list(everyone_running())
        found = _below(self.leader, everyone)
        if marked and self._mark:
            found |= {each for each in everyone if _carries(each.pid, self._mark)}
        self._strays |= {(each.pid, each.started) for each in found if each.group != self.leader}

    def send(self, number: int) -> None:
        """Send a signal to all members. The leader must not be reaped yet, or a member of its group be alive."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, number)
        self.send_to_strays(number)

    def send_to_strays(self, number: int) -> None:
        """Send a signal to those outside of the group."""
        for pid in self.strays():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def runs(self) -> bool:
        """Whether the group has a member that is more than a zombie, or one of those that were noted lives."""
        return self.group_runs() or bool(self.strays())

    def group_runs(self) -> bool:
        """Whether the group has a member that is more than a zombie."""
        # Where nobody reaps orphans, a group of zombies lasts for ever.
        return group_exists(self.leader) and (
            not _has_proc() or any(each.group == self.leader for each in everyone_running())
        )

    def strays(self) -> list[int]:
        """Those outside of the group that were noted and live."""
        return sorted(pid for pid, started in self._strays if (now := _running(str(pid))) and now.started == started)


def group_exists(group: int) -> bool:
    """Whether there is a process group with a member that we may signal; a zombie may be one."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        # macOS answers "not permitted" for a group of zombies.
        return False
    return True


def everyone_running() -> Iterator[Running]:
    """All processes that are more than zombies; none where there is no /proc."""
    with contextlib.suppress(OSError), os.scandir("/proc") as entries:
        yield from (found for entry in entries if entry.name.isdigit() and (found := _running(entry.name)))


def _running(pid: str) -> Running | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - a third of the cost of a Path
            # The program's name may hold spaces and brackets: what counts follows the last bracket.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if not fields or fields[0] in (b"Z", b"X"):
        return None
    return Running(int(pid), int(fields[1]), int(fields[2]), fields[19])


def _has_proc() -> bool:
    return os.path.exists("/proc/self/stat")  # noqa: PTH110 - likewise


def _below(pid: int, everyone: list[Running]) -> set[Running]:
    """The descendants of a process."""
    found: set[Running] = set()
    waiting = {pid}
    while waiting:
        children = {each for each in everyone if each.parent in waiting} - found
        found |= children
        waiting = {each.pid for each in children}
    return found


def _carries(pid: int, mark: str) -> bool:
    """Whether a process has the mark in its environment."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - likewise
            return f"{MARK}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def _leader_with(mark: str) -> int | None:
    """The marked process that leads a group."""
    leaders = (each.pid for each in everyone_running() if each.group == each.pid and _carries(each.pid, mark))
    return next(leaders, None)


# --- run as a script --------------------------------------------------------------------------------------------------


class Orphan(NamedTuple):
    """A program whose starter is gone, and the seconds it has to end by itself.

    Without a leader it was just being started: then its mark tells who it is.
    """

    leader: int | None
    mark: str
    patience: float

    def entry(self) -> str:
        """As a word that `orphan` reads."""
        return f"{self.leader or ''}:{self.mark}:{self.patience:g}"

    def tree(self) -> Tree | None:
        leader = self.leader or _leader_with(self.mark)
        return Tree(leader, self.mark) if leader else None


def orphan(entry: str) -> Orphan:
    """Read what `Orphan.entry` has written."""
    leader, mark, patience = entry.split(":")
    return Orphan(int(leader) if leader else None, mark, float(patience))


def end_orphans(orphans: list[Orphan]) -> None:
    """End them in stages: each gets SIGTERM when its patience is over, and SIGKILL after the grace."""
    begun = time.monotonic()
    in_order = sorted(orphans, key=lambda each: each.patience)
    trees = [(tree, each.patience) for each in in_order if (tree := each.tree())]
    for tree, _ in trees:
        tree.look(marked=True)
    for number, grace in ((signal.SIGTERM, 0.0), (signal.SIGKILL, GRACE_SECONDS)):
        for tree, patience in trees:
            while tree.runs() and time.monotonic() < begun + patience + grace:
                time.sleep(POLL_SECONDS)
            if tree.runs():
                tree.look(marked=True)
                tree.send(number)


if __name__ == "__main__":
    end_orphans([orphan(entry) for entry in sys.argv[1:]])
