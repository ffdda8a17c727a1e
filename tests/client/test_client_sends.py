"""What a client sends: sessions reopened as they were told, prompts, MCP servers, and no message but those."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from client_kit import Host
from msgspec import UNSET

from duologue import connect
from duologue.client import NotOffered
from duologue.protocol import v1, v2
from duologue.protocol.base import Unknown
from spawn_kit import python
from wire import PATIENCE, settle

STDIO = v2.StdioMcpServer(name="stdio", command="/bin/x")
HTTP = v2.HttpMcpServer(name="http", url="https://x")
SSE = v1.SseMcpServer(name="sse", url="https://x", headers=[])
RAW_SSE = Unknown({"type": "sse", "name": "raw sse", "url": "https://x", "headers": []})


# --- sessions ---------------------------------------------------------------------------------------------------------


async def reopened(host: Host, told: v2.SessionInfo) -> dict[str, Any]:
    """Reopen a session as it was listed; the params that were sent."""
    folders = told.additional_directories or ()
    coming = host.connection.resume_session(told.session_id, told.cwd, additional_directories=folders)
    opening = asyncio.create_task(coming)
    request = await host.wire.read_method("session/load" if host.version == 1 else "session/resume")
    host.answer(request, {})
    session = await asyncio.wait_for(opening, PATIENCE)
    assert [str(folder) for folder in session.additional_directories] == list(folders)
    return dict(request["params"])


@pytest.mark.req("all-session-20", "all-session-29", "all-session-30")
async def test_a_listed_session_is_reopened_where_it_was_listed(version: int, tmp_path: Path) -> None:
    """Its folder is a link, and the second list says nothing of the roots that the first one did."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    host = await Host.begin(version)
    entry: dict[str, Any] = {"sessionId": "old", "cwd": str(tmp_path / "link")}
    sent = []
    for roots in ({"additionalDirectories": ["/a", "/b"]}, {}):
        asking = asyncio.create_task(host.connection.list_sessions())
        host.answer(await host.wire.read_method("session/list"), {"sessions": [{**entry, **roots}]})
        (told,) = (await asyncio.wait_for(asking, PATIENCE)).sessions
        sent.append(await reopened(host, told))
    assert [params["cwd"] for params in sent] == [str(tmp_path / "link")] * 2
    assert sent[0]["additionalDirectories"] == ["/a", "/b"]
    assert sent[1].get("additionalDirectories", []) == []


async def test_field_bug_81_what_an_answer_leaves_out_is_not_taken_from_another_session(version: int) -> None:
    host = await Host.begin(version)
    option: dict[str, Any] = {"id": "mode", "configId": "mode", "name": "Mode", "type": "select", "category": "mode"}
    option |= {"currentValue": "ask", "options": [{"value": "ask", "name": "Ask"}]}
    host.send(host.update({"sessionUpdate": "config_option_update", "configOptions": [option]}))
    await settle()
    assert len(host.session.config_options) == 1
    for replay, method in ((True, "session/load"), (False, "session/resume")):
        opening = asyncio.create_task(host.connection.resume_session(f"other {method}", "/tmp", replay=replay))
        host.answer(await host.wire.read_method(method if version == 1 else "session/resume"), {})
        other = await asyncio.wait_for(opening, PATIENCE)
        assert list(other.config_options) == []
        with pytest.raises(ValueError, match="offers no modes"):
            await other.set_mode("ask")
    await host.wire.silence()


# --- prompts ----------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-prompt-01", "all-commands-03")
@pytest.mark.parametrize("words", ["go", "/plan", "/plan the day\n  and the night", " /no command", ""])
async def test_a_prompt_is_the_session_and_blocks_and_a_command_is_its_text(version: int, words: str) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt(words)
    assert request["params"] == {"sessionId": "S", "prompt": [{"type": "text", "text": words}]}
    host.accept(request)
    host.end(request)
    await run.end()


@pytest.mark.req("v2-content-03")
async def test_a_block_that_breaks_a_format_never_leaves(version: int) -> None:
    host = await Host.begin(version)
    with pytest.raises(ValueError, match="absolute"):
        await host.session.prompt([v2.ResourceLinkBlock(name="a", uri="a.txt")]).text()
    await host.wire.silence()


# --- MCP servers ------------------------------------------------------------------------------------------------------


async def sent_with(host: Host, server: Any) -> Any:
    """The one MCP server of `session/new`, as it was sent."""
    opening = asyncio.create_task(host.connection.new_session("/tmp", mcp_servers=[server]))
    asked, _ = await asyncio.wait(
        {opening, reading := asyncio.create_task(host.wire.read_method("session/new"))},
        return_when=asyncio.FIRST_COMPLETED,
    )
    if opening in asked:
        reading.cancel()
        return await opening
    request = reading.result()
    host.answer(request, {"sessionId": "N"})
    await asyncio.wait_for(opening, PATIENCE)
    (sent,) = request["params"]["mcpServers"]
    return sent


