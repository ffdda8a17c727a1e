"""Starts a client so that the check is its agent, and takes the connections that it makes."""

from __future__ import annotations

import asyncio
import secrets
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, cast

from duologue.transports.base import Closed, Sink, Transport
from duologue.transports.spawn import SpawnTransport

#: Stands in a client's command line where that of the agent goes.
PLACE = "{agent}"
#: How long a client may take to end by itself once its agent has, in seconds.
GRACE_SECONDS = 5.0

Accept = Callable[[Transport], Awaitable[None]]


class Running(Protocol):
    """A client that was started."""

    def told(self) -> str:
        """The last of what it wrote to stderr."""

    async def stop(self) -> None:
        """End it."""


#: Starts a client, whose connections are given to the function.
Launch = Callable[[Accept], Awaitable[Running]]


def launcher(command: Sequence[str], env: Mapping[str, str] | None = None) -> Launch:
    """Starts the client of a command line. Raises `ValueError` where it has no place for the agent."""
    if not any(PLACE in word for word in command):
        raise ValueError(f"the client's command line has no {PLACE}: write that where the agent's command line goes")

    async def launch(accept: Accept) -> Running:
        running = _Program(command, env, accept)
        await running.start()
        return running

    return launch


class _Program:
    """A client as a process, and the port that its agent comes back to."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None, accept: Accept) -> None:
        self._command = command
        self._env = env
        self._accept = accept
        self._token = secrets.token_hex(8)
        self._server: asyncio.Server | None = None
        self._process: SpawnTransport | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: SocketTransport(self._arrived, self._token), "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        agent = [sys.executable, "-P", "-m", "duologue.check.clients.stand_in", str(port), self._token]
        words = [word.replace(PLACE, shlex.join(agent)) for word in self._command]
        self._process = SpawnTransport(words, env=self._env, grace_seconds=GRACE_SECONDS)
        await self._process.start(_Unheard())

    def _arrived(self, transport: Transport) -> None:
        task = asyncio.get_running_loop().create_task(_as_coroutine(self._accept(transport)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def told(self) -> str:
        return self._process.stderr_tail() if self._process is not None else ""

    async def stop(self) -> None:
        if self._process is not None:
            await self._process.close()
        if self._server is not None:
            self._server.close()


async def _as_coroutine(awaitable: Awaitable[None]) -> None:
    await awaitable


class _Unheard:
    """What a client says on its stdout is for its user."""

    def data_received(self, data: bytes) -> None: ...

    def connection_lost(self, reason: Closed) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


class SocketTransport(asyncio.Protocol):
    """The check's end of a connection that a stand-in made; it begins with the token on a line."""

    def __init__(self, arrived: Callable[[Transport], None], token: str) -> None:
        self._arrived = arrived
        self._token = token.encode() + b"\n"
        self._socket: asyncio.Transport | None = None
        self._sink: Sink | None = None
        self._waiting = bytearray()
        self._known = False
        self._lost: Closed | None = None

    # --- what asyncio tells -------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._known and self._sink is not None:
            self._sink.data_received(data)
            return
        self._waiting += data
        if not self._known and len(self._waiting) >= len(self._token):
            if not self._waiting.startswith(self._token):
                assert self._socket is not None
                self._socket.abort()
                return
            self._known = True
            del self._waiting[: len(self._token)]
            self._arrived(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._lost = Closed("the client ended the connection")
        if self._sink is not None:
            self._sink.connection_lost(self._lost)

    # --- the transport ------------------------------------------------------------------------------------------------

    async def start(self, sink: Sink) -> None:
        self._sink = sink
        if self._waiting:
            sink.data_received(bytes(self._waiting))
            self._waiting.clear()
        if self._lost is not None:
            sink.connection_lost(self._lost)

    def write(self, data: bytes | bytearray) -> None:
        if self._socket is not None and not self._socket.is_closing():
            self._socket.write(data)

    def buffered(self) -> int:
        return self._socket.get_write_buffer_size() if self._socket is not None else 0

    def pause_reading(self) -> None:
        if self._socket is not None:
            self._socket.pause_reading()

    def resume_reading(self) -> None:
        if self._socket is not None:
            self._socket.resume_reading()

    async def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
