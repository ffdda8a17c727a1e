"""Connecting to an agent: start its command or take a transport, and settle the version."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from duologue.client.client import Client
from duologue.client.connection import ClientConnection
from duologue.client.errors import AgentFailed, LoginFailed, VersionMismatch
from duologue.codec import CodecError, NotEncodable
from duologue.jsonrpc.errors import JsonRpcError, RpcError
from duologue.jsonrpc.limits import Limits
from duologue.local.arguments import as_path, variables
from duologue.local.entering import entered
from duologue.peer import ConnectionClosed
from duologue.peer.link import Trace
from duologue.protocol.version import SUPPORTED, V1, V2, Version
from duologue.transports.base import Closed, Transport, TransportError

#: How long an agent may take to answer `initialize`, in seconds, counted from its last sign of life.
STARTUP_SECONDS = 60.0
#: Lines that are no messages and may come before that answer. It is looked at every so many seconds.
STARTUP_NOISE = 10_000
LOOK_SECONDS = 2.0

Protocol = Literal[1, 2, "auto"]
Open = Callable[[], Transport]
#: The same with further variables for the environment of the agent.
OpenWith = Callable[[Mapping[str, str]], Transport]


@entered("async with connect(...) as agent")
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
    (`duologue.processes.environment.child_environment`) plus `env`. `protocol` is what is proposed: version 1, which
    released agents speak, 2, or "auto": 2, and 1 with a new start of the agent when it does not speak 2.
    Raises `AgentFailed` (also when the answer to `initialize` is broken or does not fit), `VersionMismatch`, `RpcError`
    (the agent refused `initialize`), and `TypeError`, `ValueError`, `CodecError` for arguments, or a client's word of
    itself, that are of a wrong type.
    """
    open_transport, command = _way_to(agent, cwd, env)
    if not isinstance(startup_seconds, int | float) or not startup_seconds >= 0:
        raise ValueError(f"startup_seconds must be a number, zero or more, not {startup_seconds!r}")
    versions = (V2, V1) if protocol == "auto" else (_version_of(protocol),)
    client = Client() if client is None else client
    connection = await _first_that_works(
        versions,
        open_transport,
        client,
        command,
        limits=limits,
        trace=trace,
        seconds=startup_seconds,
    )
    try:
        yield connection
    finally:
        await connection.close()


def _way_to(
    agent: object, cwd: Path | str | None, env: Mapping[str, str] | None
) -> tuple[OpenWith, Sequence[str] | None]:
    """How an agent is reached, and its command if it has one. Raises `TypeError` for what is neither."""
    if callable(agent) and (not isinstance(agent, type) or hasattr(agent, "pause_reading")):
        return _opener(agent), None
    if isinstance(agent, str) or not isinstance(agent, Sequence):
        kind = agent if isinstance(agent, type) else type(agent)
        raise TypeError(
            f"connect takes the agent's command as a list of strings, such as ['some-agent', '--acp'], or a function "
            f"that gives a transport, not {kind.__name__}; for an Agent of this process see duologue.testing.connected"
        )
    if not agent or not all(isinstance(word, str | os.PathLike) for word in agent):
        raise TypeError("the agent's command is a list of strings, such as ['some-agent', '--acp']")
    command = [os.fspath(word) for word in agent]
    return _spawner(command, cwd, env), command


def _opener(open_transport: Open) -> OpenWith:
    def opened(variables: Mapping[str, str]) -> Transport:
        if variables:
            raise LoginFailed("variables can be given to an agent that is started by its command; this one is not")
        made = open_transport()
        if not callable(getattr(made, "pause_reading", None)):
            raise TypeError(f"the function given to connect must return a Transport, not {type(made).__name__}")
        return made

    return opened


