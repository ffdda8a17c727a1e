"""Who forgets `async with`, or `await`, is told the line to write."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from duologue import Agent, Turn, connect
from duologue.testing import Answers, connected, wire_to


class Works(Agent):
    """Does something with what a turn gives, and says what came of it."""

    def __init__(self, work: Callable[[Turn], Any]) -> None:
        self.work = work

    async def prompt(self, turn: Turn) -> None:
        for mistake in (await_it, with_it):
            with pytest.raises(TypeError) as raised:
                await mistake(self.work(turn))
            await turn.say(f"{raised.value}. ")


async def await_it(made: Any) -> None:
    await made


async def with_it(made: Any) -> None:
    with made:
        pass


OPENED: list[tuple[Callable[[], Any], str]] = [
    (lambda: connect(["no-such-agent"]), "write async with connect(...) as agent"),
    (lambda: connected(Agent()), "write async with connected(...) as connection"),
    (lambda: wire_to(Agent()), "write async with wire_to(...) as wire"),
]


@pytest.mark.parametrize(("opened", "told"), OPENED)
async def test_what_is_not_entered_names_the_line_to_write(opened: Callable[[], Any], told: str) -> None:
    with pytest.raises(TypeError) as raised:
        await opened()
    assert str(raised.value) == told
    with pytest.raises(TypeError) as raised, opened():
        pass
    assert str(raised.value) == told
    with pytest.raises(AttributeError) as missing:
        opened().new_session  # noqa: B018
    assert str(missing.value) == f"no new_session before it is entered: {told}"


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (lambda turn: turn.tool_call("Read"), "async with turn.tool_call(...) as call"),
        (lambda turn: turn.client_terminal("make"), "async with turn.client_terminal(...) as terminal"),
        (lambda turn: turn.session.work(), "async with session.work() as turn"),
    ],
)
async def test_what_a_turn_gives_names_it_too(work: Callable[[Turn], Any], told: str) -> None:
    async with connected(Works(work)) as connection:
        session = await connection.new_session(".")
        assert await session.prompt("go").text() == f"write {told}. write {told}. "


class Quiet(Agent):
    async def prompt(self, turn: Turn) -> None: ...


async def test_a_prompt_that_is_neither_awaited_nor_iterated_is_warned_of() -> None:
    async with connected(Quiet(), Answers()) as connection:
        session = await connection.new_session(".")
        with pytest.warns(RuntimeWarning, match=r"a prompt was not sent: await session\.prompt"):
            session.prompt("hello")
            gc.collect()
        with warnings.catch_warnings(action="error"):
            await session.prompt("hello")
            async for _ in session.prompt("hello"):
                pass
            await session.prompt("hello").cancel()
            gc.collect()
