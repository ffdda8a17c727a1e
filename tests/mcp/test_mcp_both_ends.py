"""MCP through ACP with our own ends at both sides: what is sent here is received there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_kit import echo, joined, note, request, within

from duologue.jsonrpc.errors import RpcError
from duologue.mcp import ChannelClosed, McpChannel, McpMessage
from duologue.protocol.common.mcp import AcpMcpServer
from wire import settle, until


async def test_requests_both_ways_with_the_ids_of_either_end(version: int) -> None:
    heard: list[McpMessage] = []

    async def server(channel: McpChannel) -> None:
        await channel.send(request(1, "sampling/createMessage", text="hi"))
        async for message in channel:
            heard.append(message)
            if "method" in message and "id" in message:
                await channel.send({"jsonrpc": "2.0", "id": message["id"], "result": {"pong": message["method"]}})

    async with joined(version) as pair:
        channel = await pair.channel(server)
        await channel.send(request(1, "ping"))
        await channel.send(request("one", "tools/list"))
        found = [await within(channel.receive()) for _ in range(3)]
        (asked,) = (message for message in found if "method" in message)
        answers = {message["id"]: message["result"] for message in found if "result" in message}
        assert answers == {1: {"pong": "ping"}, "one": {"pong": "tools/list"}}
        assert asked["params"] == {"text": "hi"} and asked["id"] not in (1, "one")
        await channel.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"role": "assistant"}})
        await until(lambda: any("result" in message for message in heard))
        assert [message for message in heard if "result" in message] == [
            {"jsonrpc": "2.0", "id": 1, "result": {"role": "assistant"}}
        ]
        await channel.close()


@pytest.mark.req("allu-mcp-06")
@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", "text", [], [None], {}, {"a": {"b": []}}])
async def test_a_result_may_be_any_value(version: int, value: Any) -> None:
    async with joined(version) as pair, await pair.channel(echo) as channel:
        await channel.send(request(7, "value", value=value))
        answer = await within(channel.receive())
        assert answer == {"jsonrpc": "2.0", "id": 7, "result": value}
        assert type(answer["result"]) is type(value)


@pytest.mark.req("allu-mcp-07")
async def test_an_error_passes_with_code_message_and_data(version: int) -> None:
    async with joined(version) as pair, await pair.channel(echo) as channel:
        await channel.send(request(7, "fail"))
        error = {"code": -32042, "message": "too hot", "data": {"at": [1]}}
        assert await within(channel.receive()) == {"jsonrpc": "2.0", "id": 7, "error": error}


async def test_order_holds_within_a_connection(version: int) -> None:
    heard: list[Any] = []

    async def server(channel: McpChannel) -> None:
        async for message in channel:
            heard.append(message.get("params", {}).get("n", message["method"]))
            if "id" in message:
                await channel.send(note("after", n=message["params"]["n"]))
                await channel.send({"jsonrpc": "2.0", "id": message["id"], "result": message["params"]["n"]})

    async with joined(version) as pair, await pair.channel(server) as channel:
        for n in range(300):
            await channel.send(request(n, "do", n=n) if n % 3 == 0 else note("did", n=n))
        told = [await within(channel.receive()) for _ in range(200)]
        assert heard == list(range(300))
        # Each notification comes before the answer that was sent after it.
        assert [message.get("result", message.get("params")) for message in told] == [
            value for n in range(0, 300, 3) for value in ({"n": n}, n)
        ]


@pytest.mark.req("allu-mcp-03")
async def test_many_connections_at_once_do_not_mix(version: int) -> None:
    async def counting(channel: McpChannel) -> None:
        count = 0
        async for message in channel:
            count += 1
            await channel.send({"jsonrpc": "2.0", "id": message["id"], "result": [message["params"]["name"], count]})

    async def use(channel: McpChannel, name: str) -> list[Any]:
        found = []
        async with channel:
            for n in range(20):
                await channel.send(request(n, "x", name=name))
                found.append(await within(channel.receive()))
        return found

    async with joined(version) as pair:
        entry = pair.client.mcp.offer("one", counting)
        channels = await asyncio.gather(*(pair.agent.mcp.connect(entry) for _ in range(20)))
        assert len({channel.connection_id for channel in channels}) == 20
        found = await within(asyncio.gather(*(use(channel, str(n)) for n, channel in enumerate(channels))))
        for name, answers in enumerate(found):
            assert answers == [{"jsonrpc": "2.0", "id": n, "result": [str(name), n + 1]} for n in range(20)]


# --- Ends ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("allu-mcp-09")
async def test_the_agent_closes(version: int) -> None:
    ended = asyncio.Event()

    async def server(channel: McpChannel) -> None:
        async for _ in channel:
            pass
        with pytest.raises(ChannelClosed):
            await channel.send(note("late"))
        ended.set()

    async with joined(version) as pair:
        channel = await pair.channel(server)
        await channel.send(request(1, "never answered"))
        await channel.close()
        await channel.close()
        await within(ended.wait())
        for use in (channel.send(note("x")), channel.receive()):
            with pytest.raises(ChannelClosed):
                await use
        assert [message async for message in channel] == []


@pytest.mark.parametrize("how", ["returns", "fails"])
async def test_the_server_ends(version: int, how: str, caplog: pytest.LogCaptureFixture) -> None:
    async def server(channel: McpChannel) -> None:
        await channel.receive()
        if how == "fails":
            raise ValueError("broken")

    async with joined(version) as pair:
        channel = await pair.channel(server)
        await channel.send(request(1, "x"))
        answer = await within(channel.receive())
        assert answer["error"]["message"] == "the MCP connection was closed"
        # There is no word by which a client closes; what is asked next is refused.
        await channel.send(request(2, "x"))
        assert (await within(channel.receive()))["error"]["code"] == -32002
        await channel.close()
    assert ("an MCP server failed" in caplog.text) == (how == "fails")


async def test_a_server_that_does_not_stop_is_stopped(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.client.mcp.END_SECONDS", 0.01)
    stopped = asyncio.Event()

    async def server(channel: McpChannel) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with joined(version) as pair:
        channel = await pair.channel(server)
        await channel.close()
        await within(stopped.wait())


@pytest.mark.parametrize("side", ["agent", "client"])
async def test_the_acp_connection_ends(version: int, side: str) -> None:
    ends: list[str] = []

    async def use(channel: McpChannel, name: str) -> None:
        async for _ in channel:
            pass
        ends.append(name)

    async with joined(version) as pair:
        channel = await pair.channel(lambda channel: use(channel, "server"))
        using = asyncio.create_task(use(channel, "agent"))
        await channel.send(request(1, "never answered"))
        await settle()
        await (pair.agent if side == "agent" else pair.client).close()
        await within(using)
        await until(lambda: len(ends) == 2)
        with pytest.raises(ChannelClosed):
            await channel.send(note("x"))
        await channel.close()


async def test_a_server_that_was_withdrawn_is_not_there(version: int) -> None:
    async with joined(version) as pair:
        entry = pair.client.mcp.offer("s", echo)
        channel = await pair.agent.mcp.connect(entry)
        pair.client.mcp.withdraw(entry)
        with pytest.raises(RpcError, match="-32002"):
            await pair.agent.mcp.connect(entry)
        await channel.send(request(1, "still here"))
        assert (await within(channel.receive()))["result"] == {"method": "still here"}
        await channel.close()


@pytest.mark.req("allu-mcp-10")
async def test_an_unknown_server_is_an_error(version: int) -> None:
    async with joined(version) as pair:
        with pytest.raises(RpcError, match="-32601"):
            await pair.agent.mcp.connect(AcpMcpServer(name="s", server_id="nobody"))
        assert pair.client.mcp is pair.client.mcp
        with pytest.raises(RpcError, match="-32002"):
            await pair.agent.mcp.connect(AcpMcpServer(name="s", server_id="nobody"))


# --- Cancelling ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asker", ["agent", "server"])
async def test_a_cancelled_request_is_cancelled_at_the_other_end(version: int, asker: str) -> None:
    """The ids of the two ends differ, so a cancel is translated."""
    ends: dict[str, McpChannel] = {}
    done = asyncio.Event()

    async def server(channel: McpChannel) -> None:
        ends["server"] = channel
        await done.wait()

    async with joined(version) as pair:
        ends["agent"] = await pair.channel(server)
        await until(lambda: "server" in ends)
        asking = ends.pop(asker)
        (answering,) = ends.values()
        await asking.send(request(5, "slow"))
        await asking.send(request(6, "kept"))
        slow, kept = [await within(answering.receive()) for _ in range(2)]
        await asking.send(note("notifications/cancelled", requestId=5, reason="too long"))
        cancelled = await within(answering.receive())
        assert (cancelled["method"], cancelled["params"]) == ("notifications/cancelled", {"requestId": slow["id"]})
        # An answer that comes after all is ignored.
        await answering.send({"jsonrpc": "2.0", "id": slow["id"], "result": "late"})
        await answering.send({"jsonrpc": "2.0", "id": kept["id"], "result": "in time"})
        assert await within(asking.receive()) == {"jsonrpc": "2.0", "id": 6, "result": "in time"}
        done.set()
        await until(lambda: not pair.agent.peer.inbound.undelivered)


async def test_cancelling_what_is_not_open_passes_as_it_is(version: int) -> None:
    heard: list[McpMessage] = []

    async def server(channel: McpChannel) -> None:
        async for message in channel:
            heard.append(message)

    async with joined(version) as pair:
        channel = await pair.channel(server)
        await channel.send(note("notifications/cancelled", requestId=5))
        await until(lambda: heard)
        assert heard == [note("notifications/cancelled", requestId=5)]
        await channel.close()


# --- Mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"jsonrpc": "2.0"},
        {"id": 1},
        {"id": None, "method": "x"},
        {"id": 1.5, "method": "x"},
        {"id": 1, "method": 2},
        {"id": 1, "error": {"code": "x", "message": "y"}},
        {"id": 1, "method": "x", "params": [1]},
        {"method": "x", "params": "text"},
    ],
)
async def test_what_is_no_message_is_not_sent(message: McpMessage) -> None:
    async with joined(2) as pair, await pair.channel(echo) as channel:
        with pytest.raises(ValueError):
            await channel.send(message)
        await channel.send(request(1, "fine"))
        assert "result" in await within(channel.receive())


async def test_an_id_is_open_once() -> None:
    async with joined(2) as pair, await pair.channel(echo) as channel:
        await channel.send(request(1, "x"))
        with pytest.raises(ValueError, match="open already"):
            await channel.send(request(1, "x"))
        await within(channel.receive())
        await channel.send(request(1, "x"))
        await within(channel.receive())


async def test_what_nobody_receives_is_given_back_when_the_channel_closes(version: int) -> None:
    async def server(channel: McpChannel) -> None:
        for n in range(500):
            await channel.send(note("noise", n=n))
        await channel.wait_ended()

    async with joined(version) as pair:
        channel = await pair.channel(server)
        await until(lambda: pair.agent.peer.inbound.undelivered >= 400)
        await channel.close()
        await until(lambda: pair.agent.peer.inbound.undelivered == 0)
