"""A transport to a child process: its pipes, its stderr, its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from duologue.transports.base import Closed, Sink, TransportError
from duologue.transports.pipes import PipeTransport
from duologue.transports.processes import Group, signal_name

#: Bytes of the child's stderr that are kept for error messages.
STDERR_TAIL = 16 * 1024
#: How long to wait for the exit status once the child's stdout has ended, in seconds.
STATUS_SECONDS = 1.0
#: How long stdout may stay silent after the child's exit before it counts as ended: a grandchild may hold it open.
LINGER_SECONDS = 0.5
#: How long a child may take to end by itself after its stdin was closed, and after being told to, in seconds.
GRACE_SECONDS = 2.0

#: Variables a child may see besides what the caller adds. Credentials are not among them.
ALLOWED = frozenset(
    {
        *("HOME", "PATH", "SHELL", "USER", "LOGNAME", "LANG", "LANGUAGE", "TERM", "COLORTERM", "TZ", "TMPDIR", "TMP"),
        *("TEMP", "PWD", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"),
        *("no_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
        *("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
        *("PROGRAMFILES", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "VIRTUAL_ENV", "NVM_DIR"),
    }
)
ALLOWED_PREFIXES = ("LC_", "XDG_")


def inherited_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The part of the environment that a child may see: names in `ALLOWED`, and those with an allowed prefix."""
    source = os.environ if environ is None else environ
    return {name: value for name, value in source.items() if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)}


