"""Serving an agent over this process's standard input and output."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import threading

from duologue.agent.agent import Agent
from duologue.agent.connection import AgentConnection
from duologue.jsonrpc.limits import Limits
from duologue.peer.link import Trace
from duologue.processes.stops import stop_signals
from duologue.transports.base import Transport
from duologue.transports.claim import claim_stdio

log = logging.getLogger("duologue.agent")

#: How long work may still hold up the end of the process, in seconds.
LINGER_SECONDS = 2.0


async def serve(
    agent: Agent, transport: Transport | None = None, *, limits: Limits | None = None, trace: Trace | None = None
) -> None:
    """Serve `agent` until the client goes away, over standard input and output unless given another transport.

    Nothing but protocol messages reaches standard output from then on (see `duologue.transports.claim`).
    """
    connection = AgentConnection(agent, limits=limits, trace=trace)
    if transport is None:
        from duologue.transports.pipes import stdio_transport

        transport = stdio_transport()
    await _serve(connection, transport)


async def _serve(connection: AgentConnection, transport: Transport) -> None:
    await connection.start(transport)
    await connection.wait_ended()
    await connection.close()


def run(agent: Agent, *, limits: Limits | None = None, trace: Trace | None = None) -> None:
    """Serve `agent` over standard input and output; returns when the client has gone away. At a terminal it says
    that it waits for one.

    SIGTERM, SIGINT and SIGHUP end it in order, a second one at once. Work that goes on in spite of its cancellation, a
    thread among them, ends with the process `LINGER_SECONDS` later.
    """
    _check_no_loop()
    connection = AgentConnection(agent, limits=limits, trace=trace)
    if os.isatty(0):
        waiting = "waiting for a client on standard input, such as duologue run --agent CMD (Ctrl-C ends it)"
        print(f"{agent.name}: {waiting}", file=sys.stderr, flush=True)
    claim_stdio()
    deadline = threading.Timer(LINGER_SECONDS, _leave)
    deadline.daemon = True
    with contextlib.ExitStack() as until_end:
        asyncio.run(_run(connection, deadline, until_end))
    deadline.cancel()


def _check_no_loop() -> None:
    """Raises RuntimeError in a running event loop, before standard output is taken from a program that goes on."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("an event loop runs here already: write await serve(agent) in place of run(agent)")


async def _run(connection: AgentConnection, deadline: threading.Timer, until_end: contextlib.ExitStack) -> None:
    from duologue.transports.pipes import stdio_transport

    ending: list[asyncio.Task[None]] = []

    def end(number: int) -> None:
        ending.append(asyncio.ensure_future(connection.close()))

    until_end.enter_context(stop_signals(end, _end_at_once))
    await _serve(connection, stdio_transport())
    # What is left holds up the end of the event loop.
    deadline.start()


def _leave() -> None:
    log.error("some work of the agent did not end with the connection and was left behind")
    sys.stderr.flush()
    os._exit(1)


def _end_at_once(number: int) -> None:
    os._exit(128 + number)
