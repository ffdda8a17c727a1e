"""The measured client on the official Python SDK: python_sdk_client.py JOB [A [B [STALL]]] -- AGENT..."""

import asyncio
import json
import resource
import sys
import time
from typing import Any

import acp

LIMIT = 256 * 1024 * 1024


class Measured(acp.Client):
    handled = 0
    gate: asyncio.Future[None] | None = None

    def on_connect(self, conn: acp.Agent) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if self.gate:
            await self.gate
        if isinstance(update, acp.schema.AgentMessageChunk):
            self.handled += 1

    async def request_permission(self, **_: Any) -> acp.RequestPermissionResponse:
        self.handled += 1
        outcome = {"outcome": "selected", "optionId": "allow"}
        return acp.RequestPermissionResponse.model_validate({"outcome": outcome})


async def ask(agent: Any, count: int) -> None:
    for _ in range(count):
        await agent.list_sessions()


async def work(agent: Any, session_id: str, job: str, a: int, b: int) -> None:
    if job == "ask":
        await asyncio.gather(*(ask(agent, a // b) for _ in range(b)))
        return
    await agent.prompt(session_id=session_id, prompt=[acp.text_block(f"{job} {a} {b}")])


async def main() -> None:
    split = sys.argv.index("--")
    job, a, b, stall = [*sys.argv[1:split], *["0"] * 3][:4]
    client = Measured()
    async with acp.spawn_agent_process(client, *sys.argv[split + 1 :], transport_kwargs={"limit": LIMIT}) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        session = await agent.new_session(cwd="/tmp", mcp_servers=[])
        await work(agent, session.session_id, job, int(a) // 10, int(b))
        client.handled = 0
        if float(stall):
            client.gate = asyncio.ensure_future(asyncio.sleep(float(stall)))
        cpu, wall = time.process_time(), time.perf_counter()
        await work(agent, session.session_id, job, int(a), int(b))
        figures = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "count": client.handled}
    figures["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures))


asyncio.run(main())
