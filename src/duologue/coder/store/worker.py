"""The thread that has the database to itself. What is to be written is handed over without waiting."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from duologue.coder.store.errors import StoreError

if TYPE_CHECKING:
    from duologue.coder.store.desk import Desk
    from duologue.coder.store.settings import StoreSettings

log = logging.getLogger("duologue.coder.store")

T = TypeVar("T")

Settings = Callable[[], "StoreSettings | None"]


TURNED_OFF = StoreError("that is turned off, or there is no home folder")


class Job(NamedTuple):
    """Something to be done with the store, and who waits for it."""

    work: Callable[[Desk], Any]
    answer: concurrent.futures.Future[Any] | None = None


class Worker:
    """Opens the store when something is to be done, and closes it when no session is open any more.

    `settings` is asked in the thread; it gives None when nothing is to be kept. When the store cannot be opened, or
    fails later, that is said once in the log and in `failed`, and nothing is kept from then on.
    """

    def __init__(self, settings: Settings | None) -> None:
        self._settings = settings
        self._changed = threading.Condition()
        self._jobs: list[Job] = []
        self._hurry = False
        self._running = False
        self.failed: StoreError | None = None if settings else TURNED_OFF

    def put(self, work: Callable[[Desk], Any]) -> None:
        """Do this within `StoreLimits.flush_seconds`, in the order of the calls, once the worker has been started."""
        if self.failed is None:
            self._add(Job(work))

    async def ask(self, work: Callable[[Desk], T]) -> T:
        """Do this at once, after what was put before, and give what it gives.

        Raises StoreError, also when the store has failed. A caller that is cancelled goes on; the work is done.
        """
        if self.failed is not None:
            raise self.failed
        answer: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._add(Job(work, answer))
        self.start()
        return await asyncio.shield(asyncio.wrap_future(answer))

    def start(self, *, hurry: bool = True) -> None:
        """Begin to write, or write what waits at once."""
        with self._changed:
            self._hurry = self._hurry or hurry
            if not self._running and self._jobs:
                self._running = True
                threading.Thread(target=self._run, name="duologue-store", daemon=True).start()
            self._changed.notify()

    def _add(self, job: Job) -> None:
        with self._changed:
            self._jobs.append(job)
            if len(self._jobs) == 1:
                self._changed.notify()

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._serve()
        except Exception as error:
            self._fail(error if isinstance(error, StoreError) else StoreError(f"{type(error).__name__}: {error}"))

    def _serve(self) -> None:
        desk = self._open()
        if desk is None:
            self._refuse()
            return
        try:
            while jobs := self._next(desk):
                desk.do(jobs)
        finally:
            desk.close()

    def _open(self) -> Desk | None:
        settings = self._settings() if self._settings else None
        if settings is None:
            self.failed = TURNED_OFF
            return None
        # Late: sqlite3 is loaded here, and nothing of it is needed before.
        from duologue.coder.store.desk import Desk

        return Desk(settings)

    def _next(self, desk: Desk) -> list[Job]:
        """What waits, after a moment in which more of it may come; nothing when no session is open any more."""
        with self._changed:
            while not self._jobs:
                if not desk.holds_any():
                    self._running = False
                    return []
                self._changed.wait()
            self._changed.wait_for(lambda: self._hurry, desk.limits.flush_seconds)
            self._hurry = False
            jobs, self._jobs = self._jobs, []
            return jobs

    def _fail(self, error: StoreError) -> None:
        self.failed = error
        log.warning("sessions are not kept: %s", error)
        self._refuse()

    def _refuse(self) -> None:
        """Let nobody wait for a store that is not there."""
        with self._changed:
            self._running = False
            jobs, self._jobs = self._jobs, []
        for job in jobs:
            if job.answer is not None and not job.answer.done():
                assert self.failed is not None
                job.answer.set_exception(self.failed)
