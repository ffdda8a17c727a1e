"""The line that says that nothing comes: on a terminal alone, and gone before anything else is printed."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_kit import InTerminal, run, scripted

from duologue.cli.exits import Exit
from duologue.cli.running import Order, Run
from duologue.cli.waiting import Waiting


def rendered(seen: str) -> list[str]:
    """What is left on the terminal, line by line."""
    return [line.rpartition("\r\x1b[K")[2].rstrip("\r") for line in seen.split("\n")]


@pytest.mark.parametrize("protocol", ["1", "2"])
def test_a_slow_agent_is_waited_for_in_one_line(tmp_path: Path, protocol: str) -> None:
    arguments = ("go", "--agent", scripted("slow"), "--protocol", protocol)
    with InTerminal(*arguments, cwd=tmp_path) as slow:
        slow.expect("starting the agent … 1 s")
        slow.expect("starting the agent … 2 s")
        (tmp_path / "start").touch()
        slow.expect("waiting for the agent … ")
        (tmp_path / "go").touch()
        assert slow.end() == 0
        assert rendered(slow.seen) == ["here I am", ""]


def test_the_line_is_gone_after_an_interrupt(tmp_path: Path) -> None:
    with InTerminal("go", "--agent", scripted("slow"), cwd=tmp_path) as slow:
        slow.expect("starting the agent … 1 s")
        slow.type("\x03")
        assert slow.end() == 130
        assert not any("…" in line for line in rendered(slow.seen))


def test_an_agent_that_does_not_end_its_turn_is_waited_for_with_other_words(tmp_path: Path) -> None:
    with InTerminal("go", "--agent", scripted("stubborn"), cwd=tmp_path) as stubborn:
        stubborn.expect("waiting\r\n")
        stubborn.type("\x03")
        stubborn.expect("waiting for the agent to end (Ctrl-C again ends it at once) … ")
        stubborn.type("\x03")
        assert stubborn.end() == 130
        assert not any("…" in line for line in rendered(stubborn.seen))


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Standard output and error on a terminal; the end to read from."""
    master, slave = pty.openpty()
    with monkeypatch.context() as patch, os.fdopen(slave, "w") as stream:
        patch.setenv("TERM", "xterm")
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, stream)
        yield master
    os.close(master)


async def shows(client: Run) -> bool:
    task = client._show_waiting(asyncio.get_running_loop())
    task.cancel()
    return client.out.before is not None and client.errors.before is not None


async def test_it_is_for_people_at_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch), (tmp_path / "out").open("w") as file:
        assert await shows(Run(Order(request="go", command=["x"], cwd=tmp_path)))
        assert not await shows(Run(Order(request="go", command=["x"], cwd=tmp_path, json=True)))
        for name in ("stdout", "stderr"):
            with monkeypatch.context() as patch:
                patch.setattr(sys, name, file)
                assert not await shows(Run(Order(request="go", command=["x"], cwd=tmp_path)))
        monkeypatch.setenv("TERM", "dumb")
        assert not await shows(Run(Order(request="go", command=["x"], cwd=tmp_path)))


async def test_it_is_never_in_a_line_that_is_begun_nor_below_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal(monkeypatch):
        client = Run(Order(request="go", command=["x"], cwd=tmp_path))
        client.output.open()
        assert client._awaited() == "starting the agent"
        client.out.write("a line that is")
        await client.output.settle()
        assert client._awaited() is None
        client.out.fresh()
        assert client._awaited() is None  # It is not written yet.
        await client.output.settle()
        assert client._awaited() is not None
        client.errors.begin("● Read a.txt")
        assert client._awaited() is None
        client.errors.line()
        with client.answers._open_question():
            assert client._awaited() is None
        assert client._awaited() is not None
        client._stop(Exit.CANCELLED)
        assert "Ctrl-C again" in str(client._awaited())
        client._stop(Exit.CANCELLED)
        assert client._awaited() == "ending the agent"


class Narrow:
    """A terminal, or what is left of one."""

    def __init__(self, fd: int) -> None:
        self.seen = asyncio.Queue[str]()
        self.fd = fd
        self.gone = False

    def write(self, text: str) -> None:
        if self.gone:
            raise OSError
        self.seen.put_nowait(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def fileno(self) -> int:
        return self.fd


async def test_it_fits_a_narrow_terminal_and_survives_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch) as fd:
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 12, 0, 0))
        await _narrow(Narrow(fd))


async def _narrow(narrow: Narrow) -> None:
    waiting = Waiting(narrow, lambda: "waiting for a long time")
    task = asyncio.create_task(waiting.run())
    assert await narrow.seen.get() == "\r\x1b[Kwaiting for"
    waiting.clear()
    assert await narrow.seen.get() == "\r\x1b[K"
    assert await narrow.seen.get() == "\r\x1b[Kwaiting for"
    narrow.gone = True
    waiting.clear()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() and narrow.seen.empty()


def test_a_program_that_is_no_agent_is_named_and_ended(tmp_path: Path) -> None:
    """One that writes for ever was listened to for ever."""
    done = run("go", "--agent", "yes", cwd=tmp_path)
    assert done.returncode == 7 and "thousands of lines that are no messages" in done.stderr
    assert len(done.stderr.splitlines()) < 10 and "is this the command of an ACP agent?" in done.stderr
    for command, status in (("cat", 8), ("true", 7)):
        done = run("go", "--agent", command, cwd=tmp_path)
        assert done.returncode == status and "Some need an argument for that, such as --acp" in done.stderr


def test_an_agent_that_broke_is_not_doubted_to_be_one(tmp_path: Path) -> None:
    done = run("go", "--agent", f"{sys.executable} -c 'raise TypeError(1)'", cwd=tmp_path)
    assert done.returncode == 7 and "TypeError: 1" in done.stderr
    assert "is this the command of an ACP agent?" not in done.stderr
