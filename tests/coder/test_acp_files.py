"""Files through the editor: unsaved text is read, each write goes through it once, and its bounds are ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Scripted
from coder_kit import Step, asks, call, says

from duologue.agent import AgentConnection
from duologue.coder.acp import CodingAgent
from duologue.jsonrpc.errors import RpcError
from duologue.peer import Peer, Scope
from duologue.protocol.common.content import TextBlock
from duologue.protocol.common.permission import RequestPermissionResponse, SelectedOutcome
from duologue.protocol.method import Side
from duologue.protocol.v1 import fs, initialize, permission, prompt, session, table
from duologue.protocol.v1.capabilities import ClientCapabilities, FileSystemCapabilities
from duologue.protocol.version import V1
from duologue.transports.memory import memory_pair

BOM = "\ufeff"


class Editor:
    """A version 1 client with buffers. `strips` and `keeps` say what it does with a byte order mark."""

    def __init__(self, *, strips: bool = False, keeps: bool = False, refuses: bool = False) -> None:
        self.strips, self.keeps, self.refuses = strips, keeps, refuses
        self.buffers: dict[str, str] = {}
        self.read: list[str] = []
        self.written: list[tuple[str, str]] = []
        self.session_id = ""

    async def read_text_file(self, params: fs.ReadTextFileRequest, scope: Scope) -> fs.ReadTextFileResponse:
        self.read.append(params.path)
        try:
            text = self.buffers.get(params.path) or Path(params.path).read_bytes().decode()  # noqa: ASYNC240
        except OSError:
            raise RpcError(-32002, "no such file") from None
        return fs.ReadTextFileResponse(content=text.removeprefix(BOM) if self.strips else text)

    async def write_text_file(self, params: fs.WriteTextFileRequest, scope: Scope) -> fs.WriteTextFileResponse:
        if self.refuses:
            raise RpcError(-32603, "the buffer is locked")
        self.written.append((params.path, params.content))
        path = Path(params.path)
        marked = self.keeps and path.exists() and path.read_bytes().decode().startswith(BOM)  # noqa: ASYNC240
        path.write_bytes(((BOM if marked else "") + params.content).encode())  # noqa: ASYNC240
        return fs.WriteTextFileResponse()

    async def allow(self, params: permission.RequestPermissionRequest, scope: Scope) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome=SelectedOutcome(option_id="allow_once"))


@asynccontextmanager
async def edited(
    root: Path, editor: Editor, *steps: Step, reads: bool = True, writes: bool = True
) -> AsyncIterator[tuple[Callable[[], Any], Scripted]]:
    """A function that takes a turn with a client that offers its files."""
    models = Scripted(*steps)
    ours, theirs = memory_pair()
    connection = AgentConnection(CodingAgent(models=models))
    await connection.start(ours)
    peer = Peer(Side.CLIENT, V1)
    peer.handle(table.FS_READ_TEXT_FILE, editor.read_text_file)
    peer.handle(table.FS_WRITE_TEXT_FILE, editor.write_text_file)
    peer.handle(table.SESSION_REQUEST_PERMISSION, editor.allow)
    await peer.start(theirs)
    offered = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=reads, write_text_file=writes))
    await peer.request(table.INITIALIZE, initialize.InitializeRequest(protocol_version=1, client_capabilities=offered))
    made = await peer.request(table.SESSION_NEW, session.NewSessionRequest(cwd=str(root), mcp_servers=[]))
    editor.session_id = made.session_id

    async def take_turn() -> prompt.PromptResponse:
        request = prompt.PromptRequest(session_id=made.session_id, prompt=[TextBlock(text="go")])
        return await peer.request(table.SESSION_PROMPT, request)

    try:
        yield take_turn, models
    finally:
        await peer.close()
        await connection.close()


def results(models: Scripted) -> list[tuple[str, bool]]:
    """What the model was told of its calls."""
    messages = models.model.requests[-1].messages
    return [(message.text, message.ok) for message in messages if hasattr(message, "ok")]


@pytest.mark.req("v1-fs-02", "v1-fs-08")
async def test_unsaved_text_is_read_and_written_back(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("saved\n")
    editor = Editor()
    editor.buffers[str(file)] = "unsaved\nmore\n"
    edit = call("edit_file", path="a.txt", edits=[{"old": "unsaved", "new": "new"}])
    async with edited(tmp_path, editor, asks(edit), says()) as (take_turn, models):
        assert (await take_turn()).stop_reason == "end_turn"
        assert results(models)[0][1]
        assert editor.written == [(str(file), "new\nmore\n")]
        assert set(editor.read) == {str(file)}


@pytest.mark.req("v1-fs-01")
@pytest.mark.parametrize(("reads", "writes"), [(False, False), (True, False), (False, True)])
async def test_only_what_the_client_offers_is_asked_of_it(tmp_path: Path, reads: bool, writes: bool) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one\n")
    editor = Editor()
    edit = call("edit_file", path="a.txt", edits=[{"old": "one", "new": "two"}])
    async with edited(tmp_path, editor, asks(edit), says(), reads=reads, writes=writes) as (take_turn, _):
        await take_turn()
        assert file.read_text() == "two\n"
        assert bool(editor.read) is reads and bool(editor.written) is writes


async def test_a_new_file_is_made_by_the_client(tmp_path: Path) -> None:
    editor = Editor()
    write = call("write_file", path="new.txt", text="x\n")
    async with edited(tmp_path, editor, asks(write), says()) as (take_turn, models):
        await take_turn()
        assert editor.written == [(str(tmp_path / "new.txt"), "x\n")] and results(models)[0][1]


async def test_a_write_that_the_client_refuses_goes_nowhere(tmp_path: Path) -> None:
    editor = Editor(refuses=True)
    write = call("write_file", path="new.txt", text="x\n")
    async with edited(tmp_path, editor, asks(write), says()) as (take_turn, models):
        assert (await take_turn()).stop_reason == "end_turn"
        assert results(models) == [("new.txt: the editor did not write it: the buffer is locked", False)]
        assert not (tmp_path / "new.txt").exists()


@pytest.mark.parametrize(("strips", "keeps"), [(False, False), (True, False), (True, True), (False, True)], ids=str)
async def test_a_byte_order_mark_stays_one(tmp_path: Path, strips: bool, keeps: bool) -> None:
    """Field bug 20: whether the client shows the mark or not, and whether it keeps it by itself or not."""
    file = tmp_path / "a.txt"
    file.write_bytes(f"{BOM}one\r\ntwo\r\n".encode())
    editor = Editor(strips=strips, keeps=keeps)
    edit = call("edit_file", path="a.txt", edits=[{"old": "two", "new": "three"}])
    async with edited(tmp_path, editor, asks(edit), says()) as (take_turn, models):
        await take_turn()
        assert results(models)[0][1]
        assert file.read_bytes() == f"{BOM}one\r\nthree\r\n".encode()


async def test_the_client_is_not_asked_for_what_lies_outside(tmp_path: Path) -> None:
    """Field bugs 131 and 135."""
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link").symlink_to(tmp_path / "secret.txt")
    editor = Editor()
    calls = [
        call("read_file", "1", path="../secret.txt"),
        call("read_file", "2", path=str(tmp_path / "secret.txt")),
        call("read_file", "3", path="link"),
        call("write_file", "4", path="../secret.txt", text="x"),
    ]
    async with edited(root, editor, asks(*calls), says()) as (take_turn, models):
        await take_turn()
        assert not editor.read and not editor.written
        assert [ok for _, ok in results(models)] == [False] * 4


async def test_a_binary_file_is_no_text_whatever_the_client_makes_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"a\0b")
    editor = Editor()
    async with edited(tmp_path, editor, asks(call("read_file", path="a.bin")), says()) as (take_turn, models):
        await take_turn()
        assert not editor.read and "binary" in results(models)[0][0]
