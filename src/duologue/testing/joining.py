"""An agent and a client joined in memory: a test without a process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

from duologue.agent import Agent, AgentConnection
from duologue.client import Client, ClientConnection, connect
from duologue.jsonrpc.limits import Limits
from duologue.local.entering import entered
from duologue.peer import Trace
from duologue.testing.faults import Fault
from duologue.testing.misbehaving import Misbehaving
from duologue.testing.script import Mismatch
from duologue.testing.scripted_agent import ScriptedAgent
from duologue.testing.scripted_client import ScriptedClient
from duologue.transports.base import Transport
from duologue.transports.memory import memory_pair


@entered("async with connected(...) as connection")
async def connected(
    agent: Agent,
    client: Client | None = None,
    *,
    protocol: Literal[1, 2] = 2,
    limits: Limits | None = None,
    trace: Trace | None = None,
    agent_fault: Fault | None = None,
    client_fault: Fault | None = None,
) -> AsyncIterator[ClientConnection]:
    """Serve `agent` to `client` in memory; leaving ends both.

    `protocol` is version 2, whose words both are written in; `connect` proposes 1, which is what released agents speak.
    A test of what differs runs with each.
    `limits` are those of either side; `trace` is given each message as the client sees it. A fault lets that side
    misbehave. Raises what `connect` raises, and on leaving the `Mismatch` of a side that plays a script, also when an
    error of the body came of it.
    """
    here, there = memory_pair()
    ours: Transport = here if client_fault is None else Misbehaving(here, client_fault)
    serving = AgentConnection(agent, limits=limits)
    await serving.start(there if agent_fault is None else Misbehaving(there, agent_fault))
    sides = [side for side in (client, agent) if isinstance(side, ScriptedAgent | ScriptedClient)]
    try:
        async with connect(lambda: ours, client, protocol=protocol, limits=limits, trace=trace) as connection:
            yield connection
    except Mismatch:
        raise
    except Exception as error:
        for side in sides:
            if side.script.failure is not None:
                raise side.script.failure from error
        raise
    finally:
        await serving.close()
    for side in sides:
        side.check()
