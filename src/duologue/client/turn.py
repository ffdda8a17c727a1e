"""A prompt and the events of its turn."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from duologue.client.errors import TurnFailed
from duologue.client.gates import check_prompt
from duologue.peer import ConnectionClosed
from duologue.peer.bell import Bell
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.prompt import StopReason, Usage
from duologue.protocol.failed_turns import error_of
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.prompt import PromptRequest
from duologue.protocol.v2.table import SESSION_PROMPT
from duologue.protocol.v2.updates import AgentMessageChunk, SessionUpdate, StateUpdateEvent

if TYPE_CHECKING:
    from duologue.client.session import Session
    from duologue.session import Transcript


class Phase(Enum):
    """How far a turn has come."""

    #: Not iterated yet.
    NEW = "new"
    #: Sent, or held back until the turns before it have ended.
    BEGUN = "begun"
    #: Accepted while the agent was at work that no prompt asked for: the next idle state ends that work.
    BEHIND = "behind"
    ACCEPTED = "accepted"
    #: Ended; its last events may still wait to be iterated.
    ENDED = "ended"


class PromptTurn:
    """Iterate it once: the prompt is sent when the iteration begins (in version 1, once the turn before it has ended),
    and the events are its turn's updates in order. Or await it, for its stop reason alone.

    It ends when the turn does; `stop_reason` and `usage` are known then. Leaving the iteration early (break, an
    exception, a cancelled task) sends one `session/cancel` and answers open permission requests with `cancelled`.
    The iteration raises `NotOffered` for a prompt that the agent does not take, `RpcError` when it refuses the prompt,
    `TurnFailed` when the turn ends with an error, and `ConnectionClosed` when the agent goes away. (Version 1 has one
    answer for a refused prompt and a failed turn: `RpcError`, of which `TurnFailed` is a kind.)
    """

    def __init__(
        self,
        session: Session,
        prompt: Sequence[ContentBlock],
        while_running: Literal["queue", "steer"] = "queue",
    ) -> None:
        self.session = session
        self.prompt = prompt
        self.while_running = while_running
        self.stop_reason: StopReason | None = None
        self.usage: Usage | None = None
        #: Changed by the session's `Prompts` and by the turn itself.
        self.phase = Phase.NEW
        # Set when the turn has ended.
        self._end_told = asyncio.Event()
        self._error: BaseException | None = None
        # The transcript that the turn began in, and how many entries that had then.
        self._begun_in: Transcript | None = None
        self._begun_at = 0
        # Of the iteration: whether there was one, and whether it was left.
        self._iterated = False
        self._left = False
        self._asking: asyncio.Task[None] | None = None
        #: Whether a `session/cancel` that covers this turn was sent.
        self.cancel_sent = False
        self._queue: list[SessionUpdate] = []
        # What is being given out of the queue.
        self._batch: Iterator[SessionUpdate] = iter(())
        self._bell = Bell()

    def __del__(self) -> None:
        if self.phase is Phase.NEW and not self._iterated:
            told = "a prompt was not sent: await session.prompt(...), or iterate it by async for"
            warnings.warn(told, RuntimeWarning, stacklevel=2, source=self)

    def __aiter__(self) -> AsyncIterator[SessionUpdate]:
        if self._iterated:
            raise RuntimeError("a turn can be iterated once; call session.prompt() again for a new one")
        self._iterated = True
        return self._events()

    def __await__(self) -> Generator[Any, None, StopReason | None]:
        return self._run().__await__()

    async def _run(self) -> StopReason | None:
        async for _ in self:
            pass
        return self.stop_reason

    async def text(self) -> str:
        """Run the turn and return what the agent said in it."""
        said: list[str] = []
        async for event in self:
            match event:
                case AgentMessageChunk(content=TextBlock(text=piece)):
                    said.append(piece)
        return "".join(said)

    async def cancel(self) -> None:
        """Ask the agent to end the turn; at most one `session/cancel` is sent. Go on iterating to see it end.

        A turn that was not iterated yet, or waits for another to end, will not be sent: its iteration ends at once, as
        cancelled.
        """
        if self.ended:
            return
        if self not in self.session.prompts.sent():
            self.drop()
        elif not self.cancel_sent:
            self.session.send_cancel()

    @property
    def accepted(self) -> bool:
        """Whether the agent has taken the prompt and its turn has not ended."""
        return self.phase in (Phase.BEHIND, Phase.ACCEPTED)

    @property
    def ended(self) -> bool:
        """Whether the turn has ended; its last events may still wait to be iterated."""
        return self.phase is Phase.ENDED

    async def wait_ended(self) -> None:
        """Wait until the turn has ended; somebody has to iterate it, or its session to be closed."""
        await self._end_told.wait()

    # --- for the session ----------------------------------------------------------------------------------------------

    def begin(self, transcript: Transcript) -> None:
        """Its user message is told: what follows in the transcript is its own."""
        self._begun_in, self._begun_at = transcript, transcript.let_go + len(transcript.entries)

    def first_entry(self, transcript: Transcript) -> int:
        """Where the entries of this turn may begin: anywhere, in a transcript that came of a replay since."""
        return self._begun_at if transcript is self._begun_in else 0

    async def _events(self) -> AsyncIterator[SessionUpdate]:
        if self.ended:
            return
        self.phase = Phase.BEGUN
        session = self.session
        check_prompt(session.connection, self.prompt)
        if self.while_running == "steer":
            try:
                await session.stop_all()
            except BaseException:
                self.drop()
                raise
            if self.ended:
                return
        inbound = session.connection.peer.inbound
        session.prompts.send_or_hold(self)
        try:
            while True:
                batch = self._queue
                if batch:
                    self._queue = []
                    self._batch = iter(batch)
                    for event in self._batch:
                        inbound.delivered()
                        yield event
                elif self.ended:
                    break
                else:
                    await self._bell.wait()
            if self._error is not None:
                raise self._error
        finally:
            self._leave()
            if self._asking is not None and self.ended:
                self._asking.cancel()

    def start(self) -> None:
        """Send the prompt."""
        self._asking = asyncio.get_running_loop().create_task(self._ask(), name="prompt")

    def drop(self) -> None:
        """It ends as cancelled: it will not be sent, or the session is closed."""
        self.stop_reason = StopReason.CANCELLED
        self.end(None)

    async def _ask(self) -> None:
        try:
            await self.session.connection.logins.retried(self._send)
        except Exception as error:
            self.end(error)

    async def _send(self) -> None:
        """Send the prompt, perhaps once more after a login: then it may have been cancelled, or the session be over."""
        if self.ended:
            return
        if self.cancel_sent:
            self.drop()
            return
        request = PromptRequest(session_id=self.session.id, prompt=list(self.prompt))
        await self.session.connection.peer.request(SESSION_PROMPT, request, applied=self._accept)

    def _accept(self, _: object) -> None:
        if not self.session.is_open:
            # Sent all the same, and accepted: nothing more of it would be heard.
            self.drop()
        if self.phase is Phase.BEGUN:
            self.phase = self.session.prompts.accepted(self)

    def put(self, event: SessionUpdate) -> None:
        """Queue an event; nothing is kept once the iteration was left."""
        if self._left:
            return
        if not self._queue:
            # Whoever waits is woken by the first of them.
            self._bell.ring()
        self._queue.append(event)
        self.session.connection.peer.inbound.undelivered += 1

    def idle(self, idle: StateUpdateEvent) -> None:
        """The session is idle: the turn has ended."""
        self.stop_reason = idle.stop_reason or None
        self.usage = idle.usage or None
        error = error_of(idle.meta)
        self.end(TurnFailed(*error) if error is not None else None)

    def end(self, error: BaseException | None) -> None:
        """End the turn, with an error or without; what was queued is still given out."""
        if self.ended:
            return
        self.phase = Phase.ENDED
        self._end_told.set()
        self._error = error
        self.session.prompts.leave(self)
        self._bell.ring()

    def _leave(self) -> None:
        if self._left:
            return
        self._left = True
        for _ in (*self._batch, *self._queue):
            self.session.connection.peer.inbound.delivered()
        self._queue = []
        if self.session.prompts.is_held(self):
            self.drop()
        elif not self.ended and not self.cancel_sent and self.session.connection.peer.closed_reason is None:
            try:
                self.session.send_cancel()
            except ConnectionClosed:
                self.end(None)
