"""Ctrl-C in the examples: a turn is cancelled, a program ends, and neither leaves a traceback or a process."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENT = [sys.executable, "-P", "-m", "duologue", "agent", "--model", "offline"]


class Terminal:
    """A program at a terminal of its own; `until` reads what it prints."""

    def __init__(self, *command: str, cwd: Path) -> None:
        self.fd, inner = pty.openpty()
        self.process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, cwd=cwd, start_new_session=True, close_fds=True
        )
        os.close(inner)
        self.shown = ""

    def until(self, words: str) -> None:
        while words not in self.shown:
            data = os.read(self.fd, 65536)
            assert data, self.shown
            self.shown += data.decode("utf-8", "replace")

    def type(self, line: str) -> None:
        os.write(self.fd, line.encode() + b"\n")

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> int:
        status = self.process.wait(60)
        with contextlib.suppress(OSError):  # how Linux tells the end of a terminal
            while data := os.read(self.fd, 65536):
                self.shown += data.decode("utf-8", "replace")
        os.close(self.fd)
        return status


@pytest.mark.parametrize(("example", "status"), [("chat.py", 130), ("migrated_client.py", -signal.SIGINT)])
def test_ctrl_c_at_the_prompt_leaves(tmp_path: Path, example: str, status: int) -> None:
    terminal = Terminal(sys.executable, str(EXAMPLES / example), *AGENT, cwd=tmp_path)
    terminal.until("> ")
    terminal.interrupt()
    assert terminal.end() == status
    assert "Traceback" not in terminal.shown


def test_ctrl_c_cancels_the_turn_of_a_chat_and_the_next_line_is_a_prompt(tmp_path: Path) -> None:
    terminal = Terminal(sys.executable, str(EXAMPLES / "chat.py"), *AGENT, cwd=tmp_path)
    terminal.until("> ")
    terminal.type("run `true`")
    terminal.until("? ")
    terminal.interrupt()
    terminal.until("(cancelled)")
    terminal.until("\n> ")
    terminal.type("hello")
    terminal.until("(end_turn)")
    terminal.interrupt()
    assert terminal.end() == 130
    assert "Traceback" not in terminal.shown


def test_ctrl_c_ends_a_client_without_a_traceback(tmp_path: Path) -> None:
    terminal = Terminal(sys.executable, str(EXAMPLES / "client.py"), "run `sleep 1000`", *AGENT, cwd=tmp_path)
    terminal.until("sleep 1000")
    terminal.interrupt()
    assert terminal.end() == 130
    assert "Traceback" not in terminal.shown
