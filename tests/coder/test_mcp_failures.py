"""MCP servers that fail, are slow or end: the user is told, and the turn goes on."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Person, Scripted, opened, said, take_turn
from coder_kit import asks, call, gone, says, written
from mcp_servers_kit import QUICK, data, offered, results, stub
from msgspec.structs import replace

from duologue.coder.limits import McpLimits
from duologue.coder.models.offline.model import OfflineModel
from duologue.protocol.base import Unknown
from duologue.protocol.v2.mcp import StdioMcpServer
from duologue.protocol.v2.updates import ToolCallUpdateEvent

#: Long for what is there at once, short for what is waited for in vain.
SHORT = replace(QUICK, wait_seconds=0.6)


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


async def test_one_that_fails_is_told_once_with_what_it_wrote_and_without_secrets(
    tmp_path: Path, protocol: int
) -> None:
    """Field bug 160: nobody was told."""
    servers = [stub("broken", "exit", "3", "--api-key", "sk-123456789", SECRET_VALUE="hunter2hunter2"), stub()]
    async with opened(tmp_path, says("one"), says("two"), protocol=protocol, servers=servers, mcp_limits=QUICK) as (
        session,
        _,
        models,
    ):
        await take_turn(session)
        await take_turn(session)
        (notice, one, two) = said(session)
        assert (one, two) == ("one", "two")
        assert "the MCP server `broken`" in notice
        assert f"{sys.executable} {servers[0].args[0]} exit 3 --api-key" in notice  # type: ignore[index]
        assert "exit code 3" in notice
        assert "cannot begin: ***" in notice
        assert "\n```\n\nCheck its entry in the settings of your client" in notice
        assert "hunter2" not in notice and "123456789" not in notice
        assert "stub__echo" in offered(models, 0)


async def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    server = StdioMcpServer(name="lost", command="/no/such/program")
    async with opened(tmp_path, says("one"), servers=[server], mcp_limits=QUICK) as (session, _, _models):
        await take_turn(session)
        assert "cannot start /no/such/program" in said(session)[0]


async def test_one_that_never_answers_holds_neither_the_session_nor_the_others_up(
    tmp_path: Path, protocol: int
) -> None:
    """Field bug 157: one silent server held session/new for three minutes."""
    servers = [stub("one"), stub("silent", "silent"), stub("two")]
    limits = McpLimits(wait_seconds=5, start_seconds=90, quiet_seconds=0.05)
    async with opened(tmp_path, says("one"), says("two"), protocol=protocol, servers=servers, mcp_limits=limits) as (
        session,
        person,
        models,
    ):
        await take_turn(session)
        assert {"one__echo", "two__echo"} <= set(offered(models))
        assert "`silent`" in said(session)[0] and said(session)[1:] == ["one"]
        assert any("silent" in str(event.title) for event in person.of(ToolCallUpdateEvent))
        # It is not waited for again.
        shown = len(person.of(ToolCallUpdateEvent))
        await take_turn(session)
        assert len(person.of(ToolCallUpdateEvent)) == shown and said(session)[2:] == ["two"]


@pytest.mark.parametrize("request_for_it", ['Use the tool echo of server stub with {"text": "x"}', "use echo"])
async def test_a_tool_of_one_that_is_still_starting_is_not_said_to_be_none(tmp_path: Path, request_for_it: str) -> None:
    """The offline model said that the session had no MCP server."""
    file = tmp_path / "now"
    models: Any = Scripted()
    models.model = OfflineModel()
    limits = replace(QUICK, wait_seconds=0.1)
    servers = [stub("stub", "late", str(file))]
    async with opened(tmp_path, models=models, servers=servers, mcp_limits=limits) as (session, _, _models):
        await take_turn(session, request_for_it)
        assert "There is no tool echo yet" in said(session)[-1] and "`stub`" in said(session)[-1]
        file.touch()
        while "gave" not in said(session)[-1] and "did not work" not in said(session)[-1]:
            await take_turn(session, request_for_it)


async def test_a_model_is_told_what_is_still_starting(tmp_path: Path) -> None:
    limits = replace(QUICK, wait_seconds=0.1)
    servers = [stub("silent", "silent")]
    async with opened(tmp_path, says(), servers=servers, mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        request = models.model.requests[0]
        assert request.starting == ("silent",) and "still starting" in request.system and "silent" in request.system


async def test_one_that_is_not_ready_in_time_is_given_up_and_ended(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    limits = replace(QUICK, start_seconds=0.5)
    silent = [stub("silent", "silent", PID_FILE=str(file))]
    async with opened(tmp_path, says("one"), servers=silent, mcp_limits=limits) as (session, _, _models):
        await take_turn(session)
        assert "it was not ready within 0.5 seconds" in said(session)[0]
        (waiting,) = session.transcript.tool_calls.values()
        assert "Not used: silent" in str(waiting.content) and "Ready" not in str(waiting.content)
        assert await gone(int(await written(file)))


async def test_a_turn_that_waits_for_servers_can_be_cancelled(tmp_path: Path, protocol: int) -> None:
    """Field bug 42: a cancel that came while the turn was set up was lost."""
    servers = [stub("silent", "silent")]
    async with opened(tmp_path, says("one"), protocol=protocol, servers=servers, mcp_limits=QUICK) as (
        session,
        person,
        models,
    ):
        turn = asyncio.create_task(take_turn(session))
        await person.told(ToolCallUpdateEvent)
        await session.cancel()
        assert await turn == "cancelled"
        assert not models.model.requests


async def test_one_that_dies_in_a_call_is_told_to_the_model_and_started_again_once(
    tmp_path: Path, protocol: int
) -> None:
    steps = [
        asks(call("stub__die", "c1")),
        asks(call("stub__echo", "c2", text="back")),
        asks(call("stub__die", "c3")),
        asks(call("stub__die", "c4")),
        asks(call("stub__echo", "c5", text="lost")),
        says("one"),
        says("two"),
    ]
    async with opened(tmp_path, *steps, protocol=protocol, servers=[stub()], mcp_limits=QUICK) as (session, _, models):
        await take_turn(session)
        told = results(models)
        assert [result.ok for result in told] == [False, True, False, False, False]
        assert "exit code 7" in told[0].text and "I am gone" in told[0].text and "once more" in told[0].text
        assert told[1].text == "back"
        assert "not started again" in told[3].text
        assert "there is no tool" in told[4].text
        await take_turn(session)
        assert offered(models) == []
        assert any("the MCP server `stub`" in text and "exit code 7" in text for text in said(session))


async def test_one_that_ends_by_itself_is_started_again(tmp_path: Path) -> None:
    about = [asks(call("stub__about", f"c{n}")) for n in range(2)]
    steps = [about[0], says("one"), about[1], says("two")]
    async with opened(tmp_path, *steps, servers=[stub()], mcp_limits=QUICK) as (session, _, models):
        await take_turn(session)
        first = data(results(models)[0])["pid"]
        os.kill(first, 9)
        assert await gone(first)
        await take_turn(session)
        second = results(models)[1]
        # It may be asked before anybody knows that it is gone.
        assert not second.ok or data(second)["pid"] != first


async def test_a_call_without_an_answer_ends_by_its_limit(tmp_path: Path) -> None:
    limits = replace(QUICK, call_seconds=0.3)
    steps = [asks(call("stub__raw", line="no message")), asks(call("stub__echo", "c2", text="well")), says()]
    async with opened(tmp_path, *steps, servers=[stub()], mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        told = results(models)
        assert "within 0.3 seconds" in told[0].text and told[1].text == "well"


async def test_one_that_heeds_no_signal_is_ended_all_the_same(tmp_path: Path) -> None:
    """Field bug 151: a server that ignored the end of its input was left behind."""
    file = tmp_path / "pid"
    limits = replace(QUICK, stop_seconds=0.1)
    async with opened(tmp_path, says(), servers=[stub("deaf", "deaf", PID_FILE=str(file))], mcp_limits=limits) as (
        session,
        _,
        models,
    ):
        await take_turn(session)
        assert offered(models)
        pid = int(await written(file))
        await session.close()
        assert await gone(pid)


@pytest.mark.req("v2-mcp-04")
async def test_an_entry_of_a_type_that_is_not_known_starts_nothing_and_is_told(tmp_path: Path) -> None:
    file = tmp_path / "started"
    raw = {"type": "_pipe", "name": "odd", "command": sys.executable, "args": ["-c", f"open({str(file)!r}, 'w')"]}
    async with opened(tmp_path, says("one"), protocol=2, servers=[Unknown(raw), stub()], mcp_limits=QUICK) as (
        session,
        _,
        models,
    ):
        await take_turn(session)
        assert "`odd`" in said(session)[0] and "_pipe" in said(session)[0]
        assert not file.exists()
        assert "stub__echo" in offered(models)


async def test_other_servers_take_the_place_of_those_before_when_a_session_is_reopened(
    tmp_path: Path, protocol: int
) -> None:
    steps = [asks(call("old__about")), says("one"), says("two")]
    kept = stub("kept")
    async with opened(tmp_path, *steps, protocol=protocol, servers=[stub("old"), kept], mcp_limits=QUICK) as (
        session,
        _,
        models,
    ):
        await take_turn(session)
        pid = data(results(models)[0])["pid"]
        again = await session.connection.resume_session(
            session.id, tmp_path, mcp_servers=[kept, stub("new")], replay=False
        )
        await take_turn(again)
        assert {name.partition("__")[0] for name in offered(models)} == {"kept", "new"}
        assert await gone(pid)


async def test_a_list_that_does_not_fit_is_told_by_its_place(tmp_path: Path) -> None:
    async with opened(tmp_path, says("one"), servers=[stub("s", "shapeless")], mcp_limits=QUICK) as (session, _, _):
        await take_turn(session)
        (told,) = [text for text in said(session) if "is not used" in text]
        assert "its answer does not fit MCP: tools.7.inputSchema: " in told
        assert "much of it" not in told and "pydantic" not in told


async def test_what_is_too_much_is_left_out_and_told(tmp_path: Path) -> None:
    limits = replace(QUICK, servers=2, tools=7)
    servers = [stub("one"), stub("two"), stub("three")]
    async with opened(tmp_path, says("one"), servers=servers, mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        names = offered(models)
        assert len(names) == 7 and not any(name.startswith("three") for name in names)
        told = "\n".join(said(session))
        assert "only the first 2 of 3" in told and "more than 7 tools" in told
        again = await session.connection.resume_session(session.id, tmp_path, mcp_servers=servers, replay=False)
        models.model.steps = [says("two")]
        await take_turn(again)
        assert "\n".join(said(again)).count("only the first 2 of 3") == 1


async def test_a_result_is_bounded(tmp_path: Path) -> None:
    limits = replace(QUICK, result=2000, result_characters=100)
    steps = [asks(call("stub__echo", "c1", text="a" * 1000)), asks(call("stub__echo", "c2", text="b" * 3000)), says()]
    async with opened(tmp_path, *steps, servers=[stub()], mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        one, two = results(models)
        assert len(one.text) < 200 and "900 characters were left out" in one.text
        assert two.text.startswith("[1 more parts were left out")


async def test_a_message_that_is_too_long_ends_the_connection(tmp_path: Path) -> None:
    limits = replace(QUICK, message=100_000, restarts=0)
    steps = [asks(call("stub__echo", text="a" * 200_000)), says()]
    person = Person()
    async with opened(tmp_path, *steps, person=person, servers=[stub()], mcp_limits=limits) as (session, _, models):
        await take_turn(session)
        assert "more than 100000 bytes" in results(models)[0].text


async def test_without_the_library_a_session_works_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from duologue.coder.mcp import hub

    def missing() -> None:
        raise ImportError("no mcp")

    monkeypatch.setattr(hub, "_import", missing)
    async with opened(tmp_path, says("one"), servers=[stub()], mcp_limits=QUICK) as (session, _, _models):
        await take_turn(session)
        assert "pip install '.[agent]'" in said(session)[0] and said(session)[1:] == ["one"]
