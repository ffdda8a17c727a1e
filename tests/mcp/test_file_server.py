"""The client's files, lent to agents of version 2 as an MCP server of each session."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp_kit import Pair, Reaching, joined, request, within

from duologue.agent import Session as AgentSession
from duologue.client import Client, LocalFiles, Policy, Session
from duologue.jsonrpc.errors import RpcError
from duologue.local.rules import Subject
from duologue.mcp import McpChannel
from duologue.protocol.common.mcp import AcpMcpServer


class Editor:
    """Open buffers in memory."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts

    def read(self, path: Path) -> str | None:
        return self.texts.get(path.name)

    def write(self, path: Path, text: str) -> bool:
        if path.name not in self.texts:
            return False
        self.texts[path.name] = text
        return True


class Lending(Client):
    def __init__(self, files: LocalFiles | None, *rules: str) -> None:
        self.files = files
        self.policy = Policy(*(rules or ("allow edit:**",)))
        self.confirmed: list[Subject] = []

    async def confirm(self, session: Session, subject: Subject) -> bool:
        self.confirmed.append(subject)
        return False


def lent(pair: Pair) -> list[AcpMcpServer]:
    """The servers of the agent's sessions."""
    sessions = pair.agent.sessions.values()
    return [server for session in sessions for server in session.mcp_servers if isinstance(server, AcpMcpServer)]


async def channel_to(pair: Pair) -> McpChannel:
    (server,) = lent(pair)
    assert server.name == "client-files"
    return await within(pair.agent.mcp.connect(server))


async def answer(channel: McpChannel, method: str, **params: Any) -> dict[str, Any]:
    await channel.send(request(1, method, **params))
    result: dict[str, Any] = (await within(channel.receive()))["result"]
    return result


async def call(channel: McpChannel, tool: str, **arguments: Any) -> str:
    """What a tool says; an error with a mark before it."""
    result = await answer(channel, "tools/call", name=tool, arguments=arguments)
    (content,) = result["content"]
    return ("! " if result["isError"] else "") + str(content["text"])


# --- To whom it is lent ----------------------------------------------------------------------------------------------


@pytest.mark.req("allu-mcp-01")
async def test_each_session_of_an_agent_that_reaches_it_gets_a_server(tmp_path: Path) -> None:
    async with joined(2, Lending(LocalFiles())) as pair:
        for _ in range(3):
            await pair.client.new_session(tmp_path)
        assert len({server.server_id for server in lent(pair)}) == 3


async def test_version_1_has_files_of_its_own(tmp_path: Path) -> None:
    async with joined(1, Lending(LocalFiles())) as pair:
        await pair.client.new_session(tmp_path)
        assert lent(pair) == []


async def test_without_files_nothing_is_lent(tmp_path: Path) -> None:
    async with joined(2, Lending(None)) as pair:
        await pair.client.new_session(tmp_path)
        assert lent(pair) == []


@pytest.mark.req("v2u-mcp-01")
async def test_an_agent_that_cannot_reach_it_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reaching, "mcp_capabilities", lambda self: None)
    async with joined(2, Lending(LocalFiles())) as pair:
        await pair.client.new_session(tmp_path)
        assert lent(pair) == []


async def test_a_session_that_is_reopened_gets_one_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def reopen(self: Reaching, session: AgentSession, *, replay: bool) -> None:
        pass

    monkeypatch.setattr(Reaching, "resume_session", reopen)
    async with joined(2, Lending(LocalFiles(Editor(a="unsaved")))) as pair:
        await pair.client.resume_session("old", tmp_path)
        channel = await channel_to(pair)
        assert await call(channel, "read_text_file", path=str(tmp_path / "a")) == "unsaved"
        await channel.close()


async def test_servers_of_sessions_that_are_over_are_withdrawn(tmp_path: Path) -> None:
    async with joined(2, Lending(LocalFiles())) as pair:
        first = await pair.client.new_session(tmp_path)
        (old,) = lent(pair)
        await first.close()
        await pair.client.new_session(tmp_path)
        with pytest.raises(RpcError, match="-32002"):
            await pair.agent.mcp.connect(old)
        await (await channel_to(pair)).close()


