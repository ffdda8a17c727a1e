"""`duologue check` as a command: its statuses and its files."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_kit import DUOLOGUE

from duologue.cli import main
from wire import PATIENCE

ECHO = [sys.executable, "-m", "duologue.testing"]
# Answers everything, under the id 1, with version 1.
PARROT = """
import sys
for line in sys.stdin:
    print('{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}')
"""


class Full(io.StringIO):
    """A stream on a disk that is full."""

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def check(*arguments: str) -> int:
    return main(["check", *arguments])


def test_a_sound_agent_gives_status_0_and_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"
    echo = ["sh", "-c", 'exec "$0" -m duologue.testing', sys.executable, "--token", "hunter2"]
    status = check("agent", "--protocol", "2", "--only", "all-jsonrpc-07", "--report", str(file), "--", *echo)
    assert status == 0
    assert "--token" in file.read_text() and "hunter2" not in file.read_text()
    assert "version 2: 1 pass" in capsys.readouterr().out
    assert [row["id"] for row in json.loads(file.read_text())["rows"]] == ["all-jsonrpc-07"]


def test_what_fails_gives_status_1_and_the_messages(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--protocol", "1", "--only", "all-jsonrpc-07", "--timeout", "0.5")
    assert check("agent", *options, "--", sys.executable, "-uc", PARROT) == 1
    out = capsys.readouterr().out
    assert "FAIL all-jsonrpc-07" in out
    assert "-> " in out


def test_a_version_that_is_not_spoken_gives_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("agent", "--protocol", "2", "--", sys.executable, "-uc", PARROT) == 2
    err = capsys.readouterr().err
    assert "version 2 was proposed and 1 answered" in err
    assert '<- {"jsonrpc":"2.0","id":1,' in err


def test_an_agent_that_repeats_a_number_does_not_speak_that_version(capsys: pytest.CaptureFixture[str]) -> None:
    repeats = PARROT.replace('"protocolVersion":1', '"protocolVersion":2')
    assert check("agent", "--protocol", "2", "--", sys.executable, "-uc", repeats) == 2
    assert "without anything that version 2 has" in capsys.readouterr().err


def test_how_an_agent_ended_is_told_without_its_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    dying = "import sys; sys.exit('no such model, API_KEY=sk-abcdefghijklmnopqrstuvwx')"
    assert check("agent", "--", sys.executable, "-c", dying) == 2
    err = capsys.readouterr().err
    assert "exit code 1" in err
    assert "no such model" in err
    assert "sk-abcdef" not in err


def test_an_agent_that_echoes_is_no_agent(capsys: pytest.CaptureFixture[str]) -> None:
    echo = "import sys; [print(line, end='', flush=True) for line in sys.stdin]"
    assert check("agent", "--", sys.executable, "-c", echo) == 2
    assert "initialize fails" in capsys.readouterr().err


def test_who_reads_a_pipe_is_told_how_far_it_has_come(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("agent", "--protocol", "2", "--only", "all-jsonrpc-07", "--only", "all-prompt-01", "--", *ECHO)
    assert check(*words) == 0
    err = capsys.readouterr().err
    lines = err.splitlines()
    total = int(lines[0].split()[2])
    assert lines[0].startswith("version 2: ") and "probes in" in lines[0]
    assert lines[-1].endswith(f", {total} of {total} done") and "version 2: jsonrpc (" in err
    assert "\r" not in err and "\x1b" not in err


def test_a_report_that_cannot_be_written_gives_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("agent", "--quiet", "--protocol", "2", "--only", "all-jsonrpc-07", "--", *ECHO)
    monkeypatch.setattr("sys.stdout", Full())
    assert check(*words) == 2
    assert "duologue check: standard output: No space left on device" in capsys.readouterr().err
    # One that was closed from the start leaves standard error.
    monkeypatch.setattr("sys.stdout", None)
    assert check(*words) == 0
    assert "version 2: 1 pass" in capsys.readouterr().err


def test_quiet_says_nothing_on_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("agent", "--quiet", "--protocol", "2", "--only", "all-jsonrpc-07", "--", *ECHO) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("agent", "--", "duologue-nowhere"), "duologue-nowhere"),
        (("agent", "--only", "nothing", "--", "x"), "no such requirement"),
        (("agent", "--report", "report.pdf", "--", "x"), ".html"),
        (("agent", "--report", "nowhere/report.xml", "--", "x"), "no such folder"),
        (("agent", "--env", "DUOLOGUE_UNSET_VARIABLE", "--", "x"), "no such variable"),
        (("agent", "--env", "=1", "--", "x"), "give NAME=VALUE"),
        (("agent", "--", "'"), "quote it as for a shell"),
        (("agent", "--", ""), "the command is empty"),
        (("client", "--", "some-client"), "{agent}"),
    ],
)
def test_what_cannot_be_done_gives_status_2(
    arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(*arguments) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("agent", "--timeout", "0", "--", "x"), "argument --timeout: give a number of seconds above zero, not 0"),
        (("agent", "--timeout", "nan", "--", "x"), "argument --timeout: give a number of seconds above zero, not nan"),
        (("agent", "--timeout", "soon", "--", "x"), "argument --timeout: give a number of seconds above zero"),
        (("agent", "--jobs", "0", "--", "x"), "argument --jobs: give a whole number above zero, not 0"),
        (("agent", "--jobs", "two", "--", "x"), "argument --jobs: give a whole number above zero, not two"),
        ((), "the following arguments are required: agent|client, CMD"),
        (("both", "--", "x"), "argument agent|client: invalid choice: 'both'"),
    ],
)
def test_a_wrong_command_line_is_told_in_the_words_of_the_help(
    arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        check(*arguments)
    assert caught.value.code == 2 and complaint in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_check_that_is_stopped_leaves_no_folder(number: signal.Signals, tmp_path: Path) -> None:
    silent = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    command = [*DUOLOGUE, "check", "agent", "--", *silent]
    with subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + PATIENCE
        while not any(tmp_path.glob("duologue-check-*")):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(number)
        assert process.wait(PATIENCE) == 130
    assert not list(tmp_path.glob("duologue-check-*"))
