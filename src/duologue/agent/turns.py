"""The queue of a session's turns: one at a time, in the order their prompts were read.

`session/cancel` stops the running turn and drops what was queued before it; each dropped prompt still ends as
cancelled. A prompt that comes later is not touched. The states the client sees (running, requires action, idle) follow
from here.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from duologue import codec
from duologue.agent.turn import OwnWork, Turn
from duologue.jsonrpc.errors import RpcError
from duologue.local.entering import entered
from duologue.peer import ConnectionClosed, HandlerError
from duologue.protocol.common.prompt import StopReason, Usage
from duologue.protocol.failed_turns import ERROR_STOP, error_meta
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.updates import StateUpdateEvent, UserMessageEvent

if TYPE_CHECKING:
    from duologue.agent.session import Session

log = logging.getLogger("duologue.agent")

_STATES = {state: StateUpdateEvent(state=state) for state in SessionState}

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
        self._told = SessionState.IDLE

    def admit(self, turn: Turn) -> None:
        """Enter a turn: from now on a cancel finds it. It runs once it is ready and `start` is called."""
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
        """A question to the user was answered: the session is what it was before, unless that was told meanwhile."""
        self._waiting -= 1
        if self._waiting == 0 and self._told is SessionState.REQUIRES_ACTION:
            self._tell(SessionState.IDLE if self._runner is None else SessionState.RUNNING)

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Let the session require action for as long as a question to the user is open."""
        try:
            self.wait_for_user()
            yield
        finally:
            self.go_on()

    def bound_the_end(self, turn: Turn) -> None:
        """Give a cancelled turn a bounded time to end."""
        gave_up = turn.gave_up
        if gave_up is not None:
            seconds = self._session.connection.agent.cancel_seconds
            asyncio.get_running_loop().call_later(seconds, _settle, gave_up)

    async def _run(self) -> None:
        try:
            while self._is_due():
                await self._take(self._queue.popleft())
        except (ConnectionClosed, asyncio.CancelledError):
            # Own work that waits for its turn learns that there will be none.
            self.cancel()
            self._queue.clear()
        except Exception:
            # Nobody awaits this task.
            log.exception("the end of a turn could not be told")
        finally:
            self._runner = None
            self.start()

    async def _take(self, turn: Turn) -> None:
        self.running = turn
        self._session.updated_at = datetime.now(UTC)
        try:
            await self._one(turn)
        except ConnectionClosed:
            raise
        except Exception as error:
            log.exception("a turn could not be run")
            await self._tell_failed(HandlerError(error))
        finally:
            turn.silence()
            self.running = None

    async def _one(self, turn: Turn) -> None:
        if turn.prompt is not None:
            turn.told = message = UserMessageEvent(message_id=self._session.next_id("user"), content=list(turn.prompt))
            await self._session.connection.peer.room()
            await turn.send(message)
        if turn.cancelled:
            await self._tell_idle(turn, StopReason.CANCELLED)
            return
        await self._session.connection.peer.room()
        self._tell(SessionState.RUNNING)
        loop = asyncio.get_running_loop()
        turn.gave_up = loop.create_future()
        turn.task = loop.create_task(self._call(turn), name=f"turn-{self._session.id}")
        ends: set[asyncio.Future[Any]] = {turn.task, turn.gave_up}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        turn.silence()
        await self._finish(turn, turn.task)

    async def _finish(self, turn: Turn, task: asyncio.Task[StopReason | None]) -> None:
        if turn.cancelled or task.cancelled():
            # It may go on after it was left behind: whatever becomes of it is no news.
            task.add_done_callback(_note_error)
            await self._tell_idle(turn, StopReason.CANCELLED)
            return
        error = task.exception()
        if error is None:
            await self._tell_idle(turn, task.result() or StopReason.END_TURN)
        elif isinstance(error, RpcError):
            await self._tell_failed(error)
        elif isinstance(error, ConnectionClosed) and self._session.peer.closed_reason is not None:
            raise error
        else:
            log.error("a turn failed", exc_info=error)
            await self._tell_failed(HandlerError(error))

    def _tell(self, state: SessionState) -> None:
        self._told = state
        try:
            # It may leave together with the message that follows it.
            self._session.channel.send(_STATES[state], soon=True)
        except ConnectionClosed:
            # Not `suppress`: that costs more than the rest, and each question tells two states.
            return

    async def _tell_idle(self, turn: Turn, reason: StopReason) -> None:
        if turn.prompt is None and self._queue and self._queue[0].prompt is not None:
            # The session goes on at once; an idle state here would be taken for the end of the prompt that waits.
            return
        usage = UNSET if turn.tokens is None else _as_usage(turn.tokens)
        await self._tell_end(reason, usage=usage)

    async def _tell_failed(self, error: RpcError) -> None:
        reason = StopReason(ERROR_STOP)
        meta = error_meta(error.code, error.message, error.data)
        if not _can_be_sent(meta):
            log.error("the data of an error cannot be encoded and is left out: %s", error)
            meta = error_meta(error.code, str(error.message))
        await self._tell_end(reason, meta=meta)

    async def _tell_end(self, reason: StopReason, *, usage: Any = UNSET, meta: Any = UNSET) -> None:
        """The turn is over: the client waits for this, so nothing that the author gave may keep it back."""
        await self._session.connection.peer.room()
        self._told = SessionState.IDLE
        idle = StateUpdateEvent(state=SessionState.IDLE, stop_reason=reason, usage=usage, meta=meta)
        self._session.channel.send(idle)

    @entered("async with session.work() as turn")
    async def own_work(self) -> AsyncIterator[Turn]:
        """A turn that the agent begins by itself; it takes its place in the queue like a prompt.

        The body runs when its turn comes; the session is idle again when it is left.
        """
        if self.running is not None and self.running.task is asyncio.current_task():
            raise RuntimeError("own work waits for the turn that runs: begin it in a task of its own")
        turn = Turn(self._session, None)
        turn.own = own = OwnWork(asyncio.get_running_loop())
        turn.ready = True
        self.admit(turn)
        self.start()
        try:
            await own.begun
            yield turn
        finally:
            own.body = None
            self.withdraw(turn)
            if not own.left.done():
                own.left.set_result(None)

    async def _call(self, turn: Turn) -> StopReason | None:
        own = turn.own
        if own is None:
            return await self._answer(turn)
        if not own.begun.done():
            own.begun.set_result(None)
        try:
            await asyncio.shield(own.left)
        except asyncio.CancelledError:
            if own.body is not None:
                own.body.cancel()
                await asyncio.shield(own.left)
            raise
        return StopReason.END_TURN

    async def _answer(self, turn: Turn) -> StopReason | None:
        """What the author's work gives. Raises `TypeError` when it cannot be awaited, or gives no stop reason."""
        work: object = self._work(turn)
        if not inspect.isawaitable(work):
            raise TypeError("prompt must be async def (and have no yield)")
        reason: object = await work
        if reason is None:
            return None
        try:
            return StopReason.named(reason)
        except (TypeError, ValueError) as error:
            raise TypeError(f"prompt must return a StopReason, or None for end_turn: {error}") from None


def _note_error(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.debug("a cancelled turn ended with an error", exc_info=task.exception())


def _as_usage(tokens: Usage) -> Usage | UnsetType:
    """The tokens of a turn as they are sent, unless they cannot be."""
    try:
        usage: Usage = codec.sendable(Usage, tokens)
    except codec.CodecError as error:
        log.error("the tokens of a turn cannot be sent and are left out: turn.tokens is a Usage: %s", error)
        return UNSET
    return usage


def _can_be_sent(value: object) -> bool:
    try:
        codec.encode(value)
    except codec.CodecError:
        return False
    return True


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
