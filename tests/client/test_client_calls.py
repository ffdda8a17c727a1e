"""Calls of a client: what they send, and what is refused before anything is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from client_kit import Host, Run

from duologue.client import Client, NotOffered, handles
from duologue.client.connection import EMPTY_PAGES
from duologue.jsonrpc.errors import RpcError
from duologue.protocol import v2
from duologue.protocol.base import Extensible
from duologue.protocol.common.mcp import AcpMcpServer
from duologue.protocol.method import Notification, Request
from duologue.protocol.v2.mcp import HttpMcpServer, StdioMcpServer
from wire import PATIENCE, settle, until

IMAGE = v2.ImageBlock(data="eA==", mime_type="image/png")


def said(version: int, **more: Any) -> dict[str, Any]:
    """The announcement of an agent that offers these session capabilities and no others."""
    if version == 2:
        return {"capabilities": {"session": more}}
    more = dict(more)
    prompt, mcp = more.pop("prompt", {}), more.pop("mcp", {})
    as_flags = dict.fromkeys(prompt, True)
    told = {"promptCapabilities": as_flags, "mcpCapabilities": dict.fromkeys(mcp, True), "sessionCapabilities": more}
    return {"agentCapabilities": told}


async def refused(host: Host, call: Awaitable[Any]) -> None:
    """A call that the agent has not offered: nothing is sent."""
    with pytest.raises(NotOffered):
        await asyncio.wait_for(call, PATIENCE)
    await host.wire.silence()


# --- gates ------------------------------------------------------------------------------------------------------------


@pytest.mark.req(
    *("v1-session-03", "v1-session-10", "v1-session-16", "all-session-21", "v1u-session-01", "v2u-session-01"),
    *("v1-auth-07", "v2-auth-03", "v2-auth-07"),
)
async def test_what_is_not_offered_is_not_asked(version: int, tmp_path: Path) -> None:
    host = await Host.begin(version, **said(version))
    agent = host.connection
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: agent.delete_session("x"),
        lambda: agent.fork_session("x", tmp_path),
        host.session.fork,
        agent.logout,
        lambda: agent.login("x"),
    ]
    if version == 1:
        calls += [agent.list_sessions, lambda: agent.resume_session("x", tmp_path, replay=False)]
        calls += [lambda: agent.resume_session("x", tmp_path), lambda: agent.stored_sessions().__anext__()]
    for call in calls:
        await refused(host, call())


@pytest.mark.req("v1-session-03")
async def test_an_agent_that_resumes_and_does_not_load_tells_no_history(tmp_path: Path) -> None:
    host = await Host.begin(1, **said(1, resume={}))
    await refused(host, host.connection.resume_session("x", tmp_path))
    asking = asyncio.create_task(host.connection.resume_session("x", tmp_path, replay=False))
    host.answer(await host.wire.read_method("session/resume"), {})
    assert (await asyncio.wait_for(asking, PATIENCE)).id == "x"


async def test_an_agent_without_sessions_begins_none(tmp_path: Path) -> None:
    host = Host(2, Client(), None)
    await host.wire.open()
    await host.handshake(capabilities={})
    await refused(host, host.connection.new_session(tmp_path))
    await refused(host, host.connection.list_sessions())


@pytest.mark.req("all-prompt-01")
async def test_a_block_that_is_not_offered_is_not_sent(version: int) -> None:
    blocks: dict[str, Any] = {
        "image": IMAGE,
        "audio": v2.AudioBlock(data="eA==", mime_type="audio/wav"),
        "embeddedContext": v2.ResourceBlock(resource=v2.TextResourceContents(text="x", uri="file:///x")),
    }
    marker: Any = {}
    for name, block in blocks.items():
        others = {other: marker for other in blocks if other != name}
        host = await Host.begin(version, **said(version, prompt=others))
        await refused(host, host.session.prompt([block]).text())
        assert not host.session.prompts.open()
        offering = await Host.begin(version, **said(version, prompt={name: marker}))
        run = Run(offering.session.prompt([v2.TextBlock(text="see"), block]))
        request = await offering.wire.read_method("session/prompt")
        assert len(request["params"]["prompt"]) == 2
        offering.accept(request)
        offering.end(request)
        assert await run.end() == "end_turn"


@pytest.mark.req("all-session-24")
async def test_roots_and_servers_that_are_not_offered_are_not_sent(version: int, tmp_path: Path) -> None:
    host = await Host.begin(version, **said(version, resume={}, **({"fork": {}} if version == 2 else {})))
    agent, http = host.connection, HttpMcpServer(name="h", url="https://x")
    several: list[dict[str, Any]] = [
        {"additional_directories": [tmp_path]},
        {"mcp_servers": [http]},
        {"mcp_servers": [AcpMcpServer(name="a", server_id="1")]},
        *([{"mcp_servers": [StdioMcpServer(name="s", command="/bin/x")]}] if version == 2 else []),
    ]
    for more in several:
        await refused(host, agent.new_session("/tmp", **more))
        await refused(host, agent.resume_session("x", "/tmp", replay=False, **more))


@pytest.mark.req("all-session-25", "all-session-26", "all-session-03")
async def test_each_further_root_is_sent_once_and_absolute(version: int, tmp_path: Path) -> None:
    host = await Host.begin(version)
    given: list[Path | str] = [tmp_path / "a", tmp_path, "b", str(tmp_path / "a")]
    opening = asyncio.create_task(host.connection.new_session(tmp_path, additional_directories=given))
    request = await host.wire.read_method("session/new")
    assert request["params"]["cwd"] == str(tmp_path)
    assert request["params"]["additionalDirectories"] == [str(tmp_path / "a"), str(Path.cwd() / "b")]
    host.answer(request, {"sessionId": "R"})
    session = await asyncio.wait_for(opening, PATIENCE)
    assert session.additional_directories == (tmp_path / "a", Path.cwd() / "b")


@pytest.mark.req("v1-session-01", "v1-session-04", "v1-session-12", "v2-session-01")
async def test_servers_are_named_in_version_1_also_when_there_are_none(version: int, tmp_path: Path) -> None:
    host = await Host.begin(version)
    for replay, method in ((True, "session/load"), (False, "session/resume")):
        asking = asyncio.create_task(host.connection.resume_session("x", tmp_path, replay=replay))
        request = await host.wire.read_method(method if version == 1 else "session/resume")
        assert request["params"]["sessionId"] == "x"
        assert request["params"]["cwd"] == str(tmp_path)
        assert request["params"]["mcpServers"] == []
        host.answer(request, {})
        await asyncio.wait_for(asking, PATIENCE)


# --- sessions ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-session-14", "all-session-15")
@pytest.mark.parametrize("end", [{}, {"nextCursor": None}])
async def test_field_bug_83_all_sessions_are_gone_through_page_by_page(version: int, end: dict[str, Any]) -> None:
    host = await Host.begin(version)
    found: list[str] = []

    async def browse() -> None:
        async for entry in host.connection.stored_sessions(cwd="/tmp"):
            found.append(entry.session_id)

    browsing = asyncio.create_task(browse())
    cursors = ["c/1 \u00fc==", "  2 "]
    for number, cursor in enumerate([None, *cursors]):
        request = await host.wire.read_method("session/list")
        assert request["params"].get("cursor") == cursor
        assert request["params"]["cwd"] == "/tmp"
        entry = {"sessionId": str(number), "cwd": "/tmp"}
        host.answer(request, {"sessions": [entry], **({"nextCursor": cursors[number]} if number < 2 else end)})
    await asyncio.wait_for(browsing, PATIENCE)
    assert found == ["0", "1", "2"]


@pytest.mark.parametrize("cursors", [["same", "same"], ["a", "b", "a"]], ids=["itself", "an earlier one"])
async def test_a_cursor_that_leads_back_ends_the_list(version: int, cursors: list[str]) -> None:
    host = await Host.begin(version)
    stored = host.connection.stored_sessions()
    for cursor in cursors:
        asking = asyncio.ensure_future(anext(stored))
        request = await host.wire.read_method("session/list")
        host.answer(request, {"sessions": [{"sessionId": "x", "cwd": "/tmp"}], "nextCursor": cursor})
        await asyncio.wait_for(asking, PATIENCE)
    ending = asyncio.ensure_future(anext(stored))
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(ending, PATIENCE)


async def test_pages_without_sessions_do_not_go_on_for_ever(version: int) -> None:
    host = await Host.begin(version)
    asking = asyncio.ensure_future(anext(host.connection.stored_sessions()))
    for number in range(EMPTY_PAGES):
        host.answer(await host.wire.read_method("session/list"), {"sessions": [], "nextCursor": f"{number}"})
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(asking, PATIENCE)


async def test_a_session_is_forked(version: int, tmp_path: Path) -> None:
    host = await Host.begin(version, cwd=tmp_path, **said(version, fork={}))
    forking = asyncio.create_task(host.session.fork())
    request = await host.wire.read_method("session/fork")
    assert (request["params"]["sessionId"], request["params"]["cwd"]) == ("S", str(tmp_path))
    # What is told of the copy before it is named is not lost.
    host.send(host.chunk("early", "F"))
    host.answer(request, {"sessionId": "F"})
    forked = await asyncio.wait_for(forking, PATIENCE)
    assert forked is host.connection.sessions["F"] and forked is not host.session
    assert [message.text for message in forked.transcript.messages] == ["early"]


async def test_a_deleted_session_is_over(version: int) -> None:
    host = await Host.begin(version, **said(version, delete={}))
    run, request = await host.prompt()
    host.accept(request)
    deleting = asyncio.create_task(host.connection.delete_session("S"))
    host.answer(await host.wire.read_method("session/delete"), {})
    await asyncio.wait_for(deleting, PATIENCE)
    assert await run.end() == "cancelled"
    assert host.connection.sessions == {}


@pytest.mark.req("v1-modes-03")
async def test_a_mode_that_is_not_offered_is_not_set(version: int) -> None:
    host = await Host.begin(version)
    for modes in ([], ["ask", "code"]):
        if modes:
            values = [{"value": mode, "name": mode} for mode in modes]
            option = {"id" if version == 1 else "configId": "mode", "name": "Mode", "category": "mode"}
            whole = {**option, "type": "select", "currentValue": "ask", "options": values}
            host.send(host.update({"sessionUpdate": "config_option_update", "configOptions": [whole]}))
            await until(lambda: host.session.config_options)
        with pytest.raises(ValueError, match="no mode"):
            await host.session.set_mode("fly")
        await host.wire.silence()


# --- a second prompt --------------------------------------------------------------------------------------------------


async def test_steering_cancels_what_runs_and_then_prompts(version: int) -> None:
    host = await Host.begin(version)
    first, one = await host.prompt("one")
    second = Run(host.session.prompt("two"))
    host.accept(one)
    if version == 2:
        host.answer(await host.wire.read_method("session/prompt"), {})
    host.say("x")
    await until(lambda: first.said == "x")
    steering = Run(host.session.prompt("three", while_running="steer"))
    await host.wire.read_method("session/cancel")
    await settle()
    assert await host.heard("session/prompt") == []
    if version == 1:
        host.end(one, "cancelled")
    else:
        host.send(host.state("idle", stopReason="cancelled"), host.user_message("two"))
        host.send(host.state("idle", stopReason="cancelled"))
    three = await host.wire.read_method("session/prompt")
    assert three["params"]["prompt"][0]["text"] == "three"
    host.accept(three)
    host.say("y")
    host.end(three)
    assert await steering.end() == "end_turn"
    assert [await first.end(), await second.end()] == ["cancelled"] * 2
    assert (first.said, steering.said) == ("x", "y")


async def test_a_turn_that_is_cancelled_while_it_steers_is_not_sent(version: int) -> None:
    host = await Host.begin(version)
    first, one = await host.prompt("one")
    host.accept(one)
    steering = Run(host.session.prompt("two", while_running="steer"))
    await host.wire.read_method("session/cancel")
    await steering.turn.cancel()
    host.end(one, "cancelled")
    assert [await first.end(), await steering.end()] == ["cancelled"] * 2
    assert await host.heard("session/prompt") == []


async def test_a_turn_that_is_cancelled_before_it_begins_has_ended(version: int) -> None:
    host = await Host.begin(version)
    turn = host.session.prompt("go")
    await turn.cancel()
    await asyncio.wait_for(turn.wait_ended(), PATIENCE)
    assert [event async for event in turn] == []
    assert turn.stop_reason == "cancelled"
    assert await host.heard("session/prompt") == []


async def test_steering_where_nothing_runs_is_a_plain_prompt(version: int) -> None:
    host = await Host.begin(version)
    run = Run(host.session.prompt("go", while_running="steer"))
    request = await host.wire.read_method("session/prompt")
    host.accept(request)
    host.end(request)
    assert await run.end() == "end_turn"
    assert await host.heard("session/cancel") == []


# --- methods of one's own ---------------------------------------------------------------------------------------------


class Point(Extensible, kw_only=True):
    x: int
    y: int = 0


class Sum(Extensible, kw_only=True):
    total: int


ADD = Request.extension("_example/add", Point, Sum)
TOLD = Notification.extension("_example/told", Point)


class Adding(Client):
    def __init__(self) -> None:
        self.told: list[Point] = []

    @handles(ADD)
    async def add(self, point: Point) -> Sum:
        if point.x < 0:
            raise RpcError(-32602, "no")
        return Sum(total=point.x + point.y)

    @handles(TOLD)
    async def hear(self, point: Point) -> None:
        self.told.append(point)


@pytest.mark.req("all-extensibility-06", "all-extensibility-07", "all-extensibility-08")
async def test_methods_of_ones_own_are_typed_both_ways(version: int) -> None:
    client = Adding()
    host = await Host.begin(version, client)
    assert (await host.replies("_example/add", x=1, y=2))["result"] == {"total": 3}
    assert (await host.replies("_example/add", x="one"))["error"]["code"] == -32602
    assert (await host.replies("_example/add", x=-1))["error"] == {"code": -32602, "message": "no"}
    assert (await host.replies("_example/other"))["error"]["code"] == -32601
    host.send({"method": "_example/told", "params": {"x": 5}}, {"method": "_example/unknown", "params": {}})
    await until(lambda: client.told)
    assert client.told == [Point(x=5)]

    asking = asyncio.create_task(host.connection.request(ADD, Point(x=4)))
    request = await host.wire.read_method("_example/add")
    assert request["params"] == {"x": 4, "y": 0}
    host.answer(request, {"total": 9})
    assert (await asyncio.wait_for(asking, PATIENCE)).total == 9
    await host.connection.notify(TOLD, Point(x=1))
    assert (await host.wire.read_method("_example/told"))["params"] == {"x": 1, "y": 0}
