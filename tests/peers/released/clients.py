"""Released clients, and the place in which each is tried with `duologue agent`. docs/peers.md tells how it goes;
`install.sh` puts them below .peers/released."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalog import PLACE, ROOT
from model_server import ModelServer

from procs import alive

Json = dict[str, Any]

#: How long anything may take on a busy machine, in seconds; whoever waits that long has failed.
PATIENCE = 90.0

DUOLOGUE = Path(sys.executable).parent / "duologue"

#: A script for a call that ends when it is ended: its process id is in the file.
WAITING = "wait.sh"
WAITING_PID = "waiting.pid"


@dataclass(frozen=True)
class Model:
    """What drives the agent: its name for the agent, a prompt with a part of its answer, and how it is told to work."""

    name: str
    hello: str
    answer: str
    run: Callable[[str], str]
    write: Callable[[str, str], str]


OFFLINE = Model(
    "offline",
    "hello",
    "a set of rules",
    lambda command: f"run {command}",
    lambda path, text: f'create {path} with "{text}"',
)
SERVED = Model(
    "scripted-model",
    "[[say the answer of the model]]",
    "the answer of the model",
    lambda command: f"[[call run_command {json.dumps({'command': command})}]]",
    lambda path, text: f"[[call write_file {json.dumps({'path': path, 'text': text})}]]",
)


@dataclass(frozen=True)
class ReleasedClient:
    """A client of a registry, with the model that the agent works with."""

    name: str
    package: str
    program: Path
    model: Model
    #: Programs of the system that it is driven with.
    browser: tuple[str, ...] = ()

    @property
    def missing(self) -> str:
        if not self.program.exists():
            return f"{self.name}: no {self.program.relative_to(ROOT)} (see install.sh)"
        absent = next((name for name in self.browser if not shutil.which(name)), None)
        return f"{self.name}: no {absent} (Debian has it: apt-get install chromium chromium-driver)" if absent else ""


_ACPX = PLACE / "acpx" / "node_modules" / ".bin" / "acpx"
_ACP_CLIENT = PLACE / "acp-client" / "bin" / "python"

ACPX = tuple(
    ReleasedClient(f"acpx-{kind}", "npm acpx 0.19.1", _ACPX, model)
    for kind, model in (("offline", OFFLINE), ("served", SERVED))
)
ACP_CLIENT = tuple(
    ReleasedClient(f"acp-client-{kind}", "PyPI acp-client 0.1.0", _ACP_CLIENT, model)
    for kind, model in (("offline", OFFLINE), ("served", SERVED))
)
ACPLINT = (ReleasedClient("acplint", "PyPI acplint 0.1.0", PLACE / "acplint" / "bin" / "acplint", OFFLINE),)
JUPYTER = (
    ReleasedClient(
        "jupyterlab",
        "PyPI jupyterlab 4.6.6 with jupyter-ai-acp-client 0.3.3, in Chromium",
        PLACE / "jupyter" / "bin" / "python",
        SERVED,
        ("chromium", "chromedriver"),
    ),
)
TOAD = tuple(
    ReleasedClient(f"toad-{kind}", "PyPI batrachian-toad 0.6.20", PLACE / "toad" / "bin" / "python", model)
    for kind, model in (("offline", OFFLINE), ("served", SERVED))
)

CLIENTS = (*ACPX, *ACP_CLIENT, *ACPLINT, *JUPYTER, *TOAD)


class ClientLab:
    """One client with a home, a project and an agent command of its own; `record` gets every message of the agent.

    A scenario in which the client leaves without a word sets `abrupt`: then requests may stay unanswered.
    """

    def __init__(self, client: ReleasedClient, model: ModelServer, folder: Path, record: Path) -> None:
        self.client = client
        self.model = client.model
        self.server = model
        self.record = record
        self.abrupt = False
        self.project = folder / "project"
        self._home = folder / "home"
        self._pids = folder / "agents.pid"
        self.agent = folder / "agent.sh"
        self.project.mkdir(parents=True)
        self._home.mkdir()
        (self.project / "notes.md").write_text("# Notes\n", encoding="utf-8")
        (self.project / WAITING).write_text(f"echo $$ > {WAITING_PID}\nexec sleep 600\n", encoding="utf-8")
        command = f'"{DUOLOGUE}" agent --model {self.model.name} --log "{record}"'
        self.agent.write_text(f'#!/bin/sh\necho $$ >> "{self._pids}"\nexec {command}\n', encoding="utf-8")
        self.agent.chmod(0o755)

    # --- programs ---------------------------------------------------------------------------------------------------

    def start(self, command: Sequence[str | Path], **options: Any) -> subprocess.Popen[str]:
        """Start the client in the project; it ends with its scenario."""
        pipe: Mapping[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(
            [str(word) for word in command], cwd=self.project, env=self._environment(), text=True, **{**pipe, **options}
        )

    def run(self, command: Sequence[str | Path], patience: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        """Let the client come to its end within `patience` seconds; else it is killed with what it started."""
        process = self.start(command, start_new_session=True)
        try:
            return self.end(process, patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise

    def end(self, process: subprocess.Popen[str], patience: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        """The end of a client that was started; it is killed when it does not come."""
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out or "", err or "")

    def _environment(self) -> dict[str, str]:
        node = PLACE / "node" / "node_modules" / "node" / "bin"
        return {
            "HOME": str(self._home),
            "PATH": f"{node}{os.pathsep}{os.environ['PATH']}",
            "NO_PROXY": "127.0.0.1",
            "DUOLOGUE_BASE_URL": f"{self.server.url}/v1",
            "DUOLOGUE_API_KEY": "unused",
            **{f"XDG_{kind}_HOME": str(self._home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")},
        }

    # --- what was said ----------------------------------------------------------------------------------------------

    def lines(self) -> list[Json]:
        """The recording so far; a line that is still being written is left out."""
        text = self.record.read_text(encoding="utf-8") if self.record.exists() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def said(self, direction: str, method: str) -> list[Json]:
        """The messages with a method, `in` to the agent or `out` of it."""
        lines = (line for line in self.lines() if line.get("direction") == direction)
        return [line["message"] for line in lines if line.get("message", {}).get("method") == method]

    def results(self) -> list[Json]:
        """Results that the agent gave."""
        lines = (line for line in self.lines() if line.get("direction") == "out")
        return [line["message"]["result"] for line in lines if "result" in line.get("message", {})]

    def stop_reasons(self) -> list[str]:
        return [result["stopReason"] for result in self.results() if "stopReason" in result]

    def unanswered(self) -> list[str]:
        """Requests to the agent without a response, or with two; ids repeat when the client starts more agents."""
        open_requests: Counter[str] = Counter()
        for line in self.lines():
            message = line.get("message", {})
            if "id" not in message:
                continue
            if line["direction"] == "in" and "method" in message:
                open_requests[str(message["id"])] += 1
            elif line["direction"] == "out" and "method" not in message:
                open_requests[str(message["id"])] -= 1
        return [number for number, count in open_requests.items() if count]

    # --- processes --------------------------------------------------------------------------------------------------

    def agents(self) -> list[int]:
        """The agents that run."""
        text = self._pids.read_text(encoding="utf-8") if self._pids.exists() else ""
        return [pid for pid in map(int, text.split()) if alive(pid)]

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for what no event tells."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain: {what}"
            time.sleep(0.05)

    def waits(self) -> int:
        """The process of the call that only waits, once it runs."""
        file = self.project / WAITING_PID
        self.until(lambda: file.exists() and file.read_text().strip(), "the command starts")
        return int(file.read_text())

    def check_end(self) -> None:
        """That all agents have gone with their commands, answered what they were asked, and logged no error."""
        self.until(lambda: not self.agents(), "the agent ends when its client has gone")
        file = self.project / WAITING_PID
        if file.exists() and file.read_text().strip():
            self.until(lambda: not alive(int(file.read_text())), "the command ends with its agent")
        assert [line for line in self.lines() if line.get("level") in ("ERROR", "CRITICAL")] == []
        if not self.abrupt:
            assert self.unanswered() == []

    def close(self) -> None:
        """End agents that a failed scenario left."""
        for pid in self.agents():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
