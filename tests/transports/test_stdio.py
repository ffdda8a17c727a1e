"""This process's standard streams: claimed for the protocol, whatever they are and whatever else writes to them."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import IO, Any

import pytest

from duologue.transports.base import Closed
from duologue.transports.pipes import PipeTransport
from procs import open_descriptors
from wire import PATIENCE

#: Serves the smallest agent: answers `_echo`, and `_call` by calling what the test has put into `noise`.
SERVE = """
import asyncio, sys
{before}
from duologue.transports.claim import claim_stdio
claim_stdio()
{after}
from duologue.peer import Peer
from duologue.protocol.method import Request, Side
from duologue.protocol.version import V2
from duologue.transports.pipes import stdio_transport

async def echo(params, scope):
    {noise}
    return params

async def main():
    peer = Peer(Side.AGENT, V2)
    peer.handle(Request.untyped("_echo"), echo)
    await peer.start(stdio_transport())
    reason = await peer.wait_closed()
    await peer.close()
    print("ended:", reason, file=sys.stderr)

asyncio.run(main())
"""


def program(folder: Path, *, before: str = "", after: str = "", noise: str = "pass") -> list[str]:
    script = folder / "agent.py"
    body = SERVE.format(before=textwrap.dedent(before), after=textwrap.dedent(after), noise=noise)
    script.write_text(body, encoding="utf-8")
    return [sys.executable, str(script)]


def line(id: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "_echo", "params": {"n": id}}).encode() + b"\n"


def answers(output: bytes) -> list[Any]:
    """Every line has to be a message of the protocol."""
    messages = [json.loads(text) for text in output.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return [message["result"]["n"] for message in messages]


def run(command: list[str], **streams: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, timeout=PATIENCE, **streams)


# --- what the streams are ---------------------------------------------------------------------------------------------


def test_pipes(tmp_path: Path) -> None:
    done = run(program(tmp_path), input=line(1) + line(2), capture_output=True)
    assert answers(done.stdout) == [1, 2]
    assert b"ended: the other side closed the stream" in done.stderr


def test_field_bug_171_stdin_may_be_a_regular_file(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(b"".join(line(number) for number in range(5000)))
    with source.open("rb") as stdin:
        done = run(program(tmp_path), stdin=stdin, capture_output=True)
    # Handlers run side by side: one that had to wait for room in the pipe may answer behind a later one.
    assert sorted(answers(done.stdout)) == list(range(5000))


@pytest.mark.req("all-framing-09")
def test_field_bug_144_an_empty_stdin_ends_the_agent(tmp_path: Path) -> None:
    done = run(program(tmp_path), stdin=subprocess.DEVNULL, capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"ended:" in done.stderr
    assert b"Traceback" not in done.stderr


def test_stdout_may_be_a_regular_file(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with target.open("wb") as stdout:
        done = run(program(tmp_path), input=line(1) + line(2), stdout=stdout, stderr=subprocess.PIPE)
    assert answers(target.read_bytes()) == [1, 2]
    assert b"Traceback" not in done.stderr


def test_stdout_may_be_the_null_device(tmp_path: Path) -> None:
    done = run(program(tmp_path), input=line(1), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_both_may_be_files(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(line(1))
    with source.open("rb") as stdin, target.open("wb") as stdout:
        run(program(tmp_path), stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
    assert answers(target.read_bytes()) == [1]


def test_field_bug_171_stdin_may_be_a_terminal(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    try:
        child = subprocess.Popen(program(tmp_path), stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.write(master, line(1))
        assert child.stdout is not None
        assert answers(read_line(child.stdout)) == [1]
        os.write(master, b"\x04")  # Ctrl-D on an empty line
        output, errors = child.communicate(timeout=PATIENCE)
        assert (child.returncode, output) == (0, b"")
        assert b"Traceback" not in errors
        assert os.get_blocking(slave), "the terminal is left as it was"
    finally:
        os.close(master)
        os.close(slave)


def test_a_socket_may_be_both(tmp_path: Path) -> None:
    import socket

    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = subprocess.Popen(program(tmp_path), stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=-1)
        theirs.close()
        ours.settimeout(PATIENCE)
        ours.sendall(line(1))
        assert answers(ours.makefile("rb").readline()) == [1]
        ours.shutdown(socket.SHUT_WR)
        child.communicate(timeout=PATIENCE)
        assert child.returncode == 0


# --- strays -----------------------------------------------------------------------------------------------------------

STRAYS = {
    "print": "print('stray')",
    "os.write": "__import__('os').write(1, b'stray\\n')",
    "a child": "__import__('subprocess').run(['echo', 'stray'])",
    "logging": "__import__('logging').warning('stray')",
    "sys.__stdout__": "sys.__stdout__.write('stray\\n'); sys.__stdout__.flush()",
    "faulthandler": "__import__('faulthandler').dump_traceback(file=sys.stdout); print('stray')",
    "warnings": "__import__('warnings').warn('stray')",
}


@pytest.mark.req("all-framing-03", "all-framing-05")
@pytest.mark.parametrize("stray", STRAYS.values(), ids=STRAYS.keys())
def test_field_bugs_7_8_nothing_but_messages_reaches_stdout(tmp_path: Path, stray: str) -> None:
    before = "import logging; logging.basicConfig(stream=sys.stdout)"
    done = run(program(tmp_path, before=before, after=stray, noise=stray), input=line(1) + line(2), capture_output=True)
    assert answers(done.stdout) == [1, 2]
    assert b"stray" in done.stderr


def test_what_is_printed_is_seen_at_once(tmp_path: Path) -> None:
    """Standard error is not gathered, so what goes there must not be either."""
    after = "print('first'); os.write(2, b'second\\n')"
    done = run(program(tmp_path, after=after), input=line(1), capture_output=True)
    assert done.stderr.index(b"first") < done.stderr.index(b"second")


def test_what_was_printed_before_the_claim_stands_before_the_first_message(tmp_path: Path) -> None:
    """It cannot be taken back; but it must not come in the middle of a message later."""
    done = run(program(tmp_path, before="sys.stdout.write('early\\n')"), input=line(1), capture_output=True)
    assert done.stdout.startswith(b"early\n")
    assert answers(done.stdout.removeprefix(b"early\n")) == [1]


def test_input_finds_the_end_and_steals_no_message(tmp_path: Path) -> None:
    after = """
        try: input()
        except EOFError: print("no input")
    """
    done = run(program(tmp_path, after=after), input=line(1), capture_output=True)
    assert answers(done.stdout) == [1]
    assert b"no input" in done.stderr


def test_a_child_inherits_neither_stream(tmp_path: Path) -> None:
    """A child that holds the real stdout would keep the client from seeing the end of the agent."""
    child = "__import__('subprocess').Popen(['sleep', '60'], stdout=-3, stderr=-3, close_fds=False)"
    done = run(program(tmp_path, noise=child), input=line(1), capture_output=True)
    assert answers(done.stdout) == [1]


def test_a_second_claim_gives_the_same_streams(tmp_path: Path) -> None:
    after = "print(claim_stdio() == claim_stdio(), min(claim_stdio()) > 2)"
    done = run(program(tmp_path, after=after), input=line(1), capture_output=True)
    assert answers(done.stdout) == [1]
    assert b"True True" in done.stderr


@pytest.mark.parametrize("closed", ["2>&-", "2<&-", "2>/dev/null"])
def test_a_closed_stderr_sends_strays_nowhere(tmp_path: Path, closed: str) -> None:
    code = STRAYS["os.write"]
    command = " ".join(program(tmp_path, after=code, noise=code))
    done = run(["/bin/sh", "-c", f"exec {command} {closed}"], input=line(1) + line(2), stdout=subprocess.PIPE)
    assert answers(done.stdout) == [1, 2]


@pytest.mark.parametrize("closed", ["0<&-", "1>&-"])
def test_a_closed_stdin_or_stdout_is_a_clear_error(tmp_path: Path, closed: str) -> None:
    command = " ".join(program(tmp_path))
    done = run(["/bin/sh", "-c", f"exec {command} {closed}"], input=b"", capture_output=True)
    assert done.returncode != 0
    assert b"standard input or output is closed" in done.stderr


def test_the_claim_imports_nothing_of_weight() -> None:
    code = "import sys; import duologue.transports.claim; print(sorted(m for m in sys.modules if 'duologue' in m))"
    done = run([sys.executable, "-c", code], capture_output=True)
    assert b"peer" not in done.stdout and b"asyncio" not in done.stdout


# --- a descriptor that is not open ------------------------------------------------------------------------------------


class Ended:
    def __init__(self) -> None:
        self.reasons: list[Closed] = []

    def data_received(self, data: bytes) -> None: ...

    def connection_lost(self, reason: Closed) -> None:
        self.reasons.append(reason)

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


async def test_closing_a_transport_over_files_leaves_no_descriptor_and_no_thread(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(line(1) * 100_000)
    await asyncio.to_thread(lambda: None)  # what the loop opens once is open now
    before = open_descriptors()
    ended = Ended()
    transport = PipeTransport(os.open(source, os.O_RDONLY), os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT))
    await transport.start(ended)
    transport.pause_reading()
    transport.write(b"written")
    await transport.close()
    assert len(ended.reasons) == 1
    assert (tmp_path / "out").read_bytes() == b"written"
    for thread in threading.enumerate():
        if thread.name == "duologue-stdin":
            await asyncio.to_thread(thread.join, PATIENCE)
    assert open_descriptors() <= before


def read_line(stream: IO[bytes]) -> bytes:
    return stream.readline()
