"""Programs must not outlive the process that started them, not even when it is killed.

A small shell in a session of its own reads a pipe whose other end is open in this process alone. It is told of each
program that begins and ends; when the pipe ends, this process is gone, however it went, and the shell ends what still
runs. One shell serves all programs: it begins with the first, waits without cost, and ends with this process. (A
watcher for each program would cost as much as the program's own start.)
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

from duologue.processes import tree
from duologue.processes.tree import Orphan

log = logging.getLogger("duologue.processes")

# The first argument is Python, the second what it runs. Each line replaces what was told of a key, or takes it back.
# The group alone is ended where Python does not work. The inner shell is nobody's child, so nobody has to reap it; its
# input must be named, since a job in the background has none.
SCRIPT = """
exec 3<&0
{
    trap '' HUP INT TERM
    held=
    while read -r key entry; do
        kept=
        for one in $held; do
            case $one in "$key="*) ;; *) kept="$kept $one" ;; esac
        done
        held="$kept${entry:+ $key=$entry}"
    done
    entries=
    for one in $held; do entries="$entries ${one#*=}"; done
    [ -z "$entries" ] || "$1" -I -S "$2" $entries || for one in $entries; do kill -s KILL -- "-${one%%:*}"; done
} <&3 3<&- &
"""


class Keeper:
    """The shell, and what it has been told. Its methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe: int | None = None
        self._held: dict[str, Orphan] = {}

    def hold(self, key: str, orphan: Orphan) -> None:
        """Have a program ended when this process is gone; replaces what was told under the same key."""
        with self._lock:
            self._held[key] = orphan
            self._tell(f"{key} {orphan.entry()}\n")

    def release(self, key: str) -> None:
        """The program has ended. Does nothing when that is known."""
        with self._lock:
            if self._held.pop(key, None):
                self._tell(f"{key}\n")

    def forget(self) -> None:
        """In a fork of this process: leave the pipe to the parent."""
        self._lock = threading.Lock()
        self._held.clear()
        self._close()

    def _tell(self, line: str) -> None:
        if self._pipe is not None:
            try:
                os.write(self._pipe, line.encode())
            except OSError:
                # The shell was ended, or hangs.
                self._close()
            else:
                return
        if self._held:
            self._begin()

    def _begin(self) -> None:
        try:
            self._pipe = _start_shell()
            os.write(self._pipe, "".join(f"{key} {each.entry()}\n" for key, each in self._held.items()).encode())
        except OSError as error:
            log.warning("commands will outlive this process if it is killed: %s", error)

    def _close(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


def _start_shell() -> int:
    """The writing end of a new shell's pipe."""
    read_end, write_end = os.pipe()
    try:
        os.set_blocking(write_end, False)
        subprocess.run(
            ["/bin/sh", "-c", SCRIPT, "duologue-keeper", sys.executable, tree.__file__],
            stdin=read_end,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": os.defpath},
            start_new_session=True,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        os.close(write_end)
        raise OSError(f"/bin/sh could not be started: {error}") from error
    finally:
        os.close(read_end)
    return write_end


#: The one of this process.
KEEPER = Keeper()
if sys.platform != "win32":
    os.register_at_fork(after_in_child=KEEPER.forget)
