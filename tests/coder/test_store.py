"""The store of sessions by itself: where it lies, what it refuses, what it drops, and that no secret reaches it."""

from __future__ import annotations

import os
import sqlite3
import stat
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from acp_kit import take_turn
from coder_kit import asks, call, says
from store_kit import bytes_in, process, query

from duologue import codec
from duologue.coder.acp_history import KEPT_OUTPUT
from duologue.coder.models.base import AssistantMessage, ImagePart, ToolCall, ToolResult, UserMessage
from duologue.coder.store.cleaning import Cleaner
from duologue.coder.store.database import Database
from duologue.coder.store.errors import StoreError
from duologue.coder.store.records import HELD, Record, RecordKind, decoded, encoded, joined, message_record, split
from duologue.coder.store.settings import StoreLimits, store_settings
from duologue.local.state import state_folder
from duologue.protocol.common.content import TextBlock
from duologue.protocol.v2.updates import AgentMessageChunk, TerminalOutputChunkEvent

DAY = 24 * 60 * 60


# --- Where -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "env", "folder"),
    [
        ("linux", {"HOME": "/home/me"}, "/home/me/.local/state/duologue"),
        ("linux", {"HOME": "/home/me", "XDG_STATE_HOME": "/s"}, "/s/duologue"),
        ("darwin", {"HOME": "/Users/me"}, "/Users/me/Library/Application Support/duologue"),
        ("darwin", {"HOME": "/Users/me", "XDG_STATE_HOME": "/s"}, "/s/duologue"),
        ("linux", {"XDG_STATE_HOME": "relative"}, None),
        ("linux", {}, None),
        ("win32", {"HOME": "/home/me"}, None),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/duologue"),
    ],
)
def test_the_state_folder(platform: str, env: dict[str, str], folder: str | None) -> None:
    assert state_folder(env, platform) == (None if folder is None else Path(folder))


def configured(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "config.toml").write_text(text)
    return {"XDG_STATE_HOME": "/state", "DUOLOGUE_CONFIG": str(tmp_path / "config.toml")}


def test_the_command_line_counts_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    env = configured(tmp_path, 'sessions = "/file"\nsession_days = 7\n')
    named = {**env, "DUOLOGUE_SESSIONS": "/env"}
    found = [store_settings(option, each) for option, each in ((None, env), (None, named), ("/line", named))]
    assert [str(settings and settings.folder) for settings in found] == ["/file", "/env", "/line"]
    assert found[0] is not None and found[0].limits == StoreLimits(session_days=7)
    assert store_settings("off", named) is None
    assert store_settings(None, {**env, "DUOLOGUE_SESSIONS": "off"}) is None
    assert store_settings(None, configured(tmp_path, 'sessions = "off"')) is None


def test_a_wrong_setting_keeps_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="from the root"):
        store_settings("here", {})
    with pytest.raises(StoreError, match="session_days"):
        store_settings(None, configured(tmp_path, "session_days = 0"))


def test_the_folder_and_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    mask = os.umask(0o022)
    try:
        database = Database(folder)
        with database.transaction():
            database.create("one", {"conversation": "c", "cwd": "/", "roots": [], "model": "m", "mode": "ask"}, 0)
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600} and len(files) >= 2
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        database.close()
    finally:
        os.umask(mask)


