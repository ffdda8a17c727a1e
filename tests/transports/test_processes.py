"""Ending a group of processes: what cannot be ended is told."""

from __future__ import annotations

import asyncio
import logging
import subprocess

import pytest

from duologue.transports import processes
from duologue.transports.processes import Group, signal_name
from spawn_kit import until, zombies


def started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


async def test_field_bug_148_processes_that_cannot_be_ended_are_reported(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    child = started(["/bin/cat"])
    try:
        # As when they belong to another user.
        monkeypatch.setattr(processes, "_signal", lambda *_: None)
        with caplog.at_level(logging.WARNING):
            await Group(child.pid).end(asyncio.get_running_loop().create_future(), 0.05)
        assert str(child.pid) in caplog.text
    finally:
        child.kill()
        child.wait()


async def test_a_group_that_only_holds_zombies_is_gone() -> None:
    child = started(["/bin/true"])
    exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    exited.set_result(0)
    await until(lambda: zombies() == [child.pid])
    async with asyncio.timeout(10):
        await Group(child.pid).end(exited, 60)
    child.wait()


def test_signals_have_names() -> None:
    assert signal_name(9) == "SIGKILL"
    assert signal_name(250) == "signal 250"
