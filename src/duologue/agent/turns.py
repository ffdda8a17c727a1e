"""The queue of a session's turns: one at a time, in the order their prompts were read.

`session/cancel` stops the running turn and drops what was queued before it; each dropped prompt still ends as
cancelled. A prompt that comes later is not touched. The states the client sees (running, requires action, idle) follow
from here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from duologue.agent.turn import Turn
from duologue.jsonrpc.errors import RpcError
from duologue.peer import ConnectionClosed, HandlerError
from duologue.protocol.changes.marks import ERROR_STOP, error_meta
from duologue.protocol.common.prompt import StopReason
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.updates import StateUpdateEvent, UserMessageEvent

if TYPE_CHECKING:
    from duologue.agent.session import Session

log = logging.getLogger("duologue.agent")

_STATES = {state: StateUpdateEvent(state=state) for state in (SessionState.RUNNING, SessionState.REQUIRES_ACTION)}

Work = Callable[[Turn], Awaitable[StopReason | None]]


class Turns:
    """Runs the turns of one session."""

    def __init__(self, session: Session, work: Work) -> None:
        self._session = session
        self._work = work
        self._queue: deque[Turn] = deque()
        self._runner: asyncio.Task[None] | None = None
        self.running: Turn | None = None
        self._waiting = 0

    def admit(self, turn: Turn) -> None:
        """Enter a turn: from now on a cancel finds it. It runs once it is `ready` and `start` is called."""
        self._queue.append(turn)

    def withdraw(self, turn: Turn) -> None:
        """Take out a turn that will not run after all; nothing is told of it."""
        if turn in self._queue:
            self._queue.remove(turn)

    def start(self) -> None:
        """See to it that what is ready runs."""
        if self._runner is None and self._is_due():
            self._runner = asyncio.get_running_loop().create_task(self._run(), name=f"turns-{self._session.id}")

    def _is_due(self) -> bool:
        return bool(self._queue) and self._queue[0].ready and not self._session.held

    def cancel(self) -> None:
        """Cancel the running turn and every queued one."""
        for turn in (self.running, *self._queue):
            if turn is not None:
                turn.cancel()

    async def settle(self) -> None:
        """Wait until nothing runs and nothing is queued."""
        while self._runner is not None:
            await asyncio.wait({self._runner})

    def wait_for_user(self) -> None:
        """A question to the user is open: the session requires action."""
        self._waiting += 1
        if self._waiting == 1:
            self._tell(SessionState.REQUIRES_ACTION)

    def go_on(self) -> None:
        """A question to the user was answered."""
        self._waiting -= 1
        if self._waiting == 0 and self.running is not None and not self.running.over:
            self._tell(SessionState.RUNNING)

    def limit_cancellation(self, turn: Turn) -> None:
        """Give a cancelled turn a bounded time to end."""
        gave_up = turn.gave_up
        if gave_up is not None:
            seconds = self._session.connection.agent.cancel_seconds
            asyncio.get_running_loop().call_later(seconds, _settle, gave_up)

    async def _run(self) -> None:
        try:
            while self._is_due():
                turn = self._queue.popleft()
                self.running = turn
                try:
                    await self._one(turn)
                finally:
                    turn.end()
                    self.running = None
        except ConnectionClosed:
            self._queue.clear()
        finally:
            self._runner = None
        self.start()

    async def _one(self, turn: Turn) -> None:
        if turn.prompt is not None:
            message = UserMessageEvent(message_id=self._session.next_id("user"), content=list(turn.prompt))
            await self._room()
            await turn.update(message)
        if turn.cancelled:
            await self._tell_idle(turn, StopReason.CANCELLED)
            return
        await self._room()
        self._tell(SessionState.RUNNING)
        loop = asyncio.get_running_loop()
        turn.gave_up = loop.create_future()
        turn.task = loop.create_task(self._call(turn), name=f"turn-{self._session.id}")
        ends: set[asyncio.Future[Any]] = {turn.task, turn.gave_up}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        turn.end()
        await self._finish(turn, turn.task)

    async def _finish(self, turn: Turn, task: asyncio.Task[object]) -> None:
        if turn.cancelled or task.cancelled():
            # It may go on after it was left behind: whatever becomes of it is no news.
            task.add_done_callback(_note_error)
            await self._tell_idle(turn, StopReason.CANCELLED)
            return
        error = task.exception()
        if error is None:
            reason = task.result()
            await self._tell_idle(turn, reason if isinstance(reason, StopReason) else StopReason.END_TURN)
        elif isinstance(error, RpcError):
            await self._tell_failed(error)
        elif isinstance(error, ConnectionClosed) and self._session.peer.closed_reason is not None:
            raise error
        else:
            log.error("a turn failed", exc_info=error)
            await self._tell_failed(HandlerError(error))

    async def _room(self) -> None:
        """Wait until the other side reads: what the library itself says must not fail for a limit."""
        outbound = self._session.peer.link.outbound
        while outbound.blocked:
            await outbound.wait_for_room()

    def _tell(self, state: SessionState) -> None:
        with contextlib.suppress(ConnectionClosed):
            self._session.send_state(_STATES[state])

    async def _tell_idle(self, turn: Turn, reason: StopReason) -> None:
        if turn.prompt is None and self._queue and self._queue[0].prompt is not None:
            # The session goes on at once; an idle state here would be taken for the end of the prompt that waits.
            return
        await self._room()
        usage = UNSET if turn.tokens is None else turn.tokens
        self._session.send_update(StateUpdateEvent(state=SessionState.IDLE, stop_reason=reason, usage=usage))

    async def _tell_failed(self, error: RpcError) -> None:
        await self._room()
        meta = error_meta(error.code, error.message, error.data)
        reason = StopReason(ERROR_STOP)
        self._session.send_update(StateUpdateEvent(state=SessionState.IDLE, stop_reason=reason, meta=meta))

    @contextlib.asynccontextmanager
    async def own_work(self) -> AsyncIterator[Turn]:
        """A turn that the agent begins by itself; it takes its place in the queue like a prompt.

        The body runs when its turn comes; the session is idle again when it is left.
        """
        loop = asyncio.get_running_loop()
        turn = Turn(self._session, None)
        turn.begun, turn.left = loop.create_future(), loop.create_future()
        turn.body = asyncio.current_task()
        turn.ready = True
        self.admit(turn)
        self.start()
        try:
            await turn.begun
            yield turn
        finally:
            turn.body = None
            self.withdraw(turn)
            if not turn.left.done():
                turn.left.set_result(None)

    async def _call(self, turn: Turn) -> StopReason | None:
        if turn.begun is None or turn.left is None:
            return await self._work(turn)
        if not turn.begun.done():
            turn.begun.set_result(None)
        try:
            await asyncio.shield(turn.left)
        except asyncio.CancelledError:
            if turn.body is not None:
                turn.body.cancel()
                await asyncio.shield(turn.left)
            raise
        return StopReason.END_TURN


def _note_error(task: asyncio.Task[object]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.debug("a cancelled turn ended with an error", exc_info=task.exception())


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
