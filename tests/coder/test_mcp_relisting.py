"""Lists of tools: of a server that says that it has others and then fails to list them, and of one that has no end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from acp_kit import opened, said, take_turn
from coder_kit import asks, call, says
from mcp import MCPError
from mcp_servers_kit import QUICK, offered, stub
from mcp_types import ListToolsResult, Tool
from msgspec.structs import replace

from duologue.coder.mcp.entries import Stdio
from duologue.coder.mcp.links import End
from duologue.coder.mcp.server import Server
from duologue.coder.mcp.tools import usable

OLD, NEW = (Tool(name=name, input_schema={"type": "object"}) for name in ("old", "new"))


class Idle(Server):
    """One without a connection of its own."""

    async def _own(self) -> None:
        pass


class Lists:
    """A connection that lists tools as told, one answer after the other."""

    def __init__(self, *answers: Callable[[], Any]) -> None:
        self._answers = [*answers]

    async def send_request(self, *_: Any) -> ListToolsResult:
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


async def test_a_list_without_an_end_is_cut(tmp_path: Path) -> None:
    limits = replace(QUICK, pages=3, call_seconds=30)
    async with opened(tmp_path, says(), servers=[stub("stub", "pages")], mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        assert "stub__echo" in offered(models) and len(said(session)) == 1


async def test_one_whose_tools_change_all_the_time_is_not_asked_all_the_time(tmp_path: Path) -> None:
    limits = replace(QUICK, relist_seconds=300)
    async with opened(tmp_path, says(), servers=[stub("stub", "changing")], mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        while "stub__listed2" not in offered(models):
            models.model.steps = [says()]
            await take_turn(session)
        models.model.steps = [asks(*(call("stub__echo", f"c{n}", text="x") for n in range(5))), says()]
        await take_turn(session)
        assert "stub__listed2" in offered(models)


def test_only_what_is_used_of_a_tool_is_kept_and_not_any_amount_of_it() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    tool = Tool(name="t", description="d" * 5000, input_schema=schema, output_schema=schema, _meta={"a": "b" * 10**6})
    kept = usable(tool, QUICK)
    assert kept is not None and len(kept.model_dump_json()) < QUICK.description_characters + 300
    assert kept.input_schema == schema
    large = {"type": "object", "description": "d" * QUICK.schema}
    assert usable(Tool(name="t", input_schema=large), QUICK) is None
    assert usable(Tool(name="t" * QUICK.schema, input_schema=schema), QUICK) is None
