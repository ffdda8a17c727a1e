"""The signals that ask this process to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

#: What asks a process to stop, by name, since not every system has each of them.
STOP_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


@contextlib.contextmanager
def stop_signals(first: Callable[[int], None], again: Callable[[int], None]) -> Iterator[None]:
    """Call `first` in the running event loop at the first stop signal, and `again` at each later one.

    `again` is called as a signal handler, between any two steps of the main thread: it can end a process whose event
    loop does nothing any more. That is why these are not the event loop's own signal handlers: those wait for their
    turn in the loop, which never comes as long as signals arrive faster than the loop reads them. Where signals cannot
    be watched, as in another thread than the main one, nothing is called.
    """
    loop = asyncio.get_running_loop()
    told = False

    def arrived(number: int, frame: FrameType | None) -> None:
        nonlocal told
        if told:
            again(number)
        else:
            told = True
            # As if from another thread, which wakes a loop that waits; one that is closed has nothing left to stop.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(first, number)

    before = {}
    for name in STOP_SIGNALS:
        with contextlib.suppress(AttributeError, ValueError):
            number = getattr(signal, name)
            before[number] = signal.signal(number, arrived)
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: it was not set from Python, so it cannot be put back from Python either.
            if handler is not None:
                signal.signal(number, handler)


def ignore_stop_signals() -> None:
    """Let a process that ends because of one end in peace: the next would change its exit status. Call it in the main
    thread."""
    for name in STOP_SIGNALS:
        with contextlib.suppress(AttributeError, ValueError):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
