"""A turn: one prompt being worked on, or a piece of work that the agent began by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from duologue.agent.voice import Voice
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.prompt import Usage
from duologue.protocol.v2.content import ContentBlock

if TYPE_CHECKING:
    from duologue.agent.session import Session


class Turn(Voice):
    """Speaks for as long as the turn runs.

    For the agent's author are `session`, `prompt`, `text`, `cancelled`, `over`, `tokens` (reported with the end of the
    turn when set), and what every `Voice` has. The rest is how the library runs it.
    """

    def __init__(self, session: Session, prompt: Sequence[ContentBlock] | None) -> None:
        super().__init__(session)
        #: What the user sent; None for work that the agent began.
        self.prompt = prompt
        self.tokens: Usage | None = None
        self.cancelled = False
        #: Whether its prompt was accepted: what was asked of the session before it is done.
        self.ready = False
        self.task: asyncio.Task[object] | None = None
        self.gave_up: asyncio.Future[None] | None = None
        # Of work that the agent began: when its turn came, when its body was left, and the task that runs the body.
        self.begun: asyncio.Future[None] | None = None
        self.left: asyncio.Future[None] | None = None
        self.body: asyncio.Task[object] | None = None

    @property
    def text(self) -> str:
        """The text blocks of the prompt, joined by newlines."""
        return "\n".join(block.text for block in self.prompt or () if isinstance(block, TextBlock))

    def cancel(self) -> None:
        """Cancel the turn: its task is cancelled, and it ends as cancelled whatever the task makes of that."""
        if self.cancelled or self._over:
            return
        self.cancelled = True
        if self.begun is not None and not self.begun.done():
            self.begun.cancel()
        if self.task is not None:
            self.task.cancel()
            self.session.limit_cancellation(self)

    def end(self) -> None:
        """Silence the turn: what a straggler still says must not appear in the next one."""
        self._over = True
