"""Connecting to an agent: start its command or take a transport, and settle the version."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from duologue.client.client import Client
from duologue.client.connection import ClientConnection, version_of
from duologue.client.errors import AgentFailed, VersionMismatch
from duologue.codec import CodecError
from duologue.jsonrpc.errors import RpcError
from duologue.jsonrpc.limits import Limits
from duologue.peer import ConnectionClosed
from duologue.peer.link import Trace
from duologue.protocol.version import V1, V2, Version
from duologue.transports.base import Transport, TransportError

#: How long an agent may take to answer `initialize`, in seconds, counted from its last sign of life.
STARTUP_SECONDS = 60.0

Protocol = Literal[1, 2, "auto"]
Open = Callable[[], Transport]


@contextlib.asynccontextmanager
async def connect(
    agent: Sequence[str] | Open,
    client: Client | None = None,
    *,
    protocol: Protocol = 1,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    trace: Trace | None = None,
    startup_seconds: float = STARTUP_SECONDS,
) -> AsyncIterator[ClientConnection]:
    """Start an agent and connect to it; leaving ends both.

    `agent` is a command as a list, or a function that gives a new transport. The child's environment is an allow-list
    (`duologue.transports.spawn.inherited_environment`) plus `env`. `protocol` is what is proposed: version 1, which
    released agents speak, 2, or "auto": 2, and 1 with a new start of the agent when it does not speak 2.
    Raises `AgentFailed`, `VersionMismatch`, `RpcError` (the agent refused `initialize`).
    """
    open_transport = agent if callable(agent) else _spawner(agent, cwd, env)
    versions = (V2, V1) if protocol == "auto" else (version_of(protocol),)
    connection = await _first_that_works(
        versions, open_transport, client or Client(), limits=limits, trace=trace, seconds=startup_seconds
    )
    try:
        yield connection
    finally:
        await connection.close()


def _spawner(command: Sequence[str], cwd: Path | str | None, env: Mapping[str, str] | None) -> Open:
    from duologue.transports.spawn import SpawnTransport

    if isinstance(command, str):
        raise TypeError("give the agent's command as a list of strings, such as ['some-agent', '--acp']")
    return lambda: SpawnTransport(command, cwd=cwd, env=env)


async def _first_that_works(
    versions: Sequence[Version],
    open_transport: Open,
    client: Client,
    *,
    limits: Limits | None,
    trace: Trace | None,
    seconds: float,
) -> ClientConnection:
    for version in versions[:-1]:
        connection = ClientConnection(client, limits=limits, trace=trace)
        try:
            await _start(connection, open_transport(), version, seconds)
            return connection
        except (VersionMismatch, RpcError, CodecError):
            # It does not speak this version: start it anew, for what was said so far may have confused it.
            await connection.close()
    connection = ClientConnection(client, limits=limits, trace=trace)
    try:
        await _start(connection, open_transport(), versions[-1], seconds)
    except CodecError as error:
        await connection.close()
        raise AgentFailed(
            f"the agent's answer to initialize does not fit protocol version {versions[-1].number}: {error}"
        ) from error
    except BaseException:
        await connection.close()
        raise
    return connection


async def _start(connection: ClientConnection, transport: Transport, version: Version, seconds: float) -> None:
    starting = asyncio.get_running_loop().create_task(connection.start(transport, version))
    try:
        waited = 0.0
        while True:
            done, _ = await asyncio.wait({starting}, timeout=max(seconds - waited, 0.05))
            if done:
                await starting
                return
            waited = getattr(transport, "seconds_silent", lambda: seconds)()
            if waited >= seconds:
                raise AgentFailed(f"the agent did not answer initialize and was silent for {seconds:g} s: {transport}")
    except (ConnectionClosed, TransportError) as error:
        raise AgentFailed(str(error)) from error
    finally:
        if not starting.done():
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await starting
