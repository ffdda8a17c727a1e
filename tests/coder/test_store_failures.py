"""The store of sessions when something goes wrong: nobody waits for ever, and nothing is half done."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from pathlib import Path

import pytest
from acp_kit import take_turn
from coder_kit import says
from store_kit import process

from duologue.coder.acp_archive import Archive
from duologue.coder.store.database import Database
from duologue.coder.store.desk import Desk
from duologue.coder.store.errors import Busy, StoreError
from duologue.coder.store.saved import Saved
from duologue.coder.store.settings import StoreLimits, StoreSettings
from duologue.coder.store.worker import Job

ONE = {"conversation": "c", "cwd": "/", "roots": [], "model": "m", "mode": "ask"}


def test_any_error_in_a_batch_fails_all_of_it(tmp_path: Path) -> None:
    def broken(desk: Desk) -> None:
        raise ValueError("hunter2")

    def create(desk: Desk) -> None:
        desk.create("one", ONE)

    desk = Desk(StoreSettings(tmp_path, StoreLimits(), ()))
    jobs = [Job(work, Future()) for work in (create, broken, Desk.rows)]
    with pytest.raises(StoreError, match="ValueError") as failure:
        desk.do(jobs)
    assert [job.answer and job.answer.exception(0) for job in jobs] == [failure.value] * 3
    assert "hunter2" not in str(failure.value) and desk.rows() == []
    desk.close()


def test_a_number_that_another_process_still_holds_is_not_given_again(tmp_path: Path) -> None:
    first, second = Database(tmp_path), Database(tmp_path)
    with pytest.raises(ZeroDivisionError), first.transaction():
        first.create("lost", ONE, 0)
        raise ZeroDivisionError
    with second.transaction():
        second.create("kept", ONE, 0)
    assert [(row.id, row.number) for row in second.rows()] == [("kept", 2)]
    assert second.take("kept") and first.find("lost") is None


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
