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
from duologue.protocol.common.prompt import StopReason, Usage
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.updates import StateUpdateEvent, UserMessageEvent

if TYPE_CHECKING:
    from duologue.agent.session import Session

log = logging.getLogger("duologue.agent")

#: How long a cancelled turn may go on before it is left behind, in seconds.
CANCEL_SECONDS = 10.0

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
        """Enter a turn: from now on a cancel finds it."""
        self._queue.append(turn)

    def start(self) -> None:
        """See to it that what was admitted runs."""
        if self._runner is None and self._queue:
            self._runner = asyncio.get_running_loop().create_task(self._run(), name=f"turns-{self._session.id}")

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
            asyncio.get_running_loop().call_later(CANCEL_SECONDS, _settle, gave_up)

    async def _run(self) -> None:
        try:
            while self._queue:
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
            await turn.update(message)
        if turn.cancelled:
            self._tell_idle(StopReason.CANCELLED, turn.tokens)
            return
        self._tell(SessionState.RUNNING)
        loop = asyncio.get_running_loop()
        turn.gave_up = loop.create_future()
        turn.task = loop.create_task(self._call(turn), name=f"turn-{self._session.id}")
        ends: set[asyncio.Future[Any]] = {turn.task, turn.gave_up}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        turn.end()
        self._finish(turn, turn.task)

    def _finish(self, turn: Turn, task: asyncio.Task[object]) -> None:
        if turn.cancelled or task.cancelled():
            if task.done() and not task.cancelled() and task.exception() is not None:
                log.debug("a cancelled turn ended with an error", exc_info=task.exception())
            self._tell_idle(StopReason.CANCELLED, turn.tokens)
            return
        error = task.exception()
        if error is None:
            reason = task.result()
            self._tell_idle(reason if isinstance(reason, StopReason) else StopReason.END_TURN, turn.tokens)
        elif isinstance(error, RpcError):
            self._tell_failed(error)
        elif isinstance(error, ConnectionClosed):
            raise error
        else:
            log.error("a turn failed", exc_info=error)
            self._tell_failed(HandlerError(error))

    def _tell(self, state: SessionState) -> None:
        with contextlib.suppress(ConnectionClosed):
            self._session.send_state(_STATES[state])

    def _tell_idle(self, reason: StopReason, tokens: Usage | None) -> None:
        usage = UNSET if tokens is None else tokens
        self._session.send_update(StateUpdateEvent(state=SessionState.IDLE, stop_reason=reason, usage=usage))

    def _tell_failed(self, error: RpcError) -> None:
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
        self.admit(turn)
        self.start()
        try:
            await turn.begun
            yield turn
        finally:
            turn.body = None
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


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