def _spawner(command: Sequence[str], cwd: Path | str | None, env: Mapping[str, str] | None) -> OpenWith:
    from duologue.transports.spawn import SpawnTransport

    given = variables(env, "env")
    cwd = None if cwd is None else as_path(cwd, "cwd")

    def spawned(further: Mapping[str, str]) -> Transport:
        # Each start has what a login gave to the one before.
        given.update(further)
        return SpawnTransport(command, cwd=cwd, env=dict(given))

    return spawned


async def _first_that_works(
    versions: Sequence[Version],
    open_transport: OpenWith,
    client: Client,
    command: Sequence[str] | None,
    *,
    limits: Limits | None,
    trace: Trace | None,
    seconds: float,
) -> ClientConnection:
    for version in versions:
        connection = ClientConnection(client, limits=limits, trace=trace)
        connection.command = command
        connection.restart = partial(_begin, connection, open_transport, version, seconds)
        try:
            await connection.restart({})
        except BaseException as error:
            await connection.close()
            if version is versions[-1] or not _may_be_the_version(error):
                raise
            # Started anew for the next version: what was said so far may have confused it.
        else:
            break
    return connection


async def _begin(
    connection: ClientConnection, opened: OpenWith, version: Version, seconds: float, variables: Mapping[str, str]
) -> None:
    await _start(connection, opened(variables), version, seconds)


def _may_be_the_version(error: BaseException) -> bool:
    """Whether an agent may have failed only since it does not speak the version."""
    return isinstance(error, VersionMismatch | RpcError) or (isinstance(error, AgentFailed) and error.spoke_to)


async def _start(connection: ClientConnection, transport: Transport, version: Version, seconds: float) -> None:
    starting = asyncio.get_running_loop().create_task(connection.start(transport, version))
    try:
        await _answered(starting, connection, transport, seconds)
    except (ConnectionClosed, TransportError) as error:
        raise AgentFailed(str(error), spoke_to=isinstance(error, ConnectionClosed)) from error
    except (RpcError, NotEncodable):
        # An answer, and what cannot be sent: the client's own word of itself, and no fault of the agent.
        raise
    except (CodecError, JsonRpcError) as error:
        hint = "; if it speaks version 1 only, try protocol=1" if version is V2 else ""
        problem = f"the agent's answer to initialize does not fit protocol version {version.number}: {error}{hint}"
        raise AgentFailed(problem, spoke_to=True) from error
    finally:
        if not starting.done():
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await starting


async def _answered(
    starting: asyncio.Task[None], connection: ClientConnection, transport: Transport, seconds: float
) -> None:
    """Wait for the handshake. Raises `AgentFailed` for an agent that is silent, or writes and means something else."""
    began = time.monotonic()
    silent: Callable[[], float] = getattr(transport, "seconds_silent", lambda: time.monotonic() - began)
    waited = 0.0
    while waited < seconds:
        done, _ = await asyncio.wait({starting}, timeout=max(min(seconds - waited, LOOK_SECONDS), 0.05))
        if done:
            return await starting
        if connection.peer.link.engine.noise_count > STARTUP_NOISE:
            problem = "the agent did not answer initialize and wrote thousands of lines that are no messages"
            raise _unanswered(problem, transport, spoke_to=True)
        waited = silent()
    raise _unanswered(f"the agent did not answer initialize and was silent for {seconds:g} s", transport)


def _unanswered(problem: str, transport: Transport, *, spoke_to: bool = False) -> AgentFailed:
    said = getattr(transport, "stderr_tail", str)()
    # Only a transport with a command of its own has a text of its own.
    command = None if type(transport).__str__ is object.__str__ else str(transport)
    return AgentFailed(str(Closed(problem, command=command, stderr_tail=said)), spoke_to=spoke_to)


def _version_of(number: int) -> Version:
    """A supported version by its number. Raises `ValueError`."""
    for version in SUPPORTED:
        if version.number == number:
            return version
    known = ", ".join(str(version.number) for version in SUPPORTED)
    raise ValueError(f"there is no protocol version {number!r}: give one of {known}, or 'auto'")
