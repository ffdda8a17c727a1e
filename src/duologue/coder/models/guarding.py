"""The HTTP client of a remote model: what an endpoint answers is bounded, and no other one is asked in its place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2

from duologue.coder.models.settings import RemoteSettings
from duologue.errors import DuologueError


class Unwanted(DuologueError):
    """An endpoint answers in a way that is not taken; the text goes on from its name."""


def guards(settings: RemoteSettings) -> dict[str, Any]:
    """Arguments for the clients of the libraries. What they meet is raised as `Unwanted`, maybe as a cause only."""
    timeout = httpx2.Timeout(settings.silence_timeout, connect=settings.connect_timeout)
    home = httpx2.URL(settings.endpoint.base_url)

    async def check_address(request: httpx2.Request) -> None:
        # A redirect leads here. The libraries would send the key along, and all that was said.
        if not _is_home(request.url, home):
            raise Unwanted(f"sends on to {request.url.host}: if that is meant, make it the base URL")

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise Unwanted("compressed its answer, which was not asked for and may become any size")
        response.stream = Bounded(response, settings)

    hooks = {"request": [check_address], "response": [bound]}
    return {"timeout": timeout, "event_hooks": hooks, "headers": {"accept-encoding": "identity"}}


def _is_home(url: httpx2.URL, home: httpx2.URL) -> bool:
    """Whether an address is of the endpoint itself, or of its encrypted side."""
    safer = home.scheme == "http" and home.port is None and url.scheme == "https" and url.port is None
    return url.host == home.host and (safer or (url.scheme, url.port) == (home.scheme, home.port))


class Bounded(httpx2.AsyncByteStream):
    """A body that ends with `Unwanted` where it, or a line of it, is longer than is taken."""

    def __init__(self, response: httpx2.Response, settings: RemoteSettings) -> None:
        self._inner = response.stream
        self._settings = settings

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._inner, httpx2.AsyncByteStream)
        whole = line = 0
        async for piece in self._inner:
            whole += len(piece)
            cut = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
            line = line + len(piece) if cut < 0 else len(piece) - cut - 1
            if whole > self._settings.answer_bytes:
                raise Unwanted(f"sent an answer of more than {self._settings.answer_bytes} bytes (answer_bytes)")
            if line > self._settings.line_bytes:
                raise Unwanted(f"sent a line of more than {self._settings.line_bytes} bytes (line_bytes)")
            yield piece

    async def aclose(self) -> None:
        assert isinstance(self._inner, httpx2.AsyncByteStream)
        await self._inner.aclose()