def test_what_others_could_have_written_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(StoreError, match="others can write"):
        Database(folder)
    folder.chmod(0o700)
    (folder / "sessions.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        Database(folder)
    assert not (tmp_path / "elsewhere").exists()
    (folder / "sessions.db").unlink()
    (folder / "sessions.db").touch()
    (folder / "sessions.db").chmod(0o666)
    with pytest.raises(StoreError, match="others can write"):
        Database(folder)
    assert (folder / "sessions.db").read_bytes() == b""


# --- Limits ----------------------------------------------------------------------------------------------------------


def filled(folder: Path, **used: float) -> Database:
    """A database with sessions of ten bytes that were last used then; a name with `empty` had no prompt."""
    database = Database(folder)
    with database.transaction():
        for name, when in used.items():
            database.create(name, {"conversation": name, "cwd": "/", "roots": [], "model": "m", "mode": "ask"}, when)
            database.append(name, [("update", b"x" * 10)])
            database.count(name, 0 if "empty" in name else 1)
            database.release(name)
    return database


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (StoreLimits(), ["new", "empty", "middle"]),
        (StoreLimits(unused_days=2), ["new", "empty", "middle", "old_empty"]),
        (StoreLimits(session_days=1000), ["new", "empty", "middle", "old"]),
        (StoreLimits(session_count=2), ["new", "empty"]),
        (StoreLimits(session_bytes=10), ["new"]),
    ],
    ids=["defaults", "unused", "days", "count", "bytes"],
)
def test_what_is_too_much_is_dropped(tmp_path: Path, limits: StoreLimits, left: list[str]) -> None:
    now = 1000 * DAY
    used = {"old": now - 91 * DAY, "old_empty": now - 1.5 * DAY, "middle": now - DAY, "empty": now - 0.5 * DAY}
    database = filled(tmp_path, **used, new=float(now))
    with database.transaction():
        database.prune(limits, now)
    assert [row.id for row in database.rows()] == left
    assert len(query(tmp_path, "SELECT * FROM record")) == len(left)


def test_what_is_open_anywhere_is_not_dropped(tmp_path: Path) -> None:
    database, other = filled(tmp_path, mine=0.0, theirs=0.0, nobodys=0.0), Database(tmp_path)
    assert database.take("mine") and other.take("theirs")
    with database.transaction():
        assert database.prune(StoreLimits(), 1000 * DAY) == ["nobodys"]


def test_a_deleted_session_leaves_no_lock(tmp_path: Path) -> None:
    database = filled(tmp_path, one=0.0)
    with database.transaction():
        database.delete("one")
    assert [*(tmp_path / "locks").iterdir()] == []


# --- Records ---------------------------------------------------------------------------------------------------------


def piece(text: str, message: str = "m") -> Record:
    return Record(RecordKind.UPDATE, AgentMessageChunk(message_id=message, content=TextBlock(text=text)))


def output(data: bytes) -> Record:
    return Record(RecordKind.UPDATE, TerminalOutputChunkEvent(terminal_id="t", data=b64encode(data).decode()))


def test_pieces_that_follow_each_other_are_one_record() -> None:
    end = Record(RecordKind.ENDED)
    records = [piece("a"), piece("b"), piece("c", "n"), output(b"x"), output(b"yz"), end, piece("d")]
    assert [*joined(records)] == [piece("ab"), piece("c", "n"), output(b"xyz"), end, piece("d")]


@pytest.mark.parametrize(
    ("record", "ready", "rest"),
    [
        (piece("two words"), piece("two "), piece("words")),
        (piece("one"), None, piece("one")),
        (piece("whole "), piece("whole "), None),
        (piece("x" * (HELD + 1)), piece("x" * (HELD + 1)), None),
        (output(b"a line\nhalf"), output(b"a line\n"), output(b"half")),
        (piece("so\nrun it --password hun"), piece("so\n"), piece("run it --password hun")),
        (piece("Authorization: Bearer abc "), None, piece("Authorization: Bearer abc ")),
        (piece("a\n-----BEGIN PRIVATE KEY-----\nMIIE\n"), piece("a\n"), piece("-----BEGIN PRIVATE KEY-----\nMIIE\n")),
        (output(b"\xff\n-----BEGIN "), output(b"\xff\n"), output(b"-----BEGIN ")),
        (piece("-----BEGIN A-----\nx\n-----END A-----\n"), piece("-----BEGIN A-----\nx\n-----END A-----\n"), None),
        (Record(RecordKind.ENDED), Record(RecordKind.ENDED), None),
    ],
)
def test_what_may_become_a_secret_waits_to_be_whole(record: Record, ready: Record | None, rest: Record | None) -> None:
    assert split(record) == (ready, rest)


