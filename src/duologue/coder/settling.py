"""Work that must come to its end even when the turn is cancelled meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work in a thread. A cancelled caller goes on at once; the thread ends by itself."""
    return await asyncio.to_thread(work, *args, **kwargs)


async def in_daemon(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like `in_thread`, for work without an effect, such as an import: the process may end in the midst of it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(finish: Callable[[Any], None], value: Any) -> None:
        # The loop may be gone, or nobody wait any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if done.done() else finish(value))

    def run() -> None:
        try:
            result = work(*args, **kwargs)
        except BaseException as error:
            # What would end the thread or a coroutine, such as SystemExit, is told like anything else.
            usual = isinstance(error, Exception) and not isinstance(error, StopIteration)
            tell(done.set_exception, error if usual else RuntimeError(f"{type(error).__name__}: {error}"))
        else:
            tell(done.set_result, result)

    threading.Thread(target=run, name="duologue-loading", daemon=True).start()
    return await done


async def settled(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Await work that has an effect, so that its outcome is known.

    A cancellation meanwhile is held back until the work has ended (at most `seconds`), and strikes at the caller's next
    wait: the call is reported as it really ended, and then the turn stops.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task], timeout=seconds)
        if not task.done():
            task.cancel()
            raise
        if caller := asyncio.current_task():
            caller.cancel()
        return task.result()
