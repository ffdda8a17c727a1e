"""What is in the way of the store for a while: another process, a full disk, a folder that is gone. Nothing is lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest
from acp_kit import take_turn
from coder_kit import says
from store_kit import process, query

from duologue.client import ClientConnection, Session
from duologue.coder.store.settings import StoreLimits
from duologue.jsonrpc.errors import RpcError
from wire import PATIENCE

LIMITS = StoreLimits(busy_seconds=0, flush_seconds=0.01, retry_seconds=0.01)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.coder.store.database.BUSY_SECONDS", 0.05)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "state" / "kept"


@contextmanager
def locked(kept: Path) -> Iterator[None]:
    """Another process writes, and does not come to an end."""
    with closing(sqlite3.connect(kept / "sessions.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def full(kept: Path) -> Iterator[None]:
    """No page of the database can be added."""
    connect = sqlite3.connect

    def small(*args: object, **options: object) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", small)
        move(kept)
        yield


@contextmanager
def in_the_way(kept: Path) -> Iterator[None]:
    """The folder cannot be made again, since its place is taken."""
    shutil.rmtree(kept.parent)
    kept.parent.write_text("no folder")
    yield
    kept.parent.unlink()


HINDRANCES = [locked, full, in_the_way]


def move(kept: Path) -> None:
    """The folder is elsewhere, and its files are written on there."""
    kept.rename(kept.with_name(f"moved {os.urandom(4).hex()}"))


async def until(told: pytest.LogCaptureFixture, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while words not in told.text:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def said_in(kept: Path, project: Path, session_id: str) -> list[str]:
    """What a later process knows of a session."""
    async with process(kept) as (agent, _, _):
        session = await agent.resume_session(session_id, project)
        return [message.text for message in session.transcript.messages if not message.text.startswith("Note: ")]


def notes(session: Session) -> list[str]:
    """What the agent itself has told in a session."""
    texts = [message.text for message in session.transcript.messages]
    return [text for text in texts if text.startswith("Note: ")]


@asynccontextmanager
async def working(kept: Path, project: Path, *texts: str) -> AsyncIterator[tuple[ClientConnection, Session]]:
    """A session with one turn that is written down."""
    async with process(kept, *map(says, ("one", *texts)), limits=LIMITS) as (agent, _, _):
        session = await agent.new_session(project)
        await take_turn(session, "first")
        await agent.list_sessions()
        yield agent, session


@pytest.mark.parametrize("hindrance", HINDRANCES)
async def test_what_cannot_be_written_waits_and_is_told_once(
    kept: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, hindrance: object
) -> None:
    assert callable(hindrance)
    async with working(kept, tmp_path, "two", "three", "four") as (agent, session):
        with hindrance(kept):
            await take_turn(session, "second")
            await until(caplog, "are not kept for now")
            await take_turn(session, "third")
            assert [info.session_id async for info in agent.stored_sessions()] == [session.id]
            with pytest.raises(RpcError, match="for now") as error:
                await agent.resume_session("another", tmp_path)
            assert error.value.code == -32603
            with pytest.raises(RpcError, match="for now"):
                await agent.delete_session("another")
        await until(caplog, "written again")
        await take_turn(session, "fourth")
        assert [note.split(":")[1].split(",")[0] for note in notes(session)] == [
            " sessions are not kept for now",
            " sessions are written again",
        ]
    assert len([each for each in caplog.records if "for now" in each.getMessage()]) == 1
    assert await said_in(kept, tmp_path, session.id) == [
        *("first", "one", "second", "two", "third", "three", "fourth", "four")
    ]


@pytest.mark.parametrize("hindrance", HINDRANCES)
async def test_with_too_much_that_waits_nothing_is_kept_any_more(
    kept: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, hindrance: object
) -> None:
    assert callable(hindrance)
    limits = StoreLimits(busy_seconds=0, flush_seconds=0.01, retry_seconds=0.01, waiting_bytes=20_000)
    async with process(kept, *map(says, ("one", "x" * 20_000, "three")), limits=limits) as (agent, _, models):
        session = await agent.new_session(tmp_path)
        await take_turn(session, "first")
        await agent.list_sessions()
        with hindrance(kept):
            await take_turn(session, "second")
            await until(caplog, "sessions are not kept: ")
            await take_turn(session, "third")
        assert "20000 bytes" in notes(session)[-1]
        assert [message.text for message in models.model.requests[-1].messages][-1] == "third"


async def test_a_store_that_is_locked_from_the_start_is_waited_for(
    kept: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with working(kept, tmp_path):
        pass
    async with process(kept, says("one"), limits=LIMITS) as (agent, _, _):
        with locked(kept):
            session = await agent.new_session(tmp_path)
            await take_turn(session, "first")
            await until(caplog, "are not kept for now")
        await until(caplog, "written again")
    assert await said_in(kept, tmp_path, session.id) == ["first", "one"]


@pytest.mark.parametrize("how", [shutil.rmtree, move, lambda kept: (kept / "sessions.db").unlink()])
async def test_a_folder_that_is_gone_is_made_again_with_what_is_open(
    kept: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, how: object
) -> None:
    assert callable(how)
    async with process(kept, *map(says, ("closed", "one", "two")), limits=LIMITS) as (agent, _, _):
        closed, session = [await agent.new_session(tmp_path) for _ in range(2)]
        await take_turn(closed, "before")
        await closed.close()
        await take_turn(session, "first")
        await agent.list_sessions()
        how(kept)
        await take_turn(session, "second")
        await until(caplog, "was removed or moved")
        async with process(kept, limits=LIMITS) as (other, _, _):
            assert [info.session_id async for info in other.stored_sessions()] == [session.id]
            with pytest.raises(RpcError, match="open in another process"):
                await other.resume_session(session.id, tmp_path)
    assert await said_in(kept, tmp_path, session.id) == ["first", "one", "second", "two"]
    assert query(kept, "PRAGMA integrity_check") == [("ok",)]


async def test_of_a_folder_that_was_put_back_the_open_session_is_the_newer_one(kept: Path, tmp_path: Path) -> None:
    async with working(kept, tmp_path, "two", "three") as (agent, session):
        backup = kept.with_name("backup")
        with closing(sqlite3.connect(kept / "sessions.db")) as connection:
            backup.mkdir(mode=0o700)
            connection.execute("VACUUM INTO ?", (str(backup / "sessions.db"),))
        await take_turn(session, "second")
        await agent.list_sessions()
        move(kept)
        backup.rename(kept)
        (kept / "sessions.db").chmod(0o600)
        await take_turn(session, "third")
    assert await said_in(kept, tmp_path, session.id) == ["first", "one", "second", "two", "third", "three"]
