"""MCP through ACP as bare lines: what each end sends, and what it makes of what it gets."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp_kit import agent_on_wire, connected, echo, lending, note, reaching, request, within

from duologue.client import NotOffered
from duologue.mcp import ChannelClosed, McpChannel, McpMessage
from duologue.protocol.common.mcp import AcpMcpServer
from wire import Wire, settle, until

# --- The client's end ------------------------------------------------------------------------------------------------


async def ask(wire: Wire, id: int, named: str, /, **params: Any) -> dict[str, Any]:
    wire.send({"id": id, "method": named, "params": params})
    return await wire.read_answer(id)


@pytest.mark.req("v1u-mcp-01", "v2u-mcp-01", "allu-mcp-01")
async def test_what_a_session_is_told_of_servers(version: int) -> None:
    wire, client = await agent_on_wire(version, {"acp": True if version == 1 else {}})
    entries = [client.mcp.offer("same name", echo) for _ in range(2)]
    opening = asyncio.create_task(client.new_session("/", mcp_servers=entries))
    asked = await wire.read_method("session/new")
    told = asked["params"]["mcpServers"]
    ids = [entry.pop("serverId") for entry in told]
    assert told == [{"type": "acp", "name": "same name"}] * 2 and len(set(ids)) == 2
    wire.send({"id": asked["id"], "result": {"sessionId": "S"}})
    await within(opening)
    assert all(["result" in await ask(wire, n, "mcp/connect", serverId=id) for n, id in enumerate(ids)])

    wire, client = await agent_on_wire(version, {})
    with pytest.raises(NotOffered, match="type acp"):
        await client.new_session("/", mcp_servers=[client.mcp.offer("s", echo)])
    await wire.silence()


@pytest.mark.req("allu-mcp-02", "allu-mcp-03", "allu-mcp-05", "allu-mcp-09")
async def test_connecting_asking_and_disconnecting(version: int) -> None:
    wire, entry = await lending(version, echo)
    first, second = [(await ask(wire, n, "mcp/connect", serverId=entry.server_id))["result"] for n in (1, 2)]
    assert list(first) == ["connectionId"] and first != second
    id = first["connectionId"]
    answer = await ask(wire, 3, "mcp/message", connectionId=id, method="tools/list", params={"cursor": "x"})
    assert answer["result"] == {"method": "tools/list", "params": {"cursor": "x"}}
    wire.send({"method": "mcp/message", "params": {"connectionId": id, "method": "notifications/initialized"}})
    await wire.silence()
    assert (await ask(wire, 4, "mcp/disconnect", connectionId=id))["result"] == {}
    for number, named in ((5, "mcp/message"), (6, "mcp/disconnect")):
        error = (await ask(wire, number, named, connectionId=id, method="ping"))["error"]
        assert (error["code"], error["data"]) == (-32002, {"connectionId": id})
    other = await ask(wire, 7, "mcp/message", connectionId=second["connectionId"], method="ping")
    assert other["result"] == {"method": "ping"}


@pytest.mark.req("allu-mcp-10")
async def test_a_server_that_is_not_lent(version: int) -> None:
    wire, _ = await lending(version, echo)
    error = (await ask(wire, 1, "mcp/connect", serverId="nobody"))["error"]
    assert (error["code"], error["data"]) == (-32002, {"serverId": "nobody"})
    assert (await ask(wire, 2, "mcp/connect"))["error"]["code"] == -32602


@pytest.mark.req("allu-mcp-04")
@pytest.mark.parametrize("params", [{}, {"params": None}, {"params": {}}, {"params": {"a": 1}}])
async def test_the_forms_of_params(version: int, params: dict[str, Any]) -> None:
    heard: list[McpMessage] = []

    async def server(channel: McpChannel) -> None:
        async for message in channel:
            heard.append(message)

    wire, entry = await lending(version, server)
    id = (await ask(wire, 1, "mcp/connect", serverId=entry.server_id))["result"]["connectionId"]
    inner = {"connectionId": id, "method": "x", **params}
    wire.send({"method": "mcp/message", "params": inner}, {"id": 2, "method": "mcp/message", "params": inner})
    await until(lambda: len(heard) == 2)
    expected = {"jsonrpc": "2.0", "method": "x", **{key: value for key, value in params.items() if value is not None}}
    assert heard[0] == expected
    assert heard[1] == {**expected, "id": heard[1]["id"]}


@pytest.mark.req("allu-mcp-04", "allu-mcp-05")
async def test_what_a_server_says_by_itself(version: int) -> None:
    """It says nothing before the agent knows the connection."""

    async def server(channel: McpChannel) -> None:
        await channel.send(note("notifications/tools/list_changed"))
        await channel.send(request(1, "roots/list"))
        await channel.send(request(2, "ping", deep={"a": [1]}))
        await channel.wait_ended()

    wire, entry = await lending(version, server)
    wire.send({"id": 1, "method": "mcp/connect", "params": {"serverId": entry.server_id}})
    answer, changed, roots, ping = [await wire.read() for _ in range(4)]
    id = answer["result"]["connectionId"]
    assert changed == {
        "jsonrpc": "2.0",
        "method": "mcp/message",
        "params": {"connectionId": id, "method": "notifications/tools/list_changed"},
    }
    assert roots["method"] == ping["method"] == "mcp/message" and roots["id"] != ping["id"]
    assert roots["params"] == {"connectionId": id, "method": "roots/list"}
    assert ping["params"] == {"connectionId": id, "method": "ping", "params": {"deep": {"a": [1]}}}


async def test_a_server_says_nothing_before_the_array_that_tells_its_connection() -> None:
    go = asyncio.Event()

    async def server(channel: McpChannel) -> None:
        await channel.send(note("hello"))
        async for message in channel:
            await go.wait()
            await channel.send({"jsonrpc": "2.0", "id": message["id"], "result": {}})

    wire, entry = await lending(2, server)
    first = (await ask(wire, 1, "mcp/connect", serverId=entry.server_id))["result"]["connectionId"]
    await wire.read_method("mcp/message")
    batch = [
        {"id": 2, "method": "mcp/connect", "params": {"serverId": entry.server_id}},
        {"id": 3, "method": "mcp/message", "params": {"connectionId": first, "method": "slow"}},
    ]
    wire.send(json.dumps([{"jsonrpc": "2.0", **call} for call in batch]).encode() + b"\n")
    await wire.silence()
    go.set()
    answers: Any = await wire.read()
    (second,) = (answer["result"]["connectionId"] for answer in answers if answer["id"] == 2)
    assert (await wire.read())["params"] == {"connectionId": second, "method": "hello"}


async def test_notifications_for_unknown_connections_are_ignored(version: int) -> None:
    wire, entry = await lending(version, echo)
    wire.send({"method": "mcp/message", "params": {"connectionId": "nobody's", "method": "x"}})
    await wire.silence()
    assert "result" in await ask(wire, 1, "mcp/connect", serverId=entry.server_id)


# --- The agent's end -------------------------------------------------------------------------------------------------


@pytest.mark.req("allu-mcp-02", "allu-mcp-04", "allu-mcp-05", "allu-mcp-06", "allu-mcp-07", "allu-mcp-09")
async def test_what_an_agent_sends(version: int) -> None:
    wire, agent = await reaching(version)
    channel = await connected(wire, agent)
    await channel.send(note("notifications/initialized"))
    await channel.send(request(1, "tools/call", name="x"))
    await channel.send(request(2, "ping"))
    told, call, ping = [await wire.read() for _ in range(3)]
    assert "id" not in told
    assert told["params"] == {"connectionId": "c1", "method": "notifications/initialized"}
    assert call["params"] == {"connectionId": "c1", "method": "tools/call", "params": {"name": "x"}}
    wire.send({"id": ping["id"], "result": [None]}, {"id": call["id"], "error": {"code": 7, "message": "no"}})
    found = [await within(channel.receive()) for _ in range(2)]
    assert {"jsonrpc": "2.0", "id": 2, "result": [None]} in found
    assert {"jsonrpc": "2.0", "id": 1, "error": {"code": 7, "message": "no"}} in found
    closing = asyncio.create_task(channel.close())
    gone = await wire.read_method("mcp/disconnect")
    assert gone["params"] == {"connectionId": "c1"}
    wire.send({"id": gone["id"], "result": {}})
    await within(closing)
    answer = await ask(wire, 9, "mcp/message", connectionId="c1", method="ping")
    assert answer["error"]["code"] == -32002


@pytest.mark.req("allu-mcp-08")
async def test_what_a_server_says_in_the_read_that_connects(version: int) -> None:
    wire, agent = await reaching(version)
    connecting = asyncio.create_task(agent.mcp.connect(AcpMcpServer(name="s", server_id="server")))
    asked = await wire.read_method("mcp/connect")
    wire.send(
        {"id": asked["id"], "result": {"connectionId": "c1"}},
        {"method": "mcp/message", "params": {"connectionId": "c1", "method": "notifications/message"}},
        {"id": "s1", "method": "mcp/message", "params": {"connectionId": "c1", "method": "ping", "params": {}}},
    )
    channel = await within(connecting)
    told, ping = [await within(channel.receive()) for _ in range(2)]
    assert told == {"jsonrpc": "2.0", "method": "notifications/message"}
    await channel.send({"jsonrpc": "2.0", "id": ping["id"], "result": {}})
    assert (await wire.read_answer("s1"))["result"] == {}


async def test_an_id_that_is_given_twice_ends_the_connection_that_had_it(version: int) -> None:
    wire, agent = await reaching(version)
    first = await connected(wire, agent)
    await first.send(request(1, "never answered"))
    await wire.read_method("mcp/message")
    second = await connected(wire, agent)
    with pytest.raises(ChannelClosed):
        await within(first.receive())
    # Its own end is no end of the other one.
    await within(first.close())
    wire.send({"method": "mcp/message", "params": {"connectionId": "c1", "method": "x"}})
    assert (await within(second.receive()))["method"] == "x"


async def test_an_agent_that_reaches_no_servers_answers_no_messages(version: int) -> None:
    wire, _ = await reaching(version)
    error = (await ask(wire, 1, "mcp/message", connectionId="c", method="ping"))["error"]
    assert error["code"] == -32601
    wire.send({"method": "mcp/message", "params": {"connectionId": "c", "method": "x"}})
    await wire.silence()


async def test_a_broken_answer_is_an_error_for_the_one_request(version: int) -> None:
    wire, agent = await reaching(version)
    channel = await connected(wire, agent)
    await channel.send(request(1, "a"))
    await channel.send(request(2, "b"))
    first, second = [await wire.read() for _ in range(2)]
    wire.send({"id": first["id"]}, {"id": second["id"], "result": {}})
    found = {message["id"]: message for message in [await within(channel.receive()) for _ in range(2)]}
    assert found[1]["error"]["code"] == -32603 and found[2]["result"] == {}


async def test_an_agents_request_withdrawn_on_the_wire(version: int) -> None:
    heard: list[McpMessage] = []

    async def server(channel: McpChannel) -> None:
        async for message in channel:
            heard.append(message)

    wire, entry = await lending(version, server)
    id = (await ask(wire, 1, "mcp/connect", serverId=entry.server_id))["result"]["connectionId"]
    wire.send(
        {"id": 2, "method": "mcp/message", "params": {"connectionId": id, "method": "slow"}},
        {"method": "$/cancel_request", "params": {"requestId": 2}},
    )
    assert (await wire.read_answer(2))["error"]["code"] == -32800
    await settle()
    slow, cancelled = heard
    assert cancelled == note("notifications/cancelled", requestId=slow["id"])
