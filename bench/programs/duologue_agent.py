"""The measured agent on Duologue: streams chunks or asks for permissions as the prompt says."""

import asyncio

from duologue.agent import Agent, Turn, run


class Measured(Agent):
    async def prompt(self, turn: Turn) -> None:
        match turn.text[:64].split():
            case ["stream", count, size]:
                await self.stream(turn, int(count), int(size))
            case ["roundtrip", count, in_flight]:
                each = int(count) // int(in_flight)
                await asyncio.gather(*(self.ask(turn, each) for _ in range(int(in_flight))))

    async def stream(self, turn: Turn, count: int, size: int) -> None:
        text = "x" * size
        for _ in range(count):
            await turn.say(text)

    async def ask(self, turn: Turn, count: int) -> None:
        for _ in range(count):
            await turn.ask_permission("Write a file")


run(Measured())
