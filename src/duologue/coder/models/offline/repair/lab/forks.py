"""Run a function in a fork of this process, with a limit of time, and get its answer back."""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

# Address space of a fork, in bytes: an edit can ask for a list of any length.
MOST_MEMORY = 8 << 30


class NoAnswer(Exception):
    """The fork was too slow, or died, or failed; the text says which."""


def quiet() -> None:
    """Send what the code under test prints to nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def in_fork(work: Callable[[], Any], seconds: float, cpu_seconds: float | None = None) -> Any:
    """The value of `work()`; raises `NoAnswer`. The fork and all it started end with it."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _child(work, writer, cpu_seconds)
    os.close(writer)
    try:
        return _received(reader, time.monotonic() + seconds)
    finally:
        os.close(reader)
        _end(child)


def _child(work: Callable[[], Any], writer: int, cpu_seconds: float | None) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        if cpu_seconds is not None:
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_VIRTUAL, cpu_seconds)
        value = pickle.dumps(_tried(work))
        while value:
            value = value[os.write(writer, value) :]
        code = 0
    finally:
        os._exit(code)


def _tried(work: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return True, work()
    except Exception:
        return False, traceback.format_exc(limit=-4)


def _received(reader: int, deadline: float) -> Any:
    pieces = []
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise NoAnswer("it did not end in time")
        piece = os.read(reader, 1 << 20)
        if not piece:
            break
        pieces.append(piece)
    try:
        good, value = pickle.loads(b"".join(pieces))
    except (EOFError, pickle.UnpicklingError):
        raise NoAnswer("its process was ended from inside") from None
    if not good:
        raise NoAnswer(value)
    return value


def _end(child: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
