"""Damaged rows and records: each spoils its own session at most, and is told."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from acp_kit import take_turn
from coder_kit import says
from store_kit import process, query

from duologue.coder.models.base import AssistantMessage, ToolCall, UserMessage
from duologue.coder.store.database import Database
from duologue.coder.store.log import SessionLog
from duologue.coder.store.settings import StoreLimits, StoreSettings
from duologue.coder.store.worker import Worker
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.common.content import TextBlock
from duologue.protocol.v2.updates import AgentMessageChunk

NO_TEXT = "CAST(x'ff' AS TEXT)"

#: Which column holds what, as SQL, and whether the session can still be used.
DAMAGE = [
    *(("used", value, True) for value in ("1e300", "-1e300", "9e999", "'today'", "x'00'", "-62135596801.0", "''")),
    *(("title", value, True) for value in ("x'ff'", NO_TEXT)),
    *(("roots", value, False) for value in ("'{'", "'7'", "'[7]'", "'[\"\"]'", "''", "x'5b5d'", NO_TEXT)),
    *((name, value, False) for name in ("cwd", "conversation", "model", "mode") for value in ("''", "x'ff'", NO_TEXT)),
    *(("prompts", value, False) for value in ("'many'", "1.5", "x'01'", "1e300")),
    *(("bytes", value, True) for value in ("'many'", "1.5", "1e300")),
]


async def two(folder: Path, project: Path) -> tuple[str, str]:
    """The ids of two stored sessions."""
    async with process(folder, says("one"), says("two")) as (agent, _, _):
        sessions = [await agent.new_session(project) for _ in range(2)]
        for session in sessions:
            await take_turn(session, "hello")
    return sessions[0].id, sessions[1].id


@pytest.mark.parametrize(("column", "value", "usable"), DAMAGE)
async def test_a_damaged_row_spoils_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, column: str, value: str, usable: bool
) -> None:
    kept = tmp_path / "kept"
    bad, good = await two(kept, tmp_path)
    query(kept, f"UPDATE session SET {column} = {value} WHERE id = ?", bad)
    async with process(kept, says("a"), says("b")) as (agent, _, _):
        for _ in range(2):
            listed = [info.session_id async for info in agent.stored_sessions()]
            assert sorted(listed) == sorted([good, bad] if usable else [good])
        told = [record.getMessage() for record in caplog.records if "not listed" in record.getMessage()]
        assert len(told) == (0 if usable else 1) and all(column in text for text in told)
        await take_turn(await agent.resume_session(good, tmp_path))
        if usable:
            await take_turn(await agent.resume_session(bad, tmp_path))
        else:
            with pytest.raises(RpcError, match="damaged") as error:
                await agent.resume_session(bad, tmp_path)
            assert error.value.code == -32603
        await agent.delete_session(bad)
    assert query(kept, "SELECT id FROM session") == [(good,)]


async def test_a_session_without_a_readable_id_stays_and_spoils_no_other(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    bad, good = await two(kept, tmp_path)
    query(kept, "UPDATE session SET id = x'00ff', used = 0 WHERE id = ?", bad)
    async with process(kept, says("more"), limits=StoreLimits(session_count=1)) as (agent, _, _):
        assert [info.session_id async for info in agent.stored_sessions()] == [good]
        await take_turn(await agent.resume_session(good, tmp_path))
    assert len(query(kept, "SELECT id FROM session")) == 2


@pytest.mark.parametrize("used", ["1e300", "-1e300", "'today'", "x'00'"])
def test_what_has_no_time_is_not_too_old(tmp_path: Path, used: str) -> None:
    database = Database(tmp_path)
    with database.transaction():
        database.create("one", {"conversation": "c", "cwd": "/", "roots": [], "model": "m", "mode": "ask"}, 0)
    database.release("one")
    query(tmp_path, f"UPDATE session SET used = {used}, prompts = 1")
    with database.transaction():
        assert database.prune(StoreLimits(), 1e10) == []


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("user", b"{"),
        ("user", b"\xff"),
        ("assistant", b"[]"),
        ("assistant", b'{"text": 1}'),
        ("result", b"[" * 100_000),
        ("update", b'{"sessionUpdate": "tool_call_update"}'),
        ("update", b"7"),
        ("dropped", b'"x"'),
        ("dropped", b"9" * 400),
        ("dropped", b"-1"),
        ("no such kind", b"null"),
        ("ended", 7),
        ("ended", "text"),
        ("ended", ""),
    ],
)
async def test_a_damaged_record_is_an_error_of_its_session_alone(tmp_path: Path, kind: str, body: Any) -> None:
    kept = tmp_path / "kept"
    bad, good = await two(kept, tmp_path)
    number = query(kept, "SELECT number FROM session WHERE id = ?", bad)[0][0]
    query(kept, "INSERT INTO record VALUES (?, 1000, ?, ?)", number, kind, body)
    async with process(kept, says("a"), says("b")) as (agent, _, _):
        for again in range(2):
            with pytest.raises(RpcError) as error:
                await agent.resume_session(bad, tmp_path)
            assert error.value.code == -32603 and "cannot be read" in str(error.value), again
        with pytest.raises(RpcError, match="cannot be read"):
            await agent.fork_session(bad, tmp_path)
        await take_turn(await agent.resume_session(good, tmp_path), "on")
        assert {info.session_id async for info in agent.stored_sessions()} == {bad, good}


@pytest.mark.parametrize(
    "broken",
    [
        AssistantMessage("", calls=(ToolCall("c", "n", {"x": [object]}),), signature={1: 2, "a": 3}),
        AssistantMessage("", calls=(ToolCall("c", "n", {"x": 10**400}),)),
    ],
    ids=["keys", "number"],
)
async def test_what_cannot_be_written_ends_one_session_and_no_other(tmp_path: Path, broken: AssistantMessage) -> None:
    settings = StoreSettings(tmp_path, StoreLimits())
    worker = Worker(lambda: settings)
    logs = [SessionLog(worker, name) for name in ("one", "two")]
    for log in logs:
        log.create(conversation="c", cwd="/", roots=[], model="m", mode="ask")
        log.began()
        log.added(UserMessage("first"))
    await worker.ask(lambda desk: None)
    logs[0].added(broken)
    for log in logs:
        log.update(AgentMessageChunk(message_id="m", content=TextBlock(text="words ")))
        log.ended()
    await asyncio.gather(*(log.close() for log in logs))
    assert worker.failed is None
    with sqlite3.connect(tmp_path / "sessions.db") as connection:
        kinds = connection.execute("SELECT id, kind FROM record JOIN session ON number = session ORDER BY place")
        found = [*kinds]
    assert [kind for name, kind in found if name == "two"] == ["began", "user", "update", "ended"]
    assert [kind for name, kind in found if name == "one"][:2] == ["began", "user"]
