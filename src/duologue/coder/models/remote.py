"""A model behind a network endpoint: OpenAI, Anthropic, or any server that speaks the format of one of them."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

from duologue.coder.models.base import ModelError, ModelEvent, ModelRequest
from duologue.coder.models.config import SettingsError
from duologue.coder.models.library import INSTALL, check_library
from duologue.coder.models.settings import RemoteSettings
from duologue.coder.settling import in_daemon

if TYPE_CHECKING:
    from duologue.coder.models.backend import Backend


class RemoteModel:
    """Streams the steps of one remote model. The library behind it is loaded by the first `stream`, off the loop.

    Raises SettingsError when the library is not installed.
    """

    def __init__(self, settings: RemoteSettings) -> None:
        check_library()
        self.settings = settings
        self._backend: Backend | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def name(self) -> str:
        return self.settings.spec

    @property
    def description(self) -> str:
        return f"{self.settings.model} at {self.settings.endpoint.title}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask for one step. A failure that may pass is tried again while no event has been given out.

        Raises ModelError when the endpoint fails, SettingsError when the library cannot be loaded.
        """
        backend = await self._ready()
        for attempt in range(self.settings.retries + 1):
            failure: ModelError | None = None
            seen = False
            try:
                async with aclosing(backend.step(request)) as events:
                    async for event in events:
                        seen = True
                        yield event
            except ModelError as error:
                failure = error
            if failure is None:
                return
            delay = self._delay(failure, attempt)
            if seen or delay is None:
                # Raised out here: inside the `except` it would drag along its context.
                raise failure
            await asyncio.sleep(delay)

    def _delay(self, failure: ModelError, attempt: int) -> float | None:
        """Seconds to wait before the next attempt, or None when there is none."""
        asked: float = getattr(failure, "retry_after", None) or 0.0
        if not failure.retryable or attempt >= self.settings.retries or asked > self.settings.retry_delay_limit:
            return None
        return max(asked, min(self.settings.retry_delay * 2.0**attempt, self.settings.retry_delay_limit))

    async def prepare(self) -> None:
        """Load the library, so that the first request need not wait for it."""
        await self._ready()

    async def close(self) -> None:
        """Close idle connections. The model can be asked again afterwards."""
        backend, self._backend = self._backend, None
        if backend is not None and self._loop is asyncio.get_running_loop():
            await backend.close()

    async def _ready(self) -> Backend:
        loop = asyncio.get_running_loop()
        if self._backend is None or self._loop is not loop:
            # In a thread, because importing the library and reading certificates would stop every session meanwhile.
            self._backend, self._loop = await in_daemon(_load, self.settings), loop
        return self._backend


def _load(settings: RemoteSettings) -> Backend:
    try:
        backend = importlib.import_module("duologue.coder.models.backend")
    except ImportError as error:
        missing = error.name or "a part of it"
        raise SettingsError(f"{INSTALL} (missing: {missing})") from None
    made: Backend = backend.Backend(settings)
    return made
