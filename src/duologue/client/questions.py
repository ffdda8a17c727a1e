"""Questions of an agent that the user has not answered yet."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Questions:
    """The open questions of one session, in the order they were asked."""

    def __init__(self) -> None:
        self._open: dict[asyncio.Task[object], None] = {}

    async def ask(self, answering: Coroutine[Any, Any, T], cancelled: T) -> T:
        """Await an answer of the user; `cancelled` in its place once the turn is cancelled or it is withdrawn."""
        question = asyncio.get_running_loop().create_task(answering, name="question")
        self._open[question] = None
        try:
            return await question
        except asyncio.CancelledError:
            question.cancel()
            return cancelled
        finally:
            del self._open[question]

    def cancel(self) -> None:
        """Answer all of them with what stands for a cancelled turn."""
        for question in list(self._open):
            question.cancel()