async def test_there_are_no_files_once_the_session_is_over(tmp_path: Path) -> None:
    async with joined(2, Lending(LocalFiles(Editor(a="unsaved")))) as pair:
        session = await pair.client.new_session(tmp_path)
        channel = await channel_to(pair)
        await session.close()
        for tool, more in (("read_text_file", {}), ("write_text_file", {"content": "x"})):
            assert await call(channel, tool, path=str(tmp_path / "a"), **more) == "! the session is closed"
        await channel.close()


async def test_there_are_no_files_before_the_session_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    async def early(self: Reaching, session: AgentSession) -> None:
        (server,) = session.mcp_servers
        assert isinstance(server, AcpMcpServer)
        async with await session.connection.mcp.connect(server) as channel:
            said.append(await call(channel, "read_text_file", path=str(tmp_path / "a")))

    monkeypatch.setattr(Reaching, "new_session", early)
    async with joined(2, Lending(LocalFiles(Editor(a="unsaved")))) as pair:
        await within(pair.client.new_session(tmp_path))
    assert said == ["! the session is not open yet"]


# --- What it does ----------------------------------------------------------------------------------------------------


async def test_the_tools_that_are_offered(tmp_path: Path) -> None:
    for files, names in ((LocalFiles(), ["read", "write"]), (LocalFiles(write=False), ["read"])):
        async with joined(2, Lending(files)) as pair:
            await pair.client.new_session(tmp_path)
            async with await channel_to(pair) as channel:
                tools = (await answer(channel, "tools/list"))["tools"]
                assert [tool["name"] for tool in tools] == [f"{name}_text_file" for name in names]
                assert tools[0]["annotations"] == {"readOnlyHint": True}


async def test_reading_unsaved_and_saved_texts(tmp_path: Path) -> None:
    (tmp_path / "open").write_text("saved")
    (tmp_path / "closed").write_text("one\ntwo\nthree\n")
    async with joined(2, Lending(LocalFiles(Editor(open="not saved yet")))) as pair:
        await pair.client.new_session(tmp_path)
        async with await channel_to(pair) as channel:
            assert await call(channel, "read_text_file", path=str(tmp_path / "open")) == "not saved yet"
            path = str(tmp_path / "closed")
            assert await call(channel, "read_text_file", path=path) == "one\ntwo\nthree\n"
            assert await call(channel, "read_text_file", path=path, line=2, limit=1) == "two\n"
            assert await call(channel, "read_text_file", path=path, line=0) == "! line must be at least 1"
            assert await call(channel, "read_text_file", path=path, limit=-1) == "! limit must be at least 0"


async def test_writing_into_buffers_and_files(tmp_path: Path) -> None:
    editor = Editor(open="old")
    async with joined(2, Lending(LocalFiles(editor))) as pair:
        await pair.client.new_session(tmp_path)
        async with await channel_to(pair) as channel:
            for name in ("open", "new"):
                path = str(tmp_path / name)
                assert await call(channel, "write_text_file", path=path, content="é😀\n") == f"wrote {path}"
    assert editor.texts == {"open": "é😀\n"}
    assert (tmp_path / "new").read_text(encoding="utf-8") == "é😀\n"
    assert not (tmp_path / "open").exists()


async def test_refusals_say_why_and_change_nothing(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.write_text("secret")
    (root / "link").symlink_to(outside)
    (root / "here").write_text("here")
    client = Lending(LocalFiles(), "reject edit:here", "ask edit:**")
    async with joined(2, client) as pair:
        await pair.client.new_session(root)
        async with await channel_to(pair) as channel:
            for path in (str(outside), str(root / "link"), str(root / ".." / "outside"), "here", str(root / "missing")):
                said = await call(channel, "read_text_file", path=path)
                assert said.startswith("! ") and "secret" not in said
            for path in (str(outside), str(root / "link"), str(root / "here"), str(root / "asked")):
                assert (await call(channel, "write_text_file", path=path, content="x")).startswith("! ")
    assert outside.read_text() == "secret" and (root / "here").read_text() == "here"
    assert not (root / "asked").exists()
    assert len(client.confirmed) == 1


async def test_several_connections_to_one_session(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    async with joined(2, Lending(LocalFiles())) as pair:
        await pair.client.new_session(tmp_path)
        channels = [await channel_to(pair) for _ in range(5)]
        reads = (call(channel, "read_text_file", path=str(tmp_path / "a")) for channel in channels)
        assert await within(asyncio.gather(*reads)) == ["text"] * 5
