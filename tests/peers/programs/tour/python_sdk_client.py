"""A client on the official Python SDK that asks for all it can: `python_sdk_client.py CWD AGENT...`."""

import asyncio
import sys
from typing import Any

import acp
import acp.schema as schema
from python_steps import AGENT, CLIENT, STEPS, Kept, arguments

#: There is only one answer of a kind; the page's has no content.
RESULTS: dict[str, Any] = {}
for step in STEPS["client"]:
    if "result" in step:
        RESULTS.setdefault(step["method"], step["result"])
MODELS = {
    "session/request_permission": schema.RequestPermissionResponse,
    "fs/write_text_file": schema.WriteTextFileResponse,
    "fs/read_text_file": schema.ReadTextFileResponse,
    "terminal/create": schema.CreateTerminalResponse,
    "terminal/output": schema.TerminalOutputResponse,
    "terminal/release": schema.ReleaseTerminalResponse,
    "terminal/wait_for_exit": schema.WaitForTerminalExitResponse,
    "terminal/kill": schema.KillTerminalResponse,
}


def answer(method: str) -> Any:
    async def handle(self: "TourClient", **_: Any) -> Any:
        return MODELS[method].model_validate(RESULTS[method])

    return handle


class TourClient(acp.Client):
    def on_connect(self, conn: acp.Agent) -> None: ...

    async def session_update(self, **_: Any) -> None: ...

    async def complete_elicitation(self, **_: Any) -> None: ...

    async def create_elicitation(self, mode: Any, **_: Any) -> Any:
        form = hasattr(mode, "requested_schema")
        return schema.AcceptElicitationResponse(action="accept", **({"content": {"name": "Ada"}} if form else {}))


for name in MODELS:
    setattr(TourClient, CLIENT[name], answer(name))


async def main() -> None:
    kept = Kept(cwd=sys.argv[1])
    async with acp.spawn_agent_process(
        TourClient(), *sys.argv[2:], transport_kwargs={"stderr": None}, use_unstable_protocol=True
    ) as (agent, _):
        for step in STEPS["agent"]:
            method = step["method"]
            if method in AGENT:
                given = arguments(kept.filled(step["params"]))
                kept.keep(method, await getattr(agent, AGENT[method])(**given))


asyncio.run(main())