@pytest.mark.parametrize(
    "record",
    [
        message_record(UserMessage("hi", (ImagePart(b"\x00\xff", "image/png"),))),
        message_record(AssistantMessage("a", "b", (ToolCall("c", "n", {"x": [1, None]}),), {"parts": ["sk-opaque-1"]})),
        message_record(ToolResult("c", "n", "text", ok=False, data={"deep": [1.5]})),
        Record(RecordKind.DROPPED, 3),
        Record(RecordKind.BEGAN),
        piece("hello"),
    ],
)
def test_what_is_written_can_be_read(record: Record) -> None:
    assert decoded(record.kind, encoded(record, Cleaner())) == record


def test_no_secret_is_written(tmp_path: Path) -> None:
    secret = "hunter2hunter2"
    cleaner = Cleaner([secret])
    records = [
        piece(f"the key is {secret}, or sk-abcdefgh123"),
        output(f"PASSWORD={secret}\nBearer abcdefgh123".encode()),
        message_record(UserMessage(f"use {secret.upper()} at https://me:abcdefgh123@host/")),
        message_record(
            AssistantMessage("", calls=(ToolCall("c", "n", {"env": {"A": "abcdefgh123"}, "apiKey": "abcdefgh123"}),))
        ),
        message_record(ToolResult("c", "n", "", data={"headers": [{"name": "X", "value": "abcdefgh123"}]})),
    ]
    for record in records:
        body = encoded(record, cleaner)
        whole = body + b"".join(decoded_output(body))
        assert b"hunter2" not in whole.lower() and b"abcdefgh123" not in whole
        assert decoded(record.kind, body)


LOOKS_LIKE_A_KEY = b64decode("ASIAABCDEFGHIJKLMNOP")


@pytest.mark.parametrize("length", range(4))
def test_bytes_whose_base64_looks_like_a_key_stay(length: int) -> None:
    data = LOOKS_LIKE_A_KEY + b"\xff\n"[: length % 3] + b"\xfe" * length
    for record in (output(data), message_record(UserMessage("hi", (ImagePart(data, "image/png"),)))):
        assert decoded(record.kind, encoded(record, Cleaner())) == record
    blocks = [
        {"type": "image", "mimeType": "image/png", "data": b64encode(data).decode()},
        {"type": "resource", "resource": {"uri": "file:///x", "blob": b64encode(data).decode()}},
    ]
    assert Cleaner().value(blocks) == blocks


def test_a_secret_in_a_blob_is_not_written() -> None:
    for data in (b"token sk-abcdefgh123", b"\xff\x00 hunter2hunter2 \xfe"):
        kept = Cleaner(["hunter2hunter2"]).value({"uri": "file:///x", "blob": b64encode(data).decode()})
        assert b"***" in b64decode(kept["blob"]) and b"hunter2" not in b64decode(kept["blob"])
    assert Cleaner().value({"data": "sk-abcdefgh123", "mimeType": "image/png"})["data"] == "***"


def decoded_output(body: bytes) -> list[bytes]:
    value = codec.decode(dict, body)
    return [b64decode(value["data"])] if value.get("sessionUpdate") == "terminal_output_chunk" else []


def test_secrets_are_the_values_of_their_names(tmp_path: Path) -> None:
    env = {
        **configured(
            tmp_path, '[providers.home]\nbase_url = "http://h"\napi_key = "of-the-file"\napi_key_env = "HOMEWORD"\n'
        ),
        "OPENAI_API_KEY": "of-openai",
        "HOMEWORD": "of-homeword",
        "SSH_AUTH_SOCK": "/tmp/socket",
        "MY_TOKEN": "short",
        "GIT_AUTHOR_NAME": "Some Body",
    }
    settings = store_settings(None, env)
    assert settings is not None
    assert set(settings.secrets) == {"of-the-file", "of-openai", "of-homeword"}


