"""What a process has started does not outlive it, however it goes; the starters here are real ones, killed for real."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from duologue.processes.child import Child
from duologue.processes.keeper import KEEPER, Keeper
from duologue.processes.tree import Orphan
from procs import LINUX, alive, open_descriptors
from spawn_kit import pids_in, python, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

STARTER = """
    import asyncio, os, sys
    from duologue.processes.process import Process
    {before}
    async def main():
        process = Process.start(["/bin/sh", "-c", sys.argv[1]], None, os.environ)
        {after}
        await asyncio.sleep(600)

    asyncio.run(main())
"""


@contextmanager
def starter(folder: Path, line: str, *, before: str = "", after: str = "pass") -> Iterator[subprocess.Popen[bytes]]:
    """A process that starts a shell with a line, and is killed in the end."""
    command = python(folder, STARTER.format(before=before, after=after), "starter.py")
    command.remove("-S")
    process = subprocess.Popen([*command, line], cwd=folder, start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def keepers_of(pid: int) -> list[int]:
    """The shells at the other end of a pipe of a process."""
    pipes = set(pipes_of(pid))
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and b"duologue-keeper" in read(entry / "cmdline") and pipes & set(pipes_of(entry.name))
    ]


def pipes_of(pid: int | str) -> Iterator[str]:
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if (target := str(link.readlink())).startswith("pipe:"):
                    yield target


def read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


async def all_gone(pids: list[int]) -> None:
    await until(lambda: not any(map(alive, pids)))


# Three that run on: the shell, a child of it, and that child's child.
FORKS = "echo $$ >> pids; sh -c 'echo $$ >> pids; sleep 600 & echo $! >> pids; wait' & wait"


async def test_a_killed_starter_takes_a_program_that_has_forked_with_it(tmp_path: Path) -> None:
    with starter(tmp_path, FORKS) as process:
        pids = await pids_in(tmp_path / "pids", 3)
        assert all(map(alive, pids))
        process.kill()
        await all_gone(pids)


@LINUX
async def test_so_it_does_those_in_sessions_of_their_own_with_and_without_a_parent(tmp_path: Path) -> None:
    line = (
        "echo $$ >> pids; setsid sh -c 'echo $$ >> pids; sleep 600' & "
        "setsid sh -c 'sleep 600 & echo $! >> pids'; sleep 600"
    )
    with starter(tmp_path, line) as process:
        pids = await pids_in(tmp_path / "pids", 3)
        process.kill()
        await all_gone(pids)


async def test_a_program_that_ignores_the_polite_signal_is_killed_too(tmp_path: Path) -> None:
    with starter(tmp_path, "trap '' TERM HUP; echo $$ >> pids; while :; do sleep 0.1; done") as process:
        pids = await pids_in(tmp_path / "pids")
        process.kill()
        await all_gone(pids)


DYING = """
    import subprocess
    from duologue.processes import child

    class Dying(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            with open("pids", "w") as file:
                file.write(str(self.pid))
            os.kill(os.getpid(), 9)

    child.subprocess = type("", (), {**vars(subprocess), "Popen": Dying})
"""


@LINUX
async def test_a_starter_that_is_killed_while_it_starts_one_takes_it_along(tmp_path: Path) -> None:
    """It never came to know the number of what it started."""
    with starter(tmp_path, "exec sleep 600", before=DYING) as process:
        (started,) = await pids_in(tmp_path / "pids")
        await until(lambda: process.poll() == -signal.SIGKILL)
        await all_gone([started])


async def test_the_programs_get_the_polite_signal_first(tmp_path: Path) -> None:
    # Nobody reads what the shell says of its child's end.
    line = "exec 2> /dev/null; trap 'echo bye > said; exit' TERM; echo $$ > pids; while :; do sleep .1; done"
    with starter(tmp_path, line) as process:
        pids = await pids_in(tmp_path / "pids")
        process.kill()
        await all_gone(pids)
    assert (tmp_path / "said").read_text() == "bye\n"


@LINUX
async def test_a_starter_that_just_leaves_takes_them_along_and_the_keeper_goes_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    with starter(tmp_path, FORKS, after="await asyncio.to_thread(open, 'go'); os._exit(0)") as process:
        pids = await pids_in(tmp_path / "pids", 3)
        keepers = keepers_of(process.pid)
        assert len(keepers) == 1
        await asyncio.to_thread((tmp_path / "go").write_text, "")
        await all_gone([*pids, *keepers])


async def test_what_has_ended_by_itself_may_leave_a_service(tmp_path: Path) -> None:
    # Its starter stays until it has left the group.
    service_line = "setsid sh -c 'echo $$ > pids; exec sleep 600' > /dev/null 2>&1"
    line = service_line + " & while [ ! -s pids ]; do sleep 0.01; done"
    after = "[print(data) async for data in process.output()]; await process.stop(); open('stopped', 'w').close()"
    with starter(tmp_path, line, after=after) as process:
        (service,) = await pids_in(tmp_path / "pids")
        await until((tmp_path / "stopped").exists)
        keepers = keepers_of(process.pid)
        process.kill()
        await all_gone([process.pid, *keepers])
    assert alive(service)
    os.kill(service, signal.SIGKILL)


@LINUX
async def test_a_keeper_that_was_killed_is_replaced_and_told_of_what_runs(tmp_path: Path) -> None:
    again = 'Process.start(["/bin/sh", "-c", "echo $$ >> pids; exec sleep 600"], None, os.environ)'
    after = f"await asyncio.to_thread(open, 'go'); {again}"
    os.mkfifo(tmp_path / "go")
    with starter(tmp_path, FORKS, after=after) as process:
        await pids_in(tmp_path / "pids", 3)
        (keeper,) = keepers_of(process.pid)
        os.kill(keeper, signal.SIGKILL)
        await all_gone([keeper])
        await asyncio.to_thread((tmp_path / "go").write_text, "")
        pids = await pids_in(tmp_path / "pids", 4)
        process.kill()
        await all_gone(pids)


async def test_a_fork_of_the_starter_does_not_keep_the_programs_alive(tmp_path: Path) -> None:
    fork = "import time; os.fork() or (open('fork', 'w').write(f'{os.getpid()}\\n'), time.sleep(600))"
    with starter(tmp_path, FORKS, after=fork) as process:
        pids = await pids_in(tmp_path / "pids", 3)
        (other,) = await pids_in(tmp_path / "fork")
        try:
            process.kill()
            await all_gone(pids)
            assert alive(other)
        finally:
            os.kill(other, signal.SIGKILL)


async def test_where_python_cannot_be_found_the_group_is_ended(tmp_path: Path) -> None:
    with starter(tmp_path, FORKS, before="sys.executable = ''", after="open('told', 'w').close()") as process:
        pids = await pids_in(tmp_path / "pids", 3)
        await until((tmp_path / "told").exists)
        process.kill()
        await all_gone(pids)


# --- an agent whose client is killed ----------------------------------------------------------------------------------

CLIENT = """
    import asyncio, sys
    sys.path.insert(0, {kit!r})
    from spawn_kit import Heard
    from duologue.transports.spawn import SpawnTransport

    async def main():
        transport = SpawnTransport(["/bin/sh", "-c", sys.argv[1]], grace_seconds={grace})
        await transport.start(Heard())
        await asyncio.sleep(600)

    asyncio.run(main())
"""


@contextmanager
def client(folder: Path, line: str, grace: float) -> Iterator[subprocess.Popen[bytes]]:
    code = CLIENT.format(kit=str(Path(__file__).parent.parent), grace=grace)
    command = python(folder, code, "client.py")
    command.remove("-S")
    process = subprocess.Popen([*command, line], cwd=folder, start_new_session=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def test_an_agent_whose_client_was_killed_may_end_by_itself(tmp_path: Path) -> None:
    line = "trap 'echo term > said' TERM; echo $$ >> pids; cat; echo bye > said"
    with client(tmp_path, line, 20) as process:
        pids = await pids_in(tmp_path / "pids")
        process.kill()
        await all_gone(pids)
    assert (tmp_path / "said").read_text() == "bye\n"


@LINUX
async def test_one_that_does_not_is_ended_with_its_group_and_what_descends_from_it(tmp_path: Path) -> None:
    line = "trap '' TERM; setsid sh -c 'echo $$ >> pids; sleep 600' & " + FORKS
    with client(tmp_path, line, 0.2) as process:
        pids = await pids_in(tmp_path / "pids", 4)
        process.kill()
        await all_gone(pids)


# --- what the keeper holds --------------------------------------------------------------------------------------------


def held(pid: int) -> bool:
    return any(orphan.leader == pid for orphan in KEEPER._held.values())


async def test_a_program_is_held_as_long_as_something_of_it_runs() -> None:
    quick, slow, forked = (
        Child.start(["/bin/sh", "-c", line], None, os.environ, grace=0.3)
        for line in ("exit", "exec sleep 60", "sleep 60 & exit")
    )
    await asyncio.gather(quick.wait(), forked.wait())
    await until(lambda: not held(quick.pid))
    assert held(slow.pid) and held(forked.pid)
    await asyncio.gather(slow.end(), forked.end())
    assert not held(slow.pid) and not held(forked.pid)
    await quick.end()


async def test_an_end_that_is_cancelled_holds_nothing_either(tmp_path: Path) -> None:
    line = "trap '' TERM; echo $$ > pids; while :; do sleep 0.1; done"
    child = Child.start(["/bin/sh", "-c", line], tmp_path, os.environ, grace=60)
    await pids_in(tmp_path / "pids", 1)
    ending = asyncio.create_task(child.end())
    await asyncio.sleep(0)
    ending.cancel()
    await asyncio.wait({ending})
    assert not held(child.pid)
    await child.wait()
    assert child.signal == "SIGKILL"


def test_without_a_shell_a_warning_is_all(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    before = open_descriptors()
    keeper = Keeper()
    monkeypatch.setattr(subprocess, "run", fail)
    keeper.hold("key", Orphan(1 << 30, "", 0))
    keeper.release("key")
    assert "will outlive this process" in caplog.text
    assert open_descriptors() == before
