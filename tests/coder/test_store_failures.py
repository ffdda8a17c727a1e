"""The store of sessions when something goes wrong: nobody waits for ever, and nothing is half done."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from acp_kit import take_turn
from coder_kit import says
from store_kit import process

from duologue.coder.acp_archive import Archive
from duologue.coder.store.database import Database
from duologue.coder.store.desk import Desk
from duologue.coder.store.errors import Busy, Unreadable
from duologue.coder.store.saved import Saved
from duologue.coder.store.settings import StoreLimits, StoreSettings
from duologue.coder.store.worker import Worker
from duologue.local.lock import Lock
from wire import PATIENCE

ONE = {"conversation": "c", "cwd": "/", "roots": [], "model": "m", "mode": "ask"}


async def test_any_error_in_a_batch_fails_all_of_it(tmp_path: Path) -> None:
    def broken(desk: Desk) -> None:
        raise ValueError("hunter2")

    def create(desk: Desk) -> None:
        desk.create("one", ONE)

    all_asked = threading.Event()

    def settings() -> StoreSettings:
        assert all_asked.wait(PATIENCE)
        return StoreSettings(tmp_path, StoreLimits())

    worker = Worker(settings)
    asking = asyncio.gather(*map(worker.ask, (create, broken, create)), return_exceptions=True)
    await asyncio.sleep(0)  # Now each has asked, and they come in one batch.
    all_asked.set()
    answers = await asking
    assert answers == [worker.failed] * 3 and "ValueError" in str(worker.failed)
    assert "hunter2" not in str(worker.failed) and Database(tmp_path).rows() == []


def test_a_number_that_another_process_still_holds_is_not_given_again(tmp_path: Path) -> None:
    database = Database(tmp_path)
    held = Lock.take(tmp_path / "locks" / "1")
    with database.transaction():
        database.create("kept", ONE, 0)
    assert held is not None and [(row.id, row.number) for row in database.rows()] == [("kept", 2)]


def test_a_transaction_that_comes_to_nothing_leaves_the_locks_as_they_were(tmp_path: Path) -> None:
    mine, other = Database(tmp_path), Database(tmp_path)
    with mine.transaction():
        for name in ("released", "deleted", "free", "free and deleted"):
            mine.create(name, ONE, 0)
    mine.release("free")
    mine.release("free and deleted")
    with pytest.raises(ZeroDivisionError), mine.transaction():
        mine.create("lost", ONE, 0)
        mine.release("released")
        mine.delete("deleted")
        assert mine.take("free")
        mine.delete("free and deleted")
        raise ZeroDivisionError
    for name in ("released", "deleted"):
        assert mine.take(name)
        with pytest.raises(Busy):
            other.take(name)
    assert other.take("free") and other.take("free and deleted") and not other.take("lost")


def test_a_session_can_be_let_go_of_and_taken_again_in_one_transaction(tmp_path: Path) -> None:
    mine, other = Database(tmp_path), Database(tmp_path)
    with mine.transaction():
        mine.create("one", ONE, 0)
        mine.release("one")
        assert mine.take("one")
    with pytest.raises(Busy):
        other.take("one")


def test_without_a_free_number_a_session_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(tmp_path)
    with monkeypatch.context() as patch, database.transaction():
        patch.setattr("duologue.coder.store.database.Lock.take", lambda path: None)
        with pytest.raises(Busy):
            database.create("one", ONE, 0)
    assert database.rows() == []


async def test_sessions_are_listed_while_one_is_forked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go_on, read = asyncio.Event(), asyncio.Event(), Archive.read

    async def slow(archive: Archive, session_id: str) -> Saved:
        asked.set()
        await go_on.wait()
        return await read(archive, session_id)

    async with process(tmp_path / "kept", says("one"), protocol=2) as (first, _, _):
        session = await first.new_session(tmp_path)
        await take_turn(session, "first")
    monkeypatch.setattr(Archive, "read", slow)
    async with process(tmp_path / "kept", says("two"), protocol=2) as (second, _, _):
        forking = asyncio.create_task(second.fork_session(session.id, tmp_path))
        await asked.wait()
        assert [info.session_id async for info in second.stored_sessions()] == [session.id]
        go_on.set()
        await take_turn(await forking, "second")


async def test_what_nobody_waits_for_is_told_when_it_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def damaged(desk: Desk) -> None:
        raise Unreadable("it is damaged")

    worker = Worker(lambda: StoreSettings(tmp_path, StoreLimits()))
    worker.put(damaged)
    await worker.ask(lambda desk: None)
    assert "it is damaged" in caplog.text and worker.failed is None
