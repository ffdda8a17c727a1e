"""An agent of PyPI deepagents-acp with files, a shell that it asks for, modes and sessions on disk, after its README:
the package is a library, and the agent that it starts by itself has no shell."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from acp import run_agent
from acp.schema import SessionMode, SessionModeState
from deepagents import create_deep_agent
from deepagents.backends import LocalShellBackend
from deepagents_acp.server import AgentServerACP, AgentSessionContext
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph

MODES = SessionModeState(
    current_mode_id="ask",
    available_modes=[
        SessionMode(id="ask", name="Ask", description="Ask before each command"),
        SessionMode(id="auto", name="Auto", description="Run commands without asking"),
    ],
)


async def main() -> None:
    async with AsyncSqliteSaver.from_conn_string(str(Path.home() / "sessions.db")) as saver:

        def build(context: AgentSessionContext) -> CompiledStateGraph:
            return create_deep_agent(
                model=ChatOpenAI(model=os.environ["OPENAI_MODEL"]),
                backend=LocalShellBackend(root_dir=context.cwd, virtual_mode=True, env={"PATH": os.environ["PATH"]}),
                interrupt_on={} if context.mode == "auto" else {"execute": True},
                checkpointer=saver,
            )

        await run_agent(AgentServerACP(build, modes=MODES, load_sessions=True))


asyncio.run(main())
