"""A start that is cancelled at any point leaves no child and no open descriptor."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from duologue.client import connect
from procs import children, open_descriptors

AGENT = "from duologue.agent import Agent, run\nrun(Agent())\n"


async def use(command: list[str]) -> None:
    async with connect(command):
        await asyncio.sleep(0)


async def test_connecting_may_be_cancelled_at_every_step(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    command = [sys.executable, str(agent)]
    await use(command)
    before, fds = children(), open_descriptors()
    for steps in range(0, 24, 2):
        task = asyncio.create_task(use(command))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled(), task.exception()
    for _ in range(500):
        if children() == before:
            break
        await asyncio.sleep(0.01)
    assert children() == before
    assert open_descriptors() <= fds + 2
