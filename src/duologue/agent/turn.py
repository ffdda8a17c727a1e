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


class Turn(Voice):
    """Speaks for as long as the turn runs.

    Set `tokens` to report what the turn has used of the model; it goes out with the end of the turn, as `usage`. (The
    method `usage` tells something else, at any time: how full the context window is.)
    """

    def __init__(
        self, session: Session, prompt: Sequence[ContentBlock] | None, meta: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(session, session._channel.send)
        #: What the user sent; None for work that the agent began.
        self.prompt = prompt
        #: The `_meta` of the prompt. The trace in it (W3C Trace Context) goes along with what the turn asks the client.
        self.meta: Mapping[str, Any] = meta or {}
        self._carried = trace_of(self.meta)
        self.tokens: Usage | None = None
        self.cancelled = False
        # The prompt as the client was told of it.
        self._told: UserMessageEvent | None = None
        # Whether it may run: its prompt was accepted, which waits for what was asked of the session before it.
        self._ready = False
        self._task: asyncio.Task[StopReason | None] | None = None
        self._gave_up: asyncio.Future[None] | None = None
        # Of work that the agent began: when its turn came, when its body was left, and the task that runs the body.
        self._begun: asyncio.Future[None] | None = None
        self._left: asyncio.Future[None] | None = None
        self._body: asyncio.Task[object] | None = None

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
        if self._told is not None:
            keep(self._told)
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
        if self._begun is not None and not self._begun.done():
            self._begun.cancel()
        if self._task is not None:
            self._task.cancel()
            self.session._turns.bound_the_end(self)

    def _end(self) -> None:
        """Silence the turn: what a straggler still says must not appear in the next one."""
        self._over = True

    def _trace(self) -> Mapping[str, str]:
        return self._carried

    def _answered_cancelled(self) -> None:
        self.cancel()
