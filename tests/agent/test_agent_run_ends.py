"""An agent as a real process: it ends in order when its client goes away or it is told to, and leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from procs import alive
from wire import PATIENCE

AGENT = """
import asyncio, os, signal, subprocess, sys, time
from duologue.agent import Agent, connection, run, serving
from duologue.transports import pipes

# The bounds are what counts here, not how long they are.
connection.END_SECONDS = serving.LINGER_SECONDS = pipes.FLUSH_SECONDS = 0.3

class Worker(Agent):
    async def prompt(self, turn):
        word = turn.text
        if word == "hang":
            await turn.say("started")
            try:
                await asyncio.Event().wait()
            finally:
                note("turn ended")
        elif word == "deaf":
            await turn.say("started")
            while True:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    pass
        elif word == "child":
            child = await asyncio.create_subprocess_exec("sleep", "60", stdout=subprocess.DEVNULL)
            note(f"child {child.pid}")
            await turn.say("started")
            try:
                await child.wait()
            finally:
                child.kill()
                await child.wait()
        elif word == "pour":
            while True:
                await turn.say("x" * 10000)
        else:
            await turn.say(word)

    async def close_session(self, session):
        await asyncio.sleep(0.01)
        note("session closed")

def note(text):
    with open(LOG, "a") as file:
        file.write(text + "\\n")

LOG = sys.argv[1]
run(Worker())
note("run returned")
"""


class Process:
    """The agent, its pipes, and what it noted."""

    def __init__(self, folder: Path) -> None:
        script = folder / "agent.py"
        script.write_text(AGENT, encoding="utf-8")
        self._log = folder / "log"
        self._log.touch()
        self.popen = subprocess.Popen(
            [sys.executable, str(script), str(self._log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._id = 0

    def send(self, method: str, params: Any) -> int:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        assert self.popen.stdin is not None
        self.popen.stdin.write(json.dumps(message).encode() + b"\n")
        self.popen.stdin.flush()
        return self._id

    def read(self) -> Any:
        assert self.popen.stdout is not None
        return json.loads(self.popen.stdout.readline())

    def ask(self, method: str, params: Any) -> Any:
        id = self.send(method, params)
        while (message := self.read()).get("id") != id:
            pass
        return message["result"]

    def start(self, word: str | None = None) -> None:
        """Shake hands and, with a word, begin a turn that has said something."""
        self.ask("initialize", {"protocolVersion": 1})
        if word is not None:
            session = self.ask("session/new", {"cwd": "/", "mcpServers": []})["sessionId"]
            self.send("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": word}]})
            assert self.read()["method"] == "session/update"

    def hang_up(self) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.close()
        self.popen.stdin = None

    def wait(self) -> int:
        return self.popen.wait(PATIENCE)

    def errors(self) -> str:
        assert self.popen.stderr is not None
        return self.popen.stderr.read().decode()

    @property
    def notes(self) -> list[str]:
        return self._log.read_text(encoding="utf-8").splitlines()


@contextmanager
def running(folder: Path) -> Iterator[Process]:
    process = Process(folder)
    try:
        yield process
    finally:
        process.popen.kill()
        process.popen.wait()
        for stream in (process.popen.stdin, process.popen.stdout, process.popen.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.req("all-framing-09")
def test_field_bug_144_the_end_of_stdin_ends_an_idle_agent(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.start()
        process.hang_up()
        assert process.wait() == 0
        assert process.notes == ["run returned"]
        assert process.errors() == ""


@pytest.mark.req("all-framing-09")
def test_field_bugs_144_149_the_end_of_stdin_in_a_turn_ends_it_and_cleans_up(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.start("hang")
        process.hang_up()
        assert process.wait() == 0
        assert process.notes == ["turn ended", "session closed", "run returned"]
        assert process.errors() == ""


def test_field_bug_144_the_end_of_stdin_ends_the_children_of_a_turn(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.start("child")
        (note,) = process.notes
        child = int(note.removeprefix("child "))
        assert alive(child)
        process.hang_up()
        assert process.wait() == 0
        assert not alive(child)


def test_a_turn_that_does_not_end_does_not_keep_the_agent_alive(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.start("deaf")
        process.hang_up()
        assert process.wait() == 1
        assert process.notes == ["session closed"]
        assert "left behind" in process.errors()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("word", [None, "hang"])
def test_field_bug_145_a_signal_ends_it_in_order(tmp_path: Path, number: int, word: str | None) -> None:
    with running(tmp_path) as process:
        process.start(word)
        os.kill(process.popen.pid, number)
        assert process.wait() == 0
        assert process.notes == (["turn ended", "session closed"] if word else []) + ["run returned"]
        assert process.errors() == ""


def test_field_bug_145_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.start("deaf")
        os.kill(process.popen.pid, signal.SIGTERM)
        while process.popen.poll() is None:
            os.kill(process.popen.pid, signal.SIGTERM)
        assert process.popen.returncode == 128 + signal.SIGTERM
        assert "run returned" not in process.notes


@pytest.mark.parametrize("how", ["stdin", "signal"])
def test_field_bug_153_an_agent_whose_client_does_not_read_can_be_ended(tmp_path: Path, how: str) -> None:
    with running(tmp_path) as process:
        process.start("pour")
        if how == "stdin":
            process.hang_up()
        else:
            os.kill(process.popen.pid, signal.SIGTERM)
        process.wait()
        assert process.notes[-2:] == ["session closed", "run returned"]


def test_a_client_that_closes_its_end_of_stdout_ends_nothing_but_the_speech(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.start("pour")
        assert process.popen.stdout is not None
        process.popen.stdout.close()
        process.popen.stdout = None
        process.hang_up()
        assert process.wait() == 0
        assert process.notes == ["session closed", "run returned"]
