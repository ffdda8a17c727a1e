"""MCP servers that send or ask too much: that call fails or that server is ended, and all else goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from acp_kit import opened, said, take_turn
from coder_kit import asks, call, says
from mcp_servers_kit import QUICK, results, stub
from msgspec.structs import replace

from duologue.coder.limits import McpLimits

RESULT = '{"jsonrpc":"2.0","id":ID,"result":'
DATA = RESULT + '{"content":[],"structuredContent":{"a":'

ECHO = call("stub__echo", "last", text="well")


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def filled(id: str, before: str, piece: str, times: int, after: str) -> Any:
    return call("stub__fill", id, before=before, piece=piece, times=times, after=after + "\n")


async def test_an_answer_that_holds_too_much_fails_its_call_alone(tmp_path: Path, protocol: int) -> None:
    """The event loop stood still for most of a minute for the first; the client refused an update with the others, and
    the call was shown as in progress for ever."""
    calls = [
        filled("c0", DATA + "[", "[],", 1_000_000, "1]}}}"),
        filled("c1", RESULT + '{"content":[', '{"type":"text","text":"x"},', 20_000, '{"type":"text","text":"x"}]}}'),
        filled("c2", DATA, '{"a":', 240, "1" + "}" * 240 + "}}}"),
        filled("c3", RESULT + '{"content":[{"type":"text","text":"x","_meta":{"a":', "[", 240, "]" * 240 + "}}]}}"),
        filled("c4", DATA, "[", 100_000, ""),
    ]
    steps = [asks(*calls, ECHO), says("one")]
    async with opened(tmp_path, *steps, protocol=protocol, servers=[stub()], mcp_limits=QUICK) as (
        session,
        person,
        models,
    ):
        await take_turn(session)
        told = results(models)
        assert [result.ok for result in told] == [False] * 5 + [True]
        assert all(f"more than {QUICK.values} values" in told[n].text for n in (0, 1, 4))
        assert all(f"deeper than {QUICK.depth} levels" in told[n].text for n in (2, 3))
        assert all(person.statuses(f"c{n}")[-1] == "failed" for n in range(5))
        assert said(session) == ["one"]


async def test_what_is_just_within_the_limits_is_shown(tmp_path: Path, protocol: int) -> None:
    """As deep as a message may be, an update that holds it is no deeper than a client takes."""
    calls = [
        filled("c0", DATA, "[", QUICK.depth - 3, "]" * (QUICK.depth - 3) + "}}}"),
        filled("c1", RESULT + '{"content":[{"type":"text","text":"x","_meta":{"a":', "[", 140, "]" * 140 + "}}]}}"),
        filled("c2", RESULT + '{"content":[', '{"type":"text","text":"x"},', 1000, '{"type":"text","text":"x"}]}}'),
        filled("c3", RESULT + '{"content":[{"type":"text","text":"', '[{\\",', 100_000, '"}]}}'),
    ]
    async with opened(tmp_path, asks(*calls), says(), protocol=protocol, servers=[stub()], mcp_limits=QUICK) as (
        session,
        person,
        models,
    ):
        await take_turn(session)
        told = results(models)
        assert all(result.ok for result in told)
        assert all(person.statuses(f"c{n}")[-1] == "completed" for n in range(4))
        assert f"{1001 - QUICK.blocks} more parts were left out" in told[2].text


async def test_an_answer_that_is_no_json_or_no_text_is_not_waited_for(tmp_path: Path) -> None:
    calls = [
        filled("c0", DATA + "[", "1,,", 3, "1]}}}"),
        filled("c1", DATA, "9", 5000, "}}}"),
        filled("c2", RESULT + '{"content":[{"type":"text","text":"', "\udcff", 3, '"}]}}'),
    ]
    async with opened(tmp_path, asks(*calls, ECHO), says(), servers=[stub()], mcp_limits=QUICK) as (_, _person, models):
        await take_turn(_)
        told = results(models)
        assert [result.ok for result in told] == [False, False, True, True]
        assert all("not understood" in result.text for result in told[:2])
        assert told[2].text == "\ufffd" * 3


@pytest.mark.parametrize(
    ("piece", "limits", "why"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"ping"}\n', replace(QUICK, unread=100_000), "does not read what it is sent"),
        ('{"jsonrpc":"2.0","id":"a","method":"no/such"}\n', replace(QUICK, unread=100_000), "does not read"),
        ("x" * 1000, replace(QUICK, message=1_000_000), "a message of more than 1000000 bytes"),
    ],
    ids=["pings", "requests", "a message without an end"],
)
async def test_one_that_floods_is_ended(tmp_path: Path, piece: str, limits: McpLimits, why: str) -> None:
    """Its pings were answered without end, in memory: it never read the answers."""
    limits = replace(limits, restarts=0)
    steps = [asks(call("flood__flood", "c1", piece=piece), ECHO), says("one"), says("two")]
    servers = [stub("flood"), stub()]
    async with opened(tmp_path, *steps, servers=servers, mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        flood, echo = results(models)
        assert not flood.ok and why in flood.text
        assert echo.text == "well"
        await take_turn(session)
        assert any("the MCP server `flood`" in text and why in text for text in said(session))


@pytest.mark.parametrize(
    "piece",
    ["\n", "noise\n", "{\n", '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n'],
    ids=["blank", "noise", "broken", "notifications"],
)
async def test_one_that_says_no_end_of_nothing_holds_nobody_up(tmp_path: Path, piece: str) -> None:
    limits = replace(QUICK, call_seconds=2)
    steps = [asks(call("flood__flood", "c1", piece=piece), ECHO), says("one")]
    async with opened(tmp_path, *steps, servers=[stub("flood"), stub()], mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        flood, echo = results(models)
        assert not flood.ok and "within 2 seconds" in flood.text
        assert echo.text == "well"
