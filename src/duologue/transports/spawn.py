"""A transport to a child process: its pipes, its stderr, its end."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from duologue.local.arguments import as_path, several, variables
from duologue.processes.child import Child
from duologue.processes.environment import child_environment
from duologue.processes.tail import Tail
from duologue.processes.tree import GRACE_SECONDS
from duologue.transports.base import Closed, Sink, TransportError
from duologue.transports.pipes import PipeTransport

#: Bytes of the child's stderr that are kept for error messages.
STDERR_TAIL = 16 * 1024
#: Characters of one word of the command that error messages show.
SHOWN_CHARACTERS = 400
#: How long to wait for the exit status once the child's stdout has ended, in seconds.
STATUS_SECONDS = 1.0
#: How long stdout may stay silent after the child's exit before it counts as ended: a grandchild may hold it open.
LINGER_SECONDS = 0.5


class SpawnTransport:
    """Starts `command` in a process group of its own and speaks over its stdin and stdout.

    `env` is added to `processes.environment.child_environment`. Its stderr is always read; the tail is kept. The end
    comes in stages: stdin is closed, then the group is told to terminate, then it is killed; no process of the group is
    left, and no zombie. When this process is killed, the group is ended likewise.
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
        self._command = [os.fspath(word) for word in several(command, "the command of a process")]
        if not self._command:
            raise ValueError("the command is empty")
        self._cwd = None if cwd is None else as_path(cwd, "cwd")
        self._env = child_environment(values=variables(env, "env"))
        self._grace = grace_seconds
        self._on_stderr = on_stderr
        self._pipes: PipeTransport | None = None
        self._child: Child | None = None
        self._tail = Tail(STDERR_TAIL)
        self._stderr_done: asyncio.Future[None] | None = None
        self._stderr: PipeTransport | None = None
        self._last_sign = time.monotonic()
        self._closing: asyncio.Task[None] | None = None
        self._outliving: asyncio.Task[None] | None = None
        self._paused = False
        self._reads = 0

    def __str__(self) -> str:
        """The command line without secrets, for texts of errors."""
        from duologue.local.masking import mask

        return shlex.join(mask(list(self._command), SHOWN_CHARACTERS))

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None else None

    def seconds_silent(self) -> float:
        """Seconds since the child last wrote anything, to stdout or stderr."""
        return time.monotonic() - self._last_sign

    def stderr_tail(self) -> str:
        """The last of what the child wrote to stderr."""
        return self._tail.text()

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
        self._child = child = self._start_child()
        loop = asyncio.get_running_loop()
        self._stderr_done = loop.create_future()
        self._stderr = PipeTransport(child.pipe(2), os.open(os.devnull, os.O_WRONLY))
        await self._stderr.start(_Stderr(self))
        self._pipes = PipeTransport(child.pipe(1), child.pipe(0))
        await self._pipes.start(_Watched(self, sink))
        self._outliving = loop.create_task(self._end_with_the_child(child), name="duologue-child")

    def _start_child(self) -> Child:
        if self._cwd is not None and not self._cwd.is_dir():
            raise TransportError(f"there is no folder {self._cwd} to start it in (command: {self})")
        path = shutil.which(self._command[0], path=self._env.get("PATH"))
        if path is None and os.sep not in self._command[0]:
            whole = f" (command: {self})" if len(self._command) > 1 else ""
            raise TransportError(f"command not found: {self._command[0]}{whole}")
        try:
            return Child.start(
                [path or self._command[0], *self._command[1:]],
                self._cwd,
                self._env,
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                grace=self._grace,
                patience=self._grace,
                services=True,
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
        if self._child is None:
            return
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._end(self._child))
        await asyncio.shield(self._closing)

    async def _end(self, child: Child) -> None:
        assert self._pipes is not None
        child.look()
        self._pipes.end_writing()
        await child.wait(self._grace)
        await child.end()
        await self._pipes.close()
        if self._stderr is not None:
            await self._stderr.close()
        if self._outliving is not None:
            self._outliving.cancel()

    async def _end_with_the_child(self, child: Child) -> None:
        """End the stream once the child has exited and what it wrote was read, whoever else holds its stdout."""
        assert self._pipes is not None
        await child.wait()
        last = -1
        while self._paused or last != self._reads:
            last = self._reads
            await asyncio.sleep(LINGER_SECONDS)
        self._pipes.lost("the program ended")

    # --- what the child tells ---------------------------------------------------------------------------------------

    def stdout_received(self) -> None:
        self._last_sign = time.monotonic()
        self._reads += 1

    def stderr_received(self, data: bytes) -> None:
        self._last_sign = time.monotonic()
        self._tail.add(data)
        if self._on_stderr is not None:
            self._on_stderr(data)

    def stderr_ended(self) -> None:
        if self._stderr_done is not None and not self._stderr_done.done():
            self._stderr_done.set_result(None)

    async def why_closed(self, reason: Closed) -> Closed:
        """The reason, with exit status and stderr when they are known in time."""
        assert self._child is not None and self._stderr_done is not None
        await self._child.wait(STATUS_SECONDS)
        if self._child.exited.done():
            await asyncio.wait({self._stderr_done}, timeout=STATUS_SECONDS / 4)
        return Closed(
            detail="the program ended" if self._child.exited.done() else reason.detail,
            exit_code=self._child.exit_code,
            signal=self._child.signal,
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