@pytest.mark.req("v1-mcp-04", "v2-mcp-02")
@pytest.mark.parametrize("offered", [None, "stdio", "http", "sse"])
async def test_field_bugs_162_163_a_server_goes_only_where_its_transport_is_offered(
    version: int, offered: str | None
) -> None:
    """Version 1 has no word for stdio, which every agent takes."""
    if version == 1:
        said: dict[str, Any] = {"agentCapabilities": {"mcpCapabilities": {offered: True} if offered else {}}}
    else:
        said = {"capabilities": {"session": {"mcp": {offered: {}} if offered else {}}}}
    reached = {"stdio"} if version == 1 else set()
    reached |= {offered} & ({"http", "sse"} if version == 1 else {"stdio", "http"})  # type: ignore[arg-type]
    host = await Host.begin(version, **said)
    for server, kind in ((STDIO, "stdio"), (HTTP, "http"), (SSE, "sse"), (RAW_SSE, "sse")):
        if kind in reached:
            sent = await sent_with(host, server)
            assert sent.get("type", "stdio") == kind
        else:
            with pytest.raises(NotOffered, match=f"of type {kind}"):
                await sent_with(host, server)
            await host.wire.silence()


@pytest.mark.req("v2-mcp-05")
async def test_a_transport_of_ones_own_begins_with_an_underscore() -> None:
    host = await Host.begin(2)
    mine = Unknown({"type": "_pigeon", "name": "mine", "loft": 1})
    assert await sent_with(host, mine) == mine.raw
    for kind in ("pigeon", "websocket", ""):
        with pytest.raises(ValueError, match="begins with an underscore"):
            await sent_with(host, Unknown({"type": kind, "name": "mine"}))
    await host.wire.silence()


@pytest.mark.req("all-mcp-01")
async def test_the_command_of_a_server_is_sent_as_the_absolute_path_that_it_is(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "serve"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    offering: dict[str, Any] = {} if version == 1 else {"capabilities": {"session": {"mcp": {"stdio": {}}}}}
    host = await Host.begin(version, **offering)
    for command in ("serve", "./serve", str(program)):
        server = v2.StdioMcpServer(name="s", command=command, args=["a b"])
        sent = await sent_with(host, server)
        assert (sent["command"], sent["args"]) == (str(program), ["a b"])
        assert (server.command, server.env) == (command, UNSET)
    elsewhere = "C:\\Tools\\serve.exe"
    assert (await sent_with(host, v2.StdioMcpServer(name="s", command=elsewhere)))["command"] == elsewhere
    with pytest.raises(ValueError, match=r"'missing'.*not found"):
        await sent_with(host, v2.StdioMcpServer(name="s", command="missing"))
    await host.wire.silence()


# --- and no more ------------------------------------------------------------------------------------------------------

RECORDER = """
import json, sys
log = open({log!r}, "ab", 0)
def say(message):
    sys.stdout.write(json.dumps({{"jsonrpc": "2.0", **message}}) + "\\n")
    sys.stdout.flush()
for line in sys.stdin.buffer:
    log.write(line)
    message = json.loads(line)
    result = {{}}
    match message.get("method"):
        case "initialize":
            result = {{"protocolVersion": {version}, "info": {{"name": "a", "version": "1"}}}}
            result |= {{"capabilities": {{"session": {{}}}}, "agentCapabilities": {{}}}}
        case "session/new":
            result = {{"sessionId": "S"}}
        case "session/prompt":
            print("noise on the wire", flush=True)
            say({{"id": "p", "method": "session/request_permission", "params": {{}}}})
            say({{"id": "q", "method": "no/such"}})
            if {version} == 2:
                say({{"id": message.pop("id"), "result": {{}}}})
                say({{"method": "session/update", "params": {{"sessionId": "S", "update":
                    {{"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}}}}}})
            result = {{"stopReason": "end_turn"}} if {version} == 1 else {{}}
    if "method" in message and "id" in message:
        say({{"id": message["id"], "result": result}})
"""


@pytest.mark.req("all-framing-04", "v2-jsonrpc-09")
async def test_the_agents_stdin_gets_messages_and_nothing_else(
    version: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Though the agent writes noise and asks what cannot be answered; and each message stands by itself."""
    log = tmp_path / "log"
    command = python(tmp_path, RECORDER.format(log=str(log), version=version))
    async with asyncio.timeout(PATIENCE), connect(command, protocol=1 if version == 1 else 2) as agent:
        session = await agent.new_session(tmp_path)
        await session.prompt("line\nfeed\r\nand \u2028 more").text()
        await session.cancel()
    lines = log.read_bytes().split(b"\n")
    assert lines.pop() == b""
    messages = [json.loads(line.decode("utf-8", "strict")) for line in lines]
    assert all(isinstance(message, dict) and message["jsonrpc"] == "2.0" for message in messages)
    asked = [message["method"] for message in messages if "method" in message]
    assert asked[:3] == ["initialize", "session/new", "session/prompt"]
    assert {message["id"] for message in messages if "error" in message} == {"p", "q"}
    assert all({"method"} <= message.keys() or {"id"} <= message.keys() for message in messages)
    assert capfd.readouterr().out == ""