class SpawnTransport:
    """Starts `command` in a process group of its own and speaks over its stdin and stdout.

    Its stderr is always read; the tail is kept. The end comes in stages: stdin is closed, then the group is told to
    terminate, then it is killed; no process of the group is left, and no zombie.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        grace_seconds: float = GRACE_SECONDS,
        on_stderr: Callable[[bytes], None] | None = None,
    ) -> None:
        if not command:
            raise ValueError("the command is empty")
        self._command = list(command)
        self._cwd = cwd
        self._env = {**inherited_environment(), **(env or {})}
        self._grace = grace_seconds
        self._on_stderr = on_stderr
        self._pipes: PipeTransport | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._exited: asyncio.Future[int] | None = None
        self._tail = bytearray()
        self._stderr_done: asyncio.Future[None] | None = None
        self._stderr: PipeTransport | None = None
        self._last_sign = time.monotonic()
        self._closing: asyncio.Task[None] | None = None
        self._outliving: asyncio.Task[None] | None = None
        self._paused = False
        self._reads = 0

    def __str__(self) -> str:
        return shlex.join(self._command)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def seconds_silent(self) -> float:
        """Seconds since the child last wrote anything, to stdout or stderr."""
        return time.monotonic() - self._last_sign

    def stderr_tail(self) -> str:
        """The last of what the child wrote to stderr."""
        return bytes(self._tail[-STDERR_TAIL:]).decode("utf-8", "replace")

    async def start(self, sink: Sink) -> None:
        # Whole or not at all: a caller that is cancelled midway still has a child that `close` can end.
        beginning = asyncio.get_running_loop().create_task(self._begin(sink), name="duologue-spawn")
        try:
            await asyncio.shield(beginning)
        except asyncio.CancelledError:
            await asyncio.wait({beginning})
            if not beginning.cancelled():
                beginning.exception()  # nobody else will ask for it
            raise

    async def _begin(self, sink: Sink) -> None:
        process = self._spawn()
        self._process = process
        loop = asyncio.get_running_loop()
        self._exited = loop.create_future()
        self._stderr_done = loop.create_future()
        threading.Thread(target=_reap, args=(process, loop, self._exited), name="duologue-reaper", daemon=True).start()
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._stderr = PipeTransport(_own(process.stderr), os.open(os.devnull, os.O_WRONLY))
        await self._stderr.start(_Stderr(self))
        self._pipes = PipeTransport(_own(process.stdout), _own(process.stdin))
        await self._pipes.start(_Watched(self, sink))
        self._outliving = loop.create_task(self._end_with_the_child(), name="duologue-child")

    def _spawn(self) -> subprocess.Popen[bytes]:
        path = shutil.which(self._command[0], path=self._env.get("PATH"))
        if path is None and os.sep not in self._command[0]:
            raise TransportError(f"command not found: {self._command[0]} (command: {self})")
        try:
            return subprocess.Popen(
                [path or self._command[0], *self._command[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._cwd,
                env=self._env,
                bufsize=0,
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            raise TransportError(f"cannot start {self}: {error.strerror or error}") from error

    def write(self, data: bytes | bytearray) -> None:
        if self._pipes is not None:
            self._pipes.write(data)

    def buffered(self) -> int:
        return self._pipes.buffered() if self._pipes is not None else 0

    def pause_reading(self) -> None:
        self._paused = True
        if self._pipes is not None:
            self._pipes.pause_reading()

    def resume_reading(self) -> None:
        self._paused = False
        if self._pipes is not None:
            self._pipes.resume_reading()

    async def close(self) -> None:
        """End the child in stages and reap it; a second call waits for the first."""
        if self._process is None:
            return
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._end())
        await asyncio.shield(self._closing)

    async def _end(self) -> None:
        assert self._process is not None and self._exited is not None and self._pipes is not None
        group = Group(self._process.pid)
        self._pipes.end_writing()
        await _wait(self._exited, self._grace)
        await group.end(self._exited, self._grace)
        await self._pipes.close()
        if self._stderr is not None:
            await self._stderr.close()
        if self._outliving is not None:
            self._outliving.cancel()

    async def _end_with_the_child(self) -> None:
        """End the stream once the child has exited and what it wrote was read, whoever else holds its stdout."""
        assert self._exited is not None and self._pipes is not None
        await asyncio.wait({self._exited})
        last = -1
        while self._paused or last != self._reads:
            last = self._reads
            await asyncio.sleep(LINGER_SECONDS)
        self._pipes.lost("the agent ended")

    # --- what the child tells ---------------------------------------------------------------------------------------

    def stdout_received(self) -> None:
        self._last_sign = time.monotonic()
        self._reads += 1

    def stderr_received(self, data: bytes) -> None:
        self._last_sign = time.monotonic()
        self._tail += data
        if len(self._tail) > 2 * STDERR_TAIL:
            del self._tail[:-STDERR_TAIL]
        if self._on_stderr is not None:
            self._on_stderr(data)

    def stderr_ended(self) -> None:
        if self._stderr_done is not None and not self._stderr_done.done():
            self._stderr_done.set_result(None)

    async def why_closed(self, reason: Closed) -> Closed:
        """The reason, with exit status and stderr when they are known in time."""
        assert self._exited is not None and self._stderr_done is not None
        await _wait(self._exited, STATUS_SECONDS)
        if self._exited.done():
            await _wait(self._stderr_done, STATUS_SECONDS / 4)
        code = self._exited.result() if self._exited.done() else None
        return Closed(
            detail="the agent ended" if code is not None else reason.detail,
            exit_code=code if code is not None and code >= 0 else None,
            signal=signal_name(-code) if code is not None and code < 0 else None,
            stderr_tail=self.stderr_tail(),
            command=str(self),
        )


class _Watched:
    """Passes on what the child's stdout says, and holds back its end until the exit status is known."""

    def __init__(self, owner: SpawnTransport, sink: Sink) -> None:
        self._owner = owner
        self._sink = sink
        self.pause_writing = sink.pause_writing
        self.resume_writing = sink.resume_writing
        self._tasks: set[asyncio.Task[None]] = set()

    def data_received(self, data: bytes) -> None:
        self._owner.stdout_received()
        self._sink.data_received(data)

    def connection_lost(self, reason: Closed) -> None:
        task = asyncio.get_running_loop().create_task(self._lost(reason))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _lost(self, reason: Closed) -> None:
        self._sink.connection_lost(await self._owner.why_closed(reason))


class _Stderr:
    """Reads the child's stderr for as long as it is open."""

    def __init__(self, owner: SpawnTransport) -> None:
        self._owner = owner

    def data_received(self, data: bytes) -> None:
        self._owner.stderr_received(data)

    def connection_lost(self, reason: Closed) -> None:
        self._owner.stderr_ended()

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


def _own(stream: IO[bytes] | None) -> int:
    """The descriptor of a pipe of `Popen`, taken from it: the transport closes it."""
    assert stream is not None
    descriptor = os.dup(stream.fileno())
    stream.close()
    return descriptor


def _reap(process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop, exited: asyncio.Future[int]) -> None:
    code = process.wait()
    with contextlib.suppress(RuntimeError):  # the loop is closed already
        loop.call_soon_threadsafe(_settle, exited, code)


async def _wait(future: asyncio.Future[object] | asyncio.Future[int] | asyncio.Future[None], seconds: float) -> None:
    await asyncio.wait({future}, timeout=seconds)


def _settle(future: asyncio.Future[int], value: int) -> None:
    if not future.done():
        future.set_result(value)
