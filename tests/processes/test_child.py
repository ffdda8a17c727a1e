"""A child is reaped at once, and what descends from it is known and ended."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
from pathlib import Path

import pytest

from duologue.processes.child import Child, signal_name
from duologue.processes.process import Process
from duologue.processes.tree import Tree
from procs import LINUX, alive, open_descriptors, zombies
from spawn_kit import pids_in, until
from wire import PATIENCE


def start(line: str, folder: Path, **options: float | bool) -> Child:
    """A shell that runs a line, and may take a third of a second for each stage of its end."""
    return Child.start(["/bin/sh", "-c", line], folder, os.environ, **{"grace": 0.3, **options})  # type: ignore[arg-type]


async def test_stopping_twice_or_after_the_end_is_harmless(tmp_path: Path) -> None:
    process = Process.start(["/bin/sh", "-c", "exit 5"], tmp_path, {})
    assert [data async for data in process.output()] == []
    await process.stop()
    await process.stop()
    assert (process.exit_code, process.signal) == (5, None)


async def test_a_group_does_not_get_the_signals_of_ours(tmp_path: Path) -> None:
    process = Process.start(["/bin/sleep", "30"], tmp_path, {}, grace=0.5)
    assert os.getpgid(process.pid) == process.pid != os.getpgid(0)
    await process.stop()
    assert (process.exit_code, process.signal) == (None, "SIGTERM")


async def test_output_that_is_read_while_another_stops_it_comes_in_order_to_its_end(tmp_path: Path) -> None:
    goodbye = "trap 'i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done; exit' TERM"
    # Without its errors: the shell tells that sleep was terminated.
    line = f"exec 2> /dev/null; {goodbye}; echo begun; while :; do sleep 0.01; done"
    process = Process.start(["/bin/sh", "-c", line], tmp_path, os.environ, grace=20)
    pieces: list[bytes] = []

    async def read() -> None:
        async for data in process.output():
            pieces.append(data)

    reading = asyncio.create_task(read())
    await until(lambda: pieces)
    late = await process.stop()
    await asyncio.wait_for(reading, PATIENCE)
    assert (b"".join(pieces) + late).split() == [b"begun", *(str(number).encode() for number in range(2000))]


async def test_a_child_is_reaped_before_anybody_asks(tmp_path: Path) -> None:
    child = start("exit 3", tmp_path)
    await child.wait()
    assert (child.exited.result(), child.exit_code) == (3, 3)
    assert zombies() == []
    await child.end()


async def test_waiting_may_be_bounded_and_cancelled(tmp_path: Path) -> None:
    child = start("exec sleep 60", tmp_path)
    await child.wait(0)
    waiting = asyncio.create_task(child.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    assert not child.exited.done()
    await child.end()
    assert child.signal == "SIGTERM"


@LINUX
@pytest.mark.parametrize("everything", [False, True])
async def test_who_left_group_and_parents_is_known_by_the_mark(tmp_path: Path, everything: bool) -> None:
    """A service that a program has cut loose stays, unless everything is to go."""
    pids = tmp_path / "pids"
    child = start(f"setsid sh -c 'sleep 60 & echo $! >> {pids}'; exec sleep 60", tmp_path)
    (loose,) = await pids_in(pids)
    await until(lambda: Path(f"/proc/{loose}/stat").read_text().split()[3] != str(child.pid))
    await child.end(everything=everything)
    try:
        assert alive(loose) != everything
        assert not alive(child.pid)
    finally:
        if not everything:
            os.kill(loose, 9)


@LINUX
async def test_who_forks_while_being_ended_is_ended_too(tmp_path: Path) -> None:
    """Each answers SIGTERM with a child in a session of its own."""
    pids = tmp_path / "pids"
    again = f"trap 'setsid sleep 60 & echo $! >> {pids}' TERM; echo $$ >> {pids}; while :; do sleep 0.01; done"
    child = start(again, tmp_path)
    await pids_in(pids)
    await child.end(everything=True)
    assert len(pids.read_text().split()) > 1
    assert [pid for pid in await pids_in(pids) if alive(pid)] == []


@LINUX
def test_a_number_that_now_belongs_to_another_process_gets_no_signal(tmp_path: Path) -> None:
    bystander = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        tree = Tree(1 << 30)
        tree._strays.add((bystander.pid, b"another start"))
        assert tree.strays() == []
        tree.send(9)
        assert bystander.poll() is None and alive(bystander.pid)
    finally:
        bystander.kill()
        bystander.wait()


async def test_field_bug_148_processes_that_cannot_be_ended_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    child = start("exec sleep 60", tmp_path, grace=0.05)
    try:
        # As when they belong to another user.
        monkeypatch.setattr(Tree, "send", lambda *_: None)
        with caplog.at_level(logging.WARNING):
            await child.end()
        assert str(child.pid) in caplog.text
        assert child.alive()
    finally:
        monkeypatch.undo()
        await child.end()


@LINUX
def test_a_group_that_only_holds_zombies_is_gone() -> None:
    popen = subprocess.Popen(["/bin/true"], start_new_session=True)
    os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOWAIT)
    assert zombies() == [popen.pid]
    assert not Tree(popen.pid).runs()
    popen.wait()


@LINUX
async def test_pipes_are_handed_over_once_and_nothing_else_stays_open(tmp_path: Path) -> None:
    child = start("cat", tmp_path)  # the keeper's pipe is open from now on
    await child.end()
    os.close(child.pipe(1))
    before = open_descriptors()
    for _ in range(5):
        child = start("cat", tmp_path)
        os.close(child.pipe(1))
        await child.end()
        process = Process.start(["/bin/sleep", "60"], tmp_path, {}, grace=0.3)
        stopping = asyncio.create_task(process.stop())
        await asyncio.sleep(0)
        stopping.cancel()
        await asyncio.wait({stopping})
        await process.wait()
    assert open_descriptors() == before
    assert zombies() == []


def test_signals_have_names() -> None:
    assert signal_name(9) == "SIGKILL"
    assert signal_name(250) == "SIG250"
