"""A prompt that is accepted while the agent is at work of its own gets its own turn's events and end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.agent import Agent, Turn
from duologue.protocol.common.prompt import StopReason
from duologue.testing import connected
from wire import PATIENCE


class Busy(Agent):
    """Works by itself until it is let go, and answers prompts."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.release = asyncio.Event()

    async def work(self) -> None:
        (session,) = self.connection.sessions.values()
        async with session.work() as turn:
            await turn.say("mine")
            self.begun.set()
            await self.release.wait()

    async def prompt(self, turn: Turn) -> StopReason:
        await turn.say("yours")
        return StopReason.END_TURN


@pytest.mark.parametrize("protocol", [1, 2])
async def test_the_end_of_the_agents_own_work_does_not_end_a_prompt_behind_it(protocol: Any) -> None:
    agent = Busy()
    async with connected(agent, protocol=protocol) as client:
        session = await client.new_session("/tmp")
        working = asyncio.create_task(agent.work())
        await agent.begun.wait()
        asking = asyncio.create_task(session.prompt("hello").text())
        await asyncio.sleep(0.05)
        agent.release.set()
        await working
        assert await asyncio.wait_for(asking, PATIENCE) == "yours"
