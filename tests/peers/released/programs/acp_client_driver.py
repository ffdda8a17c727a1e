"""Drives an agent by the released acp-client, in whose environment it runs: acp_client_driver.py FILE [COMMAND ...].
The file is JSON with

    command, cwd   the agent; its command may follow the file instead
    ask            prompts, asked one after the other in one session
    session        the id of an earlier session to carry on, or null
    permission     what a question is answered with: "allow", "none" (the client has no handler) or "wait"
    cancel         "asking" or "working": cancel the first turn when it asks, or when its first tool call is told
    stop           end the agent when the first tool call is told, in the middle of the turn

It prints one line: replies, session, asked (titles), updates (kinds in order) and error.
"""

import asyncio
import json
import sys
from pathlib import Path

from acp_client import Agent, AgentError


async def drive(told):
    asked, kinds, replies = [], [], []
    working, asking = asyncio.Event(), asyncio.Event()

    async def permission(request):
        asked.append(request["toolCall"].get("title"))
        asking.set()
        if told.get("permission") == "wait":
            await asyncio.Event().wait()
        return next(option["optionId"] for option in request["options"] if option["kind"] == "allow_once")

    def hear(update):
        kinds.append(update["sessionUpdate"])
        if update["sessionUpdate"] == "tool_call_update" and update.get("status") == "in_progress":
            working.set()

    handler = None if told.get("permission", "none") == "none" else permission
    agent = Agent(told["command"], Path(told["cwd"]), permission=handler, session=told.get("session"))
    error = None
    try:
        await agent.start(hear)
        for number, text in enumerate(told["ask"]):
            turn = asyncio.ensure_future(agent.ask(text, on_update=hear))
            if number == 0 and told.get("cancel"):
                await (asking if told["cancel"] == "asking" else working).wait()
                agent.cancel()
            if number == 0 and told.get("stop"):
                await working.wait()
                await agent.stop()
            replies.append(await turn)
    except AgentError as failure:
        error = str(failure)
    session = agent.session
    await agent.stop()
    return {"replies": replies, "session": session, "asked": asked, "updates": kinds, "error": error}


order = json.loads(Path(sys.argv[1]).read_text())
print(json.dumps(asyncio.run(drive({**order, "command": sys.argv[2:] or order["command"]}))))
