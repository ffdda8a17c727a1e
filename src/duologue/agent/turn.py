"""A turn: one prompt being worked on, or a piece of work that the agent began by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from duologue.agent.asked import trace_of
from duologue.agent.voice import Voice
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.prompt import StopReason, Usage
from duologue.protocol.v2.content import ContentBlock
from duologue.protocol.v2.updates import SessionUpdate, UserMessageEvent

if TYPE_CHECKING:
    from duologue.agent.session import Session


class Command(NamedTuple):
    """A slash command as the user wrote it: its name, and what stands behind it."""

    name: str
    text: str


class OwnWork:
    """Where the body of work that the agent began by itself is: `begun` is done when its turn has come, `left` when the
    body was left, and `body` is the task that is in it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.begun: asyncio.Future[None] = loop.create_future()
        self.left: asyncio.Future[None] = loop.create_future()
        self.body = asyncio.current_task()


class Turn(Voice):
    """Speaks for as long as the turn runs.

    Set `tokens` to report what the turn has used of the model; it goes out with the end of the turn, as `usage`. (The
    method `usage` tells something else, at any time: how full the context window is.)
    """

    def __init__(
        self, session: Session, prompt: Sequence[ContentBlock] | None, meta: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(session, session.transmit)
        #: What the user sent; None for work that the agent began.
        self.prompt = prompt
        #: The `_meta` of the prompt. The trace in it (W3C Trace Context) goes along with what the turn asks the client.
        self.meta: Mapping[str, Any] = meta or {}
        self._carried = trace_of(self.meta)
        self.tokens: Usage | None = None
        self.cancelled = False
        # The rest is for `Turns`, which runs it.
        #: The prompt as the client was told of it.
        self.told: UserMessageEvent | None = None
        #: Whether it may run: its prompt was accepted, which waits for what was asked of the session before it.
        self.ready = False
        #: What works on it, once it runs; and what is done when that takes too long to end after a cancel.
        self.task: asyncio.Task[StopReason | None] | None = None
        self.gave_up: asyncio.Future[None] | None = None
        #: Of work that the agent began: when its turn came and when its body was left.
        self.own: OwnWork | None = None

    @property
    def text(self) -> str:
        """The text blocks of the prompt, joined by newlines."""
        return "\n".join(block.text for block in self.prompt or () if isinstance(block, TextBlock))

    @property
    def command(self) -> Command | None:
        """The slash command that the prompt begins with, whether or not the agent offers one of that name."""
        first = next((block.text for block in self.prompt or () if isinstance(block, TextBlock)), "")
        if not first.startswith("/") or first[1:2].isspace() or first == "/":
            return None
        name, *rest = first[1:].split(maxsplit=1)
        return Command(name, rest[0].strip() if rest else "")

    def record(self, keep: Callable[[SessionUpdate], None]) -> None:
        """Give `keep` what the client is told of the turn: the user's message now, and each further update before it is
        sent. For an agent that keeps its sessions: `Transcript.apply` takes them."""
        if self.told is not None:
            keep(self.told)
        send = self._send

        def recorded(update: SessionUpdate) -> Awaitable[None]:
            keep(update)
            return send(update)

        self._send = recorded

    def cancel(self) -> None:
        """Cancel the turn: its task is cancelled, and it ends as cancelled whatever the task makes of that."""
        if self.cancelled or self._over:
            return
        self.cancelled = True
        if self.own is not None and not self.own.begun.done():
            self.own.begun.cancel()
        if self.task is not None:
            self.task.cancel()
            self.session.turns.bound_the_end(self)

    def silence(self) -> None:
        """Silence the turn: what a straggler still says must not appear in the next one."""
        self._over = True

    def _trace(self) -> Mapping[str, str]:
        return self._carried

    def answered_cancelled(self) -> None:
        self.cancel()
