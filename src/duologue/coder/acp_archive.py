"""The sessions of earlier processes, as the agent opens, lists and deletes them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from msgspec import UNSET

from duologue.agent import unknown_session
from duologue.agent.voice import timestamp
from duologue.coder.store.errors import Busy, StoreError, Unavailable, Unreadable
from duologue.coder.store.log import SessionLog
from duologue.coder.store.worker import TURNED_OFF, Settings, Worker
from duologue.jsonrpc.errors import INTERNAL_ERROR, RpcError
from duologue.peer.errors import wrong_params
from duologue.protocol.common.session import SessionInfo

if TYPE_CHECKING:
    from duologue.coder.store.rows import SessionRow
    from duologue.coder.store.saved import Saved

log = logging.getLogger("duologue.coder.store")

T = TypeVar("T")

#: How long to wait between two looks at a session that another process may be about to close, in seconds.
LOOK_AGAIN = 0.1


class Archive:
    """The store as the agent asks for it. What is wrong is told as an `RpcError`; without a store it is empty."""

    def __init__(self, settings: Settings | None) -> None:
        self._worker = Worker(settings)
        self._told: set[str] = set()

    def log(self, session_id: str) -> SessionLog:
        return SessionLog(self._worker, session_id)

    def start(self) -> None:
        """Begin to write what was put into logs so far."""
        self._worker.start(hurry=False)

    async def take(self, session_id: str) -> Saved:
        """A session of an earlier process, open in this one from now on.

        Waits `StoreLimits.busy_seconds` for another process that has it open: an editor that is started again may be
        quicker than the end of its last agent.
        """
        try:
            return self._found(session_id, await self._asked(session_id, self._take(session_id)))
        except asyncio.CancelledError:
            self._worker.put(lambda desk: desk.release(session_id))
            raise

    async def _take(self, session_id: str) -> Saved | None:
        waited = 0.0
        while True:
            try:
                return await self._worker.ask(lambda desk: desk.take(session_id))
            except Busy as busy:
                if waited >= busy.seconds:
                    raise
            await asyncio.sleep(LOOK_AGAIN)
            waited += LOOK_AGAIN

    async def read(self, session_id: str) -> Saved:
        """What is kept of a session, whoever has it open."""
        saved = await self._asked(session_id, self._worker.ask(lambda desk: desk.read(session_id)))
        return self._found(session_id, saved)

    async def infos(self) -> list[SessionInfo]:
        """The sessions in which a turn was answered, the last used first. The log tells once of a damaged one, and of
        none being kept."""
        damaged: list[Unreadable] = []
        try:
            rows = await self._worker.ask(lambda desk: desk.rows(damaged.append))
        except StoreError as error:
            if error is TURNED_OFF:  # what else can be wrong is told when it happens
                self._warn_once(f"sessions are not kept: {error}")
            return []
        for text in map(str, damaged):
            self._warn_once(f"a session is not listed: {text}")
        return [info_of(row) for row in rows if row.prompts]

    def _warn_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            log.warning("%s", text)

    async def delete(self, session_id: str) -> None:
        """Remove a session for good, if there is one."""
        if self._worker.failed is None:
            await self._asked(session_id, self._worker.ask(lambda desk: desk.delete(session_id)))

    async def _asked(self, session_id: str, answer: Awaitable[T]) -> T | None:
        try:
            return await answer
        except Busy as error:
            raise wrong_params(str(error), "sessionId", sessionId=session_id) from None
        except Unreadable as error:
            raise RpcError(INTERNAL_ERROR, str(error), {"sessionId": session_id}) from None
        except Unavailable as error:
            told = f"stored sessions cannot be used for now: {error}; try again then"
            raise RpcError(INTERNAL_ERROR, told, {"sessionId": session_id, "retryable": True}) from None
        except StoreError:
            return None

    def _found(self, session_id: str, saved: Saved | None) -> Saved:
        if saved is not None:
            return saved
        error = unknown_session(session_id)
        if self._worker.failed is None:
            raise error
        # A conversation must not be lost without a word.
        details = f"sessions are not kept: {self._worker.failed}"
        raise RpcError(error.code, error.message, {"sessionId": session_id, "details": details})


def info_of(row: SessionRow) -> SessionInfo:
    return SessionInfo(
        session_id=row.id,
        cwd=row.cwd,
        additional_directories=[*row.roots] or UNSET,
        title=row.title or UNSET,
        updated_at=timestamp(datetime.fromtimestamp(row.used, UTC)),
    )
