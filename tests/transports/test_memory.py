"""The transport in memory, used wrongly."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

import pytest

from duologue import Agent, Turn
from duologue.testing import connected
from wire import PATIENCE


class FromThread(Agent):
    async def prompt(self, turn: Turn) -> None:
        if turn.text == "thread":
            await asyncio.to_thread(self.speak, turn)
        await turn.say("said")

    def speak(self, turn: Turn) -> None:
        with suppress(RuntimeError):
            turn.say("from a thread")


@pytest.mark.parametrize("protocol", [1, 2])
async def test_speaking_from_another_thread_does_not_hold_up_what_is_said_later(protocol: Literal[1, 2]) -> None:
    async with connected(FromThread(), protocol=protocol) as connection, asyncio.timeout(PATIENCE):
        session = await connection.new_session(".")
        for text in ("before", "thread", "after"):
            assert (await session.prompt(text).text()).endswith("said")
