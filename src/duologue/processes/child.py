"""A program in a session of its own: how it starts, is reaped, and ends with all that it has started.

asyncio's own process object waits for every inherited pipe end, so a stray grandchild would decide how long a program
lasts. Here the exit is what a thread reaps.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from signal import Signals
from typing import Self

from duologue.processes.keeper import KEEPER
from duologue.processes.tree import GRACE_SECONDS, MARK, POLL_SECONDS, Orphan, Tree, group_exists

log = logging.getLogger("duologue.processes")


class Child:
    """A started program. It does not outlive this process, and leaves no zombie; who starts one must `end` it.

    `exited` is done, with the return code of `subprocess`, once it has been reaped.
    """

    def __init__(self, popen: subprocess.Popen[bytes], mark: str, grace: float) -> None:
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._popen = popen
        self._mark = mark
        self._grace = grace
        self._tree = Tree(popen.pid, mark)
        threading.Thread(target=self._reap, name=f"reap {popen.pid}", daemon=True).start()

    @classmethod
    def start(
        cls,
        argv: Sequence[str],
        cwd: Path | str | None,
        environment: Mapping[str, str],
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.STDOUT,
        grace: float = GRACE_SECONDS,
        patience: float = 0,
        services: bool = False,
    ) -> Self:
        """Start a program; its streams are as for `subprocess.Popen`.

        `grace` is the seconds between SIGTERM and SIGKILL, `patience` those that it has to end by itself when this
        process is killed. It may have `services`: what is in another group and has lost its parents is then left alone
        by that. Raises OSError or ValueError when it cannot be started.
        """
        mark = secrets.token_hex(8)
        # Before it starts: this process may be killed in between.
        hold(mark, Orphan(None, mark, patience))
        try:
            popen = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**environment, MARK: mark},
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                start_new_session=sys.platform != "win32",
            )
        except BaseException:
            KEEPER.release(mark)
            raise
        hold(mark, Orphan(popen.pid, "" if services else mark, patience))
        return cls(popen, mark, grace)

    def _reap(self) -> None:
        code = self._popen.wait()
        if sys.platform != "win32" and not group_exists(self.pid):
            KEEPER.release(self._mark)
        # The loop may be gone by now; then nobody waits.
        with suppress(RuntimeError):
            self.exited.get_loop().call_soon_threadsafe(self._on_exit, code)

    def _on_exit(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs, and when a signal ended it."""
        code = self._popen.returncode
        return code if code is not None and code >= 0 else None

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended it."""
        code = self._popen.returncode
        return signal_name(-code) if code is not None and code < 0 else None

    def pipe(self, number: int) -> int:
        """Our end of its standard input (0), output (1) or error (2), handed over once: the caller closes it."""
        stream = (self._popen.stdin, self._popen.stdout, self._popen.stderr)[number]
        assert stream is not None
        descriptor = os.dup(stream.fileno())
        stream.close()
        return descriptor

    async def wait(self, seconds: float | None = None) -> None:
        """Wait for its exit, no longer than so many seconds."""
        await asyncio.wait({self.exited}, timeout=seconds)

    def look(self) -> None:
        """Note what has descended from it: once it has exited, what is not in its group cannot be told any more."""
        self._tree.look()

    async def end(self, *, everything: bool = False) -> None:
        """End what still runs of it, in stages: SIGTERM, the grace, SIGKILL. Harmless when all has ended already.

        That is its group, and its descendants in other groups (known on Linux only), with those whose parents have
        ended, which may be services, if `everything` is to go. Bounded by twice the grace; what is left is logged.
        """
        if not self.alive() and not everything:
            KEEPER.release(self._mark)
            return
        try:
            self._send("SIGTERM", everything)
            await self._wait_gone()
        finally:
            # Also reached when this wait is itself cancelled: nothing stays alive for lack of patience.
            self._send("SIGKILL", everything)
            KEEPER.release(self._mark)
        await self._wait_gone()
        if self.alive():
            log.warning("some processes could not be ended: group %d, %s", self.pid, self._tree.strays())

    def alive(self) -> bool:
        """Whether it, a member of its group, or one of its descendants that were seen runs."""
        return not self.exited.done() or (sys.platform != "win32" and self._tree.runs())

    def _send(self, name: str, everything: bool) -> None:
        if sys.platform == "win32":
            self._popen.kill()
            return
        if everything or not self.exited.done():
            self._tree.look(marked=everything)
        # While the leader is not reaped, or a member lives, the group's number cannot belong to others.
        if not self.exited.done() or self._tree.group_runs():
            self._tree.send(Signals[name])
        else:
            self._tree.send_to_strays(Signals[name])

    async def _wait_gone(self) -> None:
        # Polled: nothing tells when the last member of a group that is not our child ends.
        loop = asyncio.get_running_loop()
        end = loop.time() + self._grace
        while self.alive() and loop.time() < end:
            self._meanwhile()
            await asyncio.sleep(POLL_SECONDS)

    def _meanwhile(self) -> None:
        """What is to be done while it is being ended."""


def hold(mark: str, orphan: Orphan) -> None:
    """Have a program ended when this process is gone, where that can be done."""
    if sys.platform != "win32":
        KEEPER.hold(mark, orphan)


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGKILL."""
    with suppress(ValueError):
        return Signals(number).name
    return f"SIG{number}"
