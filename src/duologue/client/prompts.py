"""The prompts of a session: which are held back, which wait for their turn, and which one an update belongs to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from duologue.client.turn import Phase, PromptTurn
from duologue.peer import ConnectionClosed
from duologue.protocol.v2.state import SessionState
from duologue.protocol.v2.updates import StateUpdateEvent

if TYPE_CHECKING:
    from duologue.client.session import Session
    from duologue.transports.base import Closed


class Prompts:
    """The turns of one session. `active` are those whose user message was told; they end with the next idle state."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.active: list[PromptTurn] = []
        # Sent, and their user message was not told yet.
        self._waiting: deque[PromptTurn] = deque()
        # To be sent when those before them have ended.
        self._held: deque[PromptTurn] = deque()
        self._user_message: str | None = None
        #: The turn that updates belong to.
        self.current: PromptTurn | None = None

    def sent(self) -> Iterator[PromptTurn]:
        """The turns whose prompts were sent and that have not ended."""
        yield from (*self.active, *self._waiting)

    def open(self) -> list[PromptTurn]:
        """All turns that have not ended."""
        return [*self.sent(), *self._held]

    def is_held(self, turn: PromptTurn) -> bool:
        return turn in self._held

    @property
    def cancelling(self) -> bool:
        """Whether the work that the agent does now was cancelled and has not ended: it gets no more answers."""
        now = self.active or list(self._waiting)[:1]
        return bool(now) and all(turn.cancel_sent for turn in now)

    # --- from the prompt to its end -----------------------------------------------------------------------------------

    def send_or_hold(self, turn: PromptTurn) -> None:
        """A turn begins: now, or after those before it where the agent might take one prompt at a time."""
        if self.open() and self._session.connection.peer.said_in_v1 is not None:
            self._held.append(turn)
        else:
            self._send(turn)

    def _send(self, turn: PromptTurn) -> None:
        self._waiting.append(turn)
        self._point()
        turn.start()

    def begin(self, message_id: str) -> None:
        """A user message was told: the n-th prompt owns the n-th new live one."""
        if message_id == self._user_message:
            return
        self._user_message = message_id
        if self._waiting:
            turn = self._waiting.popleft()
            turn.begin(self._session.transcript)
            self.active.append(turn)
            self._point()

    def idle(self, update: StateUpdateEvent) -> None:
        """The session is idle: what is active has ended."""
        if not self.active and self._waiting:
            self._idle_without_message(self._waiting[0], update)
        for turn in list(self.active):
            turn.idle(update)

    def _idle_without_message(self, turn: PromptTurn, update: StateUpdateEvent) -> None:
        """The session is idle before the user message of a prompt was told: the agent does not tell it, and the turn
        is over, unless the idle ends work that was going on when the prompt was accepted."""
        if turn.phase is Phase.BEHIND:
            turn.phase = Phase.ACCEPTED
        elif turn.phase is Phase.ACCEPTED and update.stop_reason:
            self.active.append(self._waiting.popleft())

    def accepted(self, turn: PromptTurn) -> Phase:
        """A prompt was accepted: maybe while the agent is at work that no prompt before it asked for."""
        alone = not self.active and bool(self._waiting) and self._waiting[0] is turn
        behind = alone and self._session.transcript.state is not SessionState.IDLE
        return Phase.BEHIND if behind else Phase.ACCEPTED

    def leave(self, turn: PromptTurn) -> None:
        """A turn has ended."""
        if turn in self.active:
            self.active.remove(turn)
        elif turn in self._waiting:
            self._waiting.remove(turn)
        elif turn in self._held:
            self._held.remove(turn)
        self._point()
        if self._held and not self.active and not self._waiting:
            self._send(self._held.popleft())

    def _point(self) -> None:
        if self.active:
            self.current = self.active[-1]
        else:
            self.current = self._waiting[0] if self._waiting else None

    # --- the end ------------------------------------------------------------------------------------------------------

    def drop_held(self) -> None:
        """What was not sent yet will not be."""
        held, self._held = list(self._held), deque()
        for turn in held:
            turn.drop()

    def drop(self) -> None:
        """The session is closed: open turns end as cancelled."""
        self.drop_held()
        for turn in list(self.sent()):
            turn.drop()

    def fail(self, reason: Closed) -> None:
        """The connection is closed: open turns end with it."""
        turns, self._held = self.open(), deque()
        for turn in turns:
            turn.end(ConnectionClosed(reason))
