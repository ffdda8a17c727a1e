"""Random conversations against a model of the queue: each prompt has one end, the right one, in its place."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from agent_kit import PATIENCE, Ended, Scripted, Talk
from keeper_kit import Keeper, set_model

from duologue.agent import Turn
from duologue.jsonrpc.errors import RpcError
from wire import settle


@dataclass
class Model:
    """What has to happen: the kinds of the prompts in their order, and which were cancelled before their end."""

    kinds: list[str] = field(default_factory=list)
    cancelled: set[int] = field(default_factory=set)
    ended: int = 0

    def cancel(self) -> None:
        self.cancelled.update(range(self.ended, len(self.kinds)))

    def ends(self) -> list[Ended]:
        return [self._end(number, kind) for number, kind in enumerate(self.kinds)]

    def _end(self, number: int, kind: str) -> Ended:
        if number in self.cancelled:
            return Ended("cancelled")
        return Ended(error={"code": -1, "message": "no"}) if kind == "fail" else Ended("end_turn")


class Agent(Keeper):
    """Its turns end when they are let go, one after the other."""

    def __init__(self) -> None:
        super().__init__(quick=self.work, fail=self.work, ask=self.work)
        self.going = asyncio.Semaphore(0)

    async def work(self, turn: Turn) -> None:
        await self.going.acquire()
        async with turn.tool_call(turn.text):
            await turn.say(turn.text)
        if turn.text == "fail":
            raise RpcError(-1, "no")


async def until_quiet(talk: Talk) -> None:
    await settle()
    talk.seen += talk.wire.pending()


@pytest.mark.parametrize("seed", range(40))
async def test_every_prompt_has_one_end_in_its_place(version: int, seed: int) -> None:
    chance = random.Random(seed)
    agent, model = Agent(), Model()
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    ids: list[int] = []
    for _ in range(30):
        match chance.choice(["prompt", "prompt", "prompt", "cancel", "go", "go", "change", "quiet"]):
            case "prompt":
                kind = chance.choice(["quick", "fail", "ask"])
                model.kinds.append(kind)
                ids.append(talk.prompt(session, kind))
            case "cancel":
                # What ends at the same moment may end either way: let it end first.
                await until_quiet(talk)
                model.ended = ends_so_far(talk, ids)
                model.cancel()
                talk.cancel(session)
            case "go":
                await until_quiet(talk)
                if ends_so_far(talk, ids) < len(ids):
                    agent.going.release()
            case "change":
                talk.send(talk.call(*set_model(version, session, chance.choice("ab"))))
            case "quiet":
                await until_quiet(talk)
    for _ in ids:
        agent.going.release()
    async with asyncio.timeout(PATIENCE):
        assert await talk.ended(*ids) == model.ends()
    await until_quiet(talk)
    assert ends_so_far(talk, ids) == len(ids)
    if version == 2:
        check_states(talk)
    assert await talk.turn(session, "echo") == Ended("end_turn")


def ends_so_far(talk: Talk, ids: list[int]) -> int:
    if talk.version == 2:
        return len([state for state in talk.states() if state not in ("running", "requires_action")])
    return len([message for message in talk.seen if "method" not in message and message["id"] in ids])


def check_states(talk: Talk) -> None:
    """Between two user messages stands one idle state, and nothing is said while the session is idle."""
    working = False
    for update in talk.updates():
        match update["sessionUpdate"], update.get("state"):
            case "user_message", _:
                assert not working
                working = True
            case _, "idle":
                assert working
                working = False
            case _:
                assert working


@pytest.mark.parametrize("seed", range(20))
async def test_a_client_and_an_agent_agree_on_every_end(version: int, seed: int) -> None:
    """The client of this library against its agent: iterations that are left, cancelled, queued and finished."""
    from duologue.client import connect
    from duologue.peer import ConnectionClosed
    from duologue.transports.memory import memory_pair

    chance = random.Random(seed)

    async def work(turn: Turn) -> None:
        for number in range(chance.randrange(4)):
            await turn.say(f"{turn.text.split()[1]}.{number} ")
            await asyncio.sleep(0)

    from duologue.agent import AgentConnection

    near, far = memory_pair()
    serving = AgentConnection(Scripted(work=work))
    await serving.start(far)
    said: dict[int, list[str]] = {}

    async def one(session: Any, number: int) -> None:
        said[number] = []
        leaves_after = chance.choice([None, None, 0, 2])
        turn = session.prompt(f"work {number}")
        async for event in turn:
            if event.__class__.__name__ == "AgentMessageChunk":
                said[number].append(event.content.text)
            if leaves_after is not None and len(said[number]) > leaves_after:
                break
            if chance.random() < 0.1:
                await turn.cancel()

    async with connect(lambda: near, protocol=2 if version == 2 else 1) as connection:
        session = await connection.new_session("/tmp")
        tasks = []
        for number in range(12):
            tasks.append(asyncio.create_task(one(session, number)))
            for _ in range(chance.randrange(6)):
                await asyncio.sleep(0)
            if chance.random() < 0.1:
                chance.choice(tasks).cancel()
        async with asyncio.timeout(PATIENCE):
            results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [result for result in results if isinstance(result, ConnectionClosed)] == []
        assert {type(result) for result in results} <= {type(None), asyncio.CancelledError}
        for number, pieces in said.items():
            assert pieces == [f"{number}.{index} " for index in range(len(pieces))]
        async with asyncio.timeout(PATIENCE):
            assert await session.prompt("fine").text() == "echo fine"
        await settle()
        assert connection.peer.inbound.undelivered == 0
    await serving.close()
