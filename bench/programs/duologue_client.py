"""The measured client on Duologue: duologue_client.py --protocol=N JOB [A [B [STALL]]] -- AGENT..."""

import asyncio
import json
import resource
import sys
import time

from duologue.client import Client, ClientConnection, Session, connect
from duologue.protocol.common.permission import SelectedOutcome
from duologue.protocol.v2.permission import RequestPermissionRequest
from duologue.protocol.v2.updates import AgentMessageChunk


class Measured(Client):
    asked = 0

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> SelectedOutcome:
        self.asked += 1
        return SelectedOutcome(option_id=request.options[0].option_id)


async def ask(agent: ClientConnection, count: int) -> None:
    for _ in range(count):
        await agent.list_sessions()


async def work(agent: ClientConnection, session: Session, job: str, a: int, b: int, stall: float = 0) -> int:
    """Do the job once; returns the chunks seen."""
    if job == "ask":
        await asyncio.gather(*(ask(agent, a // b) for _ in range(b)))
        return 0
    chunks = 0
    async for event in session.prompt(f"{job} {a} {b}"):
        if isinstance(event, AgentMessageChunk):
            chunks += 1
            if stall:
                await asyncio.sleep(stall)
                stall = 0
    return chunks


async def main() -> None:
    protocol, *rest = sys.argv[1:]
    split = rest.index("--")
    job, a, b, stall = [*rest[:split], *["0"] * 3][:4]
    client = Measured()
    async with connect(rest[split + 1 :], client, protocol=2 if protocol.endswith("2") else 1) as agent:
        session = await agent.new_session("/tmp")
        await work(agent, session, job, int(a) // 10, int(b))
        client.asked = 0
        cpu, wall = time.process_time(), time.perf_counter()
        chunks = await work(agent, session, job, int(a), int(b), float(stall))
        seconds, used = time.perf_counter() - wall, time.process_time() - cpu
        figures = {"seconds": seconds, "cpu": used, "count": chunks + client.asked}
    figures["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures))


asyncio.run(main())
