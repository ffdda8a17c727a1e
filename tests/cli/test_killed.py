"""Agents and clients that are killed with SIGKILL leave nothing behind; all of them are real ones."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_kit import DUOLOGUE, RawAgent, scripted, start

from procs import alive, descendants
from wire import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: A command whose child forks again, twice in a session of its own: four processes, which write down who they are.
FORKS = """\
echo $$ >> pids
setsid sh -c 'echo $$ >> pids; sleep 600 & echo $! >> pids; wait' &
setsid sh -c 'sleep 600 & echo $! >> pids'
sleep 600
"""


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def pids_in(file: Path, count: int) -> list[int]:
    until(lambda: file.exists() and len(file.read_text().split()) >= count)
    return [int(word) for word in file.read_text().split()]


def test_a_killed_agent_leaves_nothing_of_a_command_that_has_forked(tmp_path: Path) -> None:
    (tmp_path / "forks.sh").write_text(FORKS)
    with RawAgent([*DUOLOGUE, "agent", "--model", "offline"], tmp_path) as agent:
        agent.prompt(agent.open(tmp_path), "run `sh forks.sh`")
        agent.allow()
        pids = pids_in(tmp_path / "pids", 4)
        assert all(map(alive, pids))
        agent.process.send_signal(signal.SIGKILL)
        until(lambda: not any(map(alive, pids)))


def test_a_killed_client_leaves_neither_agent_nor_command(tmp_path: Path) -> None:
    with start("--agent", scripted("children"), "--yes", "go", cwd=tmp_path) as run:
        (command,) = pids_in(tmp_path / "pid", 1)
        started = descendants(run.pid)
        assert command in started
        run.kill()
        until(lambda: not any(map(alive, started)))


def test_a_killed_client_leaves_no_agent_that_does_not_listen(tmp_path: Path) -> None:
    line = "echo $$ >> pids; sleep 600 & echo $! >> pids; wait; sleep 600"
    (tmp_path / "agent.sh").write_text(line)
    with start("--agent", "sh agent.sh", "go", cwd=tmp_path) as run:
        pids = pids_in(tmp_path / "pids", 2)
        run.kill()
        until(lambda: not any(map(alive, pids)))
