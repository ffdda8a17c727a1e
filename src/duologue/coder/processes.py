"""Child processes whose life is bounded: an own session, output as it comes, and an end that nothing can put off.

asyncio's own process object waits for every inherited pipe end, so a stray grandchild would decide how long a command
lasts. Here the exit is what a thread reaps, and the pipe is read beside it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals

CHUNK = 32 * 1024

# Time for what a finished command left in the background to write a last line and close the pipe.
QUIET = 0.3

# How often a group is asked whether it has gone.
TICK = 0.02

# More than any pipe holds: what a finished program wrote is read whole, what others go on writing is not.
PIPE_MOST = 1024 * 1024

# Bytes kept of what is still written while a process is being stopped.
LATE = 64 * 1024

# Set in the environment of each process, to find descendants that have left its session.
MARK = "DUOLOGUE_PROCESS"


class Process:
    """A running program; standard output and error come as one stream, standard input is empty."""

    def __init__(self, popen: subprocess.Popen[bytes], mark: str, grace: float) -> None:
        assert popen.stdout is not None
        self._popen = popen
        self._mark = mark
        self._grace = grace
        self._loop = asyncio.get_running_loop()
        self._pipe = popen.stdout
        self._fd = popen.stdout.fileno()
        os.set_blocking(self._fd, False)
        self._exited = asyncio.Event()
        self._exited_at: float | None = None
        self._wake = asyncio.Event()
        threading.Thread(target=self._reap, name=f"reap {popen.pid}", daemon=True).start()

    @classmethod
    def start(cls, argv: Sequence[str], cwd: Path, environment: Mapping[str, str], *, grace: float = 2) -> Process:
        """Raises OSError or ValueError when the program cannot be started. The caller must `stop` it in the end."""
        mark = secrets.token_hex(8)
        popen = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**environment, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        return cls(popen, mark, grace)

    def _reap(self) -> None:
        self._popen.wait()
        # The loop may be gone by now; then nobody waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._on_exit)

    def _on_exit(self) -> None:
        self._exited_at = self._loop.time()
        self._exited.set()
        self._wake.set()

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
        if code is None or code >= 0:
            return None
        with suppress(ValueError):
            return Signals(-code).name
        return f"SIG{-code}"

    async def output(self) -> AsyncIterator[bytes]:
        """Output as it is written, until the pipe closes or the program has ended; then waits for the end.

        What the program wrote itself always comes; what it left in the background has a moment to say more.
        """
        left = PIPE_MOST
        while (data := self._read()) != b"":
            if data is None:
                if not await self._readable():
                    break
                continue
            yield data
            left -= len(data) if self._exited.is_set() else 0
            if left < 0:
                break
            # A program that writes without end must not keep others from running.
            await asyncio.sleep(0)
        await self._exited.wait()

    def _read(self) -> bytes | None:
        """What is in the pipe: None when there is nothing now, empty at the end."""
        if self._pipe.closed:
            return b""
        with suppress(BlockingIOError):
            return os.read(self._fd, CHUNK)
        return None

    async def _readable(self) -> bool:
        """Wait until reading may give something, or the program ends; false when both are behind us."""
        left = None if self._exited_at is None else self._exited_at + QUIET - self._loop.time()
        if left is not None and left <= 0:
            return False
        self._wake.clear()
        self._loop.add_reader(self._fd, self._wake.set)
        try:
            async with asyncio.timeout(left):
                await self._wake.wait()
        except TimeoutError:
            return False
        finally:
            self._loop.remove_reader(self._fd)
        return True

    async def stop(self, *, everything: bool = False) -> bytes:
        """End what still runs of the group: TERM, a grace, KILL. Bounded, and harmless when all has ended already.

        Descendants in sessions of their own are left alone, unless `everything` is to go (known on Linux only).
        Returns what was written meanwhile (its end).
        """
        late = bytearray()
        try:
            self._send(SIGTERM, everything)
            await self._wait_gone(late, everything)
        finally:
            # Also reached when this wait is itself cancelled: nothing stays alive for lack of patience.
            self._send(SIGKILL, everything)
        await self._wait_gone(late, everything)
        self._drain(late)
        self._pipe.close()
        return bytes(late)

    async def _wait_gone(self, late: bytearray, everything: bool) -> None:
        end = self._loop.time() + self._grace
        while self.alive(everything) and self._loop.time() < end:
            self._drain(late)
            await asyncio.sleep(TICK)

    def _drain(self, late: bytearray) -> None:
        """Read what is there, so that a process that says goodbye does not block on a full pipe."""
        for _ in range(PIPE_MOST // CHUNK):
            data = self._read()
            if not data:
                return
            late += data
            del late[:-LATE]

    def alive(self, everything: bool = False) -> bool:
        """Whether the program or a member of its group runs; with `everything`, whether any descendant does."""
        if not self._exited.is_set():
            return True
        return group_runs(self.pid) or (everything and bool(marked(self._mark)))

    def _send(self, number: Signals, everything: bool) -> None:
        # While the leader is not reaped, or a member lives, the group's number cannot belong to others.
        if not self._exited.is_set() or group_runs(self.pid):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)
        for pid in marked(self._mark) if everything else ():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def group_runs(group: int) -> bool:
    """Whether a process group has a member that is more than a zombie."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        # macOS answers "not permitted" for a group of zombies.
        return False
    # Where nobody reaps orphans, a group of zombies lasts for ever.
    return sys.platform != "linux" or any(_member(entry, group) for entry in _processes())


def _processes() -> list[Path]:
    return [Path(entry.path) for entry in os.scandir("/proc") if entry.name.isdigit()]


def _member(process: Path, group: int) -> bool:
    """Whether a process of /proc is in the group and not a zombie."""
    try:
        state, _, its_group = (process / "stat").read_bytes().rpartition(b")")[2].split()[:3]
    except (OSError, ValueError):
        return False
    return int(its_group) == group and state not in (b"Z", b"X")


def marked(mark: str) -> list[int]:
    """Processes that carry the mark in their environment, wherever they have moved to. Empty where /proc is missing."""
    if sys.platform != "linux":
        return []
    wanted = f"{MARK}={mark}".encode()
    return [int(process.name) for process in _processes() if wanted in _environment(process)]


def _environment(process: Path) -> list[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
