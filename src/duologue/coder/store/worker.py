"""The thread that has the database to itself. What is to be written is handed over without waiting."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from duologue.coder.store.errors import StoreError, Unavailable

if TYPE_CHECKING:
    from duologue.coder.store.desk import Desk
    from duologue.coder.store.records import Record
    from duologue.coder.store.settings import StoreLimits, StoreSettings

log = logging.getLogger("duologue.coder.store")

T = TypeVar("T")

Settings = Callable[[], "StoreSettings | None"]

TURNED_OFF = StoreError("that is turned off, or there is no home folder")

#: Bytes of a job beside its record.
JOB_BYTES = 256


class Job(msgspec.Struct, eq=False):
    """Something to be done with the store, and who waits for it. `record` is what it writes, `size` the bytes of it in
    memory, counted only where it has to wait."""

    work: Callable[[Desk], Any]
    answer: concurrent.futures.Future[Any] | None = None
    record: Record | None = None
    size: int = 0

    def give(self, result: Any) -> None:
        """Answer whoever waits for it."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(result)

    def refuse(self, problem: StoreError) -> None:
        """Raise in whoever waits for it."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(problem)


class Worker:
    """Opens the store when something is to be done, and closes it when no session is open any more.

    `settings` is asked in the thread; it gives None when nothing is to be kept. While the disk or another process is in
    the way, what is to be written waits in memory and is tried again. When more waits than `StoreLimits.waiting_bytes`,
    or the store cannot be used at all, nothing is kept from then on (`failed`). Each is said once, in the log and in
    `notices`, which are for a person.
    """

    def __init__(self, settings: Settings | None) -> None:
        self._settings = settings
        self._changed = threading.Condition()
        self._jobs: list[Job] = []
        self._hurry = False
        self._running = False
        self.failed: StoreError | None = None if settings else TURNED_OFF
        self.hindered: Unavailable | None = None
        self.notices: list[str] = []

    def put(self, work: Callable[[Desk], Any], record: Record | None = None) -> None:
        """Do this within `StoreLimits.flush_seconds`, in the order of the calls, once the worker has been started."""
        if self.failed is None:
            self._add(Job(work, record=record))

    async def ask(self, work: Callable[[Desk], T]) -> T:
        """Do this at once, after what was put before, and give what it gives.

        Raises StoreError, also when the store has failed; it is not tried again then. A caller that is cancelled goes
        on; the work is done.
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
            settings = self._settings() if self._settings else None
            if settings is None:
                self.failed = TURNED_OFF
                self._refuse([])
            else:
                self._serve(settings)
        except Exception as error:
            self._fail(error, [])

    def _serve(self, settings: StoreSettings) -> None:
        # Late: sqlite3 is loaded here, and nothing of it is needed before.
        from duologue.coder.store.desk import Desk

        desk: Desk | None = None
        try:
            while jobs := self._next(settings.limits, desk):
                try:
                    desk = desk or Desk(settings)
                    desk.do(jobs)
                    self._succeeded()
                except Unavailable as error:
                    if not self._hold_back(jobs, error, settings.limits):
                        return
                except Exception as error:
                    self._fail(error, jobs)
                    return
        finally:
            if desk is not None:
                desk.close()

    def _next(self, limits: StoreLimits, desk: Desk | None) -> list[Job]:
        """What waits, after a moment in which more of it may come; nothing when no session is open any more."""
        with self._changed:
            while not self._jobs:
                if desk is None or not desk.holds_any():
                    self._running = False
                    return []
                self._changed.wait()
            seconds = limits.flush_seconds if self.hindered is None else limits.retry_seconds
            self._changed.wait_for(lambda: self._hurry, seconds)
            self._hurry = False
            jobs, self._jobs = self._jobs, []
            return jobs

    def _hold_back(self, jobs: list[Job], error: Unavailable, limits: StoreLimits) -> bool:
        """Have what could not be written wait in memory. False when that became too much: nothing is kept any more."""
        waiting = [job for job in jobs if job.answer is None]
        if sum(map(_measured, waiting)) > limits.waiting_bytes:
            lost = f"more than {limits.waiting_bytes} bytes waited for it, and are lost"
            self._fail(StoreError(f"{error} ({lost})"), jobs)
            return False
        if self.hindered is None:
            self._tell(f"sessions are not kept for now: {error}; what is said waits in memory, and is tried again")
        self.hindered = error
        with self._changed:
            self._jobs = [*waiting, *self._jobs]
        for job in jobs:
            job.refuse(error)
        return True

    def _succeeded(self) -> None:
        """Something was written; where that had failed before, a person is told."""
        if self.hindered is not None:
            self.hindered = None
            self._tell("sessions are written again, and nothing of them was lost")

    def _tell(self, text: str) -> None:
        log.warning("%s", text)
        if text not in self.notices:
            self.notices.append(text)

    def _fail(self, error: Exception, jobs: list[Job]) -> None:
        """Keep nothing from now on."""
        self.failed = error if isinstance(error, StoreError) else StoreError(f"{type(error).__name__}: {error}")
        self._tell(f"sessions are not kept: {self.failed}")
        self._refuse(jobs)

    def _refuse(self, jobs: list[Job]) -> None:
        """Let nobody wait for a store that is not there."""
        with self._changed:
            self._running = False
            waiting, self._jobs = self._jobs, []
        assert self.failed is not None
        for job in [*jobs, *waiting]:
            job.refuse(self.failed)


def _measured(job: Job) -> int:
    """The job's size, which is counted once."""
    if not job.size:
        from duologue.coder.store.records import size_of

        job.size = JOB_BYTES + (0 if job.record is None else size_of(job.record))
    return job.size