# --- In the agent ----------------------------------------------------------------------------------------------------


async def test_a_secret_in_pieces_is_not_written_either(tmp_path: Path) -> None:
    from duologue.coder.models.base import ModelEvent, StepEnded, TextDelta

    whole = "look: sk-abcdefgh123 end"
    step: list[ModelEvent] = [*(TextDelta(char) for char in whole), StepEnded(AssistantMessage(whole))]
    limits = StoreLimits(flush_seconds=0, busy_seconds=0)
    kept = tmp_path / "kept"
    async with process(kept, step, limits=limits) as (agent, _, _):
        await take_turn(await agent.new_session(tmp_path))
    assert b"look: ***" in bytes_in(kept) and b"abcdefgh" not in bytes_in(kept)


async def test_of_a_long_output_the_end_is_kept(tmp_path: Path) -> None:
    command = f"head -c {KEPT_OUTPUT * 3} /dev/zero | tr '\\0' x; echo; echo the very end"
    kept = tmp_path / "kept"
    async with process(kept, asks(call("run_command", command=command)), says(), protocol=2) as (agent, _, _):
        session = await agent.new_session(tmp_path)
        await take_turn(session)
    async with process(kept, protocol=2) as (agent, _, _):
        loaded = await agent.resume_session(session.id, tmp_path)
        (terminal,) = loaded.transcript.terminals.values()
        assert len(terminal.output) == KEPT_OUTPUT and terminal.text.endswith("the very end\n")
        assert terminal.exit_status is not None


async def test_a_store_that_fails_later_is_told_and_the_session_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = tmp_path / "kept"
    async with process(kept, says("one"), says("two")) as (agent, _, models):
        session = await agent.new_session(tmp_path)
        await take_turn(session, "first")
        await agent.list_sessions()
        query(kept, "DROP TABLE record")
        await take_turn(session, "second")
        await agent.list_sessions()
        assert [message.text for message in models.model.requests[-1].messages] == ["first", "one", "second"]
        assert (await agent.list_sessions()).sessions[0].session_id == session.id
    told = [record.getMessage() for record in caplog.records if "not kept" in record.getMessage()]
    assert len(told) == 1 and "sessions.db" in told[0]


async def test_a_session_that_does_not_fit_together_is_told(tmp_path: Path) -> None:
    from duologue.jsonrpc.errors import RpcError

    kept = tmp_path / "kept"
    async with process(kept, says("one")) as (agent, _, _):
        session = await agent.new_session(tmp_path)
        await take_turn(session, "first")
    query(kept, "UPDATE record SET body = CAST('{' AS BLOB) WHERE kind = 'user'")
    async with process(kept, says("two")) as (agent, _, _):
        with pytest.raises(RpcError, match="cannot be read") as error:
            await agent.resume_session(session.id, tmp_path)
        assert error.value.code == -32603
        await take_turn(await agent.new_session(tmp_path))


def test_a_file_that_is_damaged_further_in_is_told(tmp_path: Path) -> None:
    filled(tmp_path, one=0.0).close()
    path = tmp_path / "sessions.db"
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * (len(data) - 100))
    before = path.read_bytes()
    with pytest.raises(StoreError, match="damaged"):
        Database(tmp_path)
    assert path.read_bytes() == before


def test_another_process_that_made_the_tables_first_is_no_problem(tmp_path: Path) -> None:
    one, two = Database(tmp_path), Database(tmp_path)
    with one.transaction():
        one.create("one", {"conversation": "c", "cwd": "/", "roots": ["/a"], "model": "m", "mode": "ask"}, 1.0)
    row = two.find("one")
    assert row is not None and row.roots == ("/a",)
    assert sqlite3.sqlite_version_info >= (3, 33)
