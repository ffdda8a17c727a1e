"""A server that says that it has other tools, and then fails to list them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp_servers_kit import QUICK
from mcp_types import ListToolsResult, Tool
from msgspec.structs import replace

from duologue.coder.mcp.entries import Stdio
from duologue.coder.mcp.links import End
from duologue.coder.mcp.server import Server

OLD, NEW = (Tool(name=name, input_schema={"type": "object"}) for name in ("old", "new"))


class Idle(Server):
    """One without a connection of its own."""

    async def _own(self) -> None:
        pass


class Lists:
    """A connection that lists tools as told, one answer after the other."""

    def __init__(self, *answers: Callable[[], Any]) -> None:
        self._answers = [*answers]

    async def list_tools(self, **_: Any) -> ListToolsResult:
        await asyncio.sleep(0)
        found = self._answers.pop(0)()
        return ListToolsResult(tools=[await found if asyncio.iscoroutine(found) else found])


def refuse(message: str) -> Callable[[], Any]:
    def answer() -> Any:
        raise MCPError(code=-32000, message=message)

    return answer


async def never() -> Tool:
    await asyncio.Event().wait()
    return NEW


@pytest.mark.parametrize("answer", [refuse("not now, sk-abcdefgh123"), never], ids=["refused", "slow"])
async def test_the_tools_of_before_stay(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, answer: Callable[[], Any]
) -> None:
    changed: list[str] = []
    end = End()
    limits = replace(QUICK, start_seconds=0.02)
    server = Idle(Stdio("stub", "stub"), tmp_path, limits, lambda: changed.append(server.tools[0].name))
    server.tools = (OLD,)
    session: Any = Lists(answer, lambda: NEW)
    await server._list_again(session)
    assert server.tools == (OLD,) and not changed
    assert "stub" in caplog.text and "abcdefgh123" not in caplog.text
    server.limits = QUICK
    living = asyncio.create_task(server._until_end(session, end))
    server._relist.set()
    while not changed:  # noqa: ASYNC110 (nothing else tells of it)
        await asyncio.sleep(0)
    end.tell("it has ended")
    await living
    assert changed == ["new"]


async def test_one_that_has_ended_meanwhile_is_not_kept(tmp_path: Path) -> None:
    server = Idle(Stdio("stub", "stub"), tmp_path, QUICK, lambda: None)
    session: Any = Lists(refuse("Connection closed"))
    with pytest.raises(MCPError):
        await server._list_again(session)
