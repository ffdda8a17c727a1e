"""The command as a real process: an agent spoken to by hand, and runs in terminals and without one."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import shlex
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wire import PATIENCE

PROGRAM = Path(__file__).parent / "programs" / "scripted_agent.py"
DUOLOGUE = [sys.executable, "-P", "-m", "duologue"]


def bare_environment(**more: str) -> dict[str, str]:
    """What a desktop's editor may pass on: nearly nothing. `PYTHONPATH` only finds this checkout."""
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return {"PATH": "/usr/bin:/bin", **kept, **more}


def scripted(scenario: str) -> str:
    """The command line of the scripted agent."""
    return shlex.join([sys.executable, str(PROGRAM), scenario])


class RawAgent:
    """An agent process, the lines it wrote, and (once it has ended) what it wrote to standard error."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(bare_environment() if env is None else env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.lines: list[bytes] = []
        self.stderr = ""
        self._rest = b""
        self._ids = 0

    def __enter__(self) -> RawAgent:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> int:
        """Send a request; its id."""
        self._ids += 1
        self.send({"id": self._ids, "method": method, "params": params})
        return self._ids

    def until(self, wanted: Any) -> dict[str, Any]:
        """Read messages up to the first that fits; that one."""
        while True:
            message = self.message()
            if wanted(message):
                return message

    def answer(self, id: int) -> Any:
        """The result of a request."""
        message = self.until(lambda message: message.get("id") == id and "method" not in message)
        assert "result" in message, message
        return message["result"]

    def message(self) -> dict[str, Any]:
        """The next message; fails when a line is none."""
        line = self._line()
        self.lines.append(line)
        message = json.loads(line)
        assert isinstance(message, dict) and message["jsonrpc"] == "2.0"
        return message

    def _line(self) -> bytes:
        assert self.process.stdout is not None
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"nothing was written in {PATIENCE} s"
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                assert self.process.stderr is not None
                self.stderr += self.process.stderr.read().decode()
                raise EOFError(self.stderr)
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def open(self, cwd: Path, protocol: int = 1) -> str:
        """Initialize and open a session; its id."""
        if protocol == 1:
            self.answer(self.ask("initialize", protocolVersion=1, clientCapabilities={}))
        else:
            info = {"name": "editor", "version": "1"}
            self.answer(self.ask("initialize", protocolVersion=2, capabilities={}, info=info))
        session_id: str = self.answer(self.ask("session/new", cwd=str(cwd), mcpServers=[]))["sessionId"]
        return session_id

    def prompt(self, session_id: str, text: str) -> int:
        return self.ask("session/prompt", sessionId=session_id, prompt=[{"type": "text", "text": text}])

    def allow(self) -> None:
        """Wait for a permission request and allow it once."""
        request = self.until(lambda message: message.get("method") == "session/request_permission")
        (option,) = [one for one in request["params"]["options"] if one["kind"] == "allow_once"]
        outcome = {"outcome": "selected", "optionId": option["optionId"]}
        self.send({"id": request["id"], "result": {"outcome": outcome}})

    def rest(self) -> list[dict[str, Any]]:
        """Close standard input and read to the end; every line must be a message."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        read = []
        try:
            while True:
                read.append(self.message())
        except EOFError:
            return read


def run(
    *arguments: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    text: str | None = None,
    command: str = "run",
    patience: float = PATIENCE,
) -> subprocess.CompletedProcess[str]:
    """`duologue run`, or another command, to its end, without any terminal."""
    return subprocess.run(
        [*DUOLOGUE, command, *arguments],
        cwd=cwd,
        env=dict(bare_environment() if env is None else env),
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=patience,
        check=False,
    )


def start(*arguments: str, cwd: Path, **more: Any) -> subprocess.Popen[str]:
    """`duologue run`, to be watched."""
    return subprocess.Popen(
        [*DUOLOGUE, "run", *arguments],
        cwd=cwd,
        env=bare_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **more,
    )


class InTerminal:
    """`duologue run` in a terminal of its own, which is also its controlling terminal."""

    def __init__(self, *arguments: str, cwd: Path, command: Sequence[str] | None = None, **env: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            command or [*DUOLOGUE, "run", *arguments],
            cwd=cwd,
            env=bare_environment(TERM="xterm", **env),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.seen = ""
        self._expected = 0

    def __enter__(self) -> InTerminal:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def expect(self, text: str) -> None:
        """Read until a text has appeared behind the last one that was expected."""
        deadline = time.monotonic() + PATIENCE
        while (found := self.seen.find(text, self._expected)) < 0:
            assert time.monotonic() < deadline, f"{text!r} was not seen in {PATIENCE} s: {self.seen}"
            assert self._read(), f"the terminal closed before {text!r} was seen: {self.seen}"
        self._expected = found + len(text)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        """Read to the end; the exit status."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE)
        assert ready, f"nothing came in {PATIENCE} s: {self.seen}"
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux: the other end is closed
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)
