"""An endpoint of a model that knows nothing: it takes requests down and refuses them."""

from __future__ import annotations

import asyncio
from types import TracebackType

#: The most of a request that is read, in bytes.
MOST = 65536
REFUSAL = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Endpoint:
    """Listens on a port of this machine while it is entered. `requests` are the heads of what was asked."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def asked(self, path: str, *, since: int = 0) -> bool:
        """Whether something below a path was asked."""
        words = [request.split(" ", 2) for request in self.requests[since:]]
        return any(len(each) > 1 and f"{each[1]}/".startswith(f"{path}/") for each in words)

    async def __aenter__(self) -> Endpoint:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # 401 is what nobody tries again.
        if head := await reader.read(MOST):
            self.requests.append(head.decode("latin-1"))
            writer.write(REFUSAL)
        writer.close()
