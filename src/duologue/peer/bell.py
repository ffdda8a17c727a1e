"""How one task waits for what others put into a queue."""

from __future__ import annotations

import asyncio


class Bell:
    """Wakes the one task that waits; rung while none does, it is forgotten: look whether there is something first."""

    __slots__ = ("_waiter",)

    def __init__(self) -> None:
        self._waiter: asyncio.Future[None] | None = None

    async def wait(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter

    def ring(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)
