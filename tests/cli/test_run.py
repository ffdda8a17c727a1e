"""`duologue run` without a terminal: what it prints, who answers its questions, and how it ends."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_kit import DUOLOGUE, bare_environment, run, scripted, start

from duologue import codec
from duologue.cli import main, starting
from duologue.cli.exits import MEANINGS, Exit, table
from duologue.protocol.base import Unknown
from duologue.protocol.v2.updates import SessionUpdate, StateUpdateEvent, ToolCallUpdateEvent
from procs import alive
from wire import PATIENCE


@pytest.fixture(params=["1", "2"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("protocol", ["1", "2", "auto"])
def test_the_built_in_agent_answers(tmp_path: Path, protocol: str) -> None:
    done = run("help", "--protocol", protocol, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.strip() and not done.stderr
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("scenario", "protocol", "status"),
    [
        ("say", "1", 0),
        ("max_tokens", "1", 3),
        ("max_turn_requests", "2", 4),
        ("refusal", "1", 5),
        ("refusal", "2", 5),
        ("die", "1", 7),
        ("die", "2", 7),
        ("crash", "1", 7),
        ("error", "1", 8),
        ("error", "2", 8),
        ("refuse", "2", 8),
        ("_odd", "2", 9),  # Version 1 has no stop reasons beyond its own.
        ("cancelled", "1", 130),
    ],
)
def test_each_end_has_its_status(tmp_path: Path, scenario: str, protocol: str, status: int) -> None:
    done = run("go", "--agent", scripted(scenario), "--protocol", protocol, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert bool(done.stderr) is (scenario not in ("say", "cancelled"))


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("die", ["exit code 9", "the reason is on stderr"]),
        ("crash", ["exit code 1", "cannot start: no configuration"]),
        ("error", ["the provider said no"]),
        ("login", ["no key for the provider", "to log in: Give the model its key: set SOME_KEY"]),
        ("refuse", ["cannot do that: the cause"]),
    ],
)
def test_a_failure_says_what_and_why(tmp_path: Path, scenario: str, words: list[str]) -> None:
    """Field bugs 28, 91, 143, 159 and 167."""
    done = run("go", "--agent", scripted(scenario), cwd=tmp_path)
    assert all(word in done.stderr for word in words), done.stderr


def test_the_documented_statuses_are_those_of_the_command() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE)
    assert {int(status): text for status, text in rows} == {status.value: MEANINGS[status] for status in Exit}
    assert all(MEANINGS[status] in table() for status in Exit)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["go", "--agent", "no-such-agent-xyz"], "no-such-agent-xyz"),
        (["go", "--agent", "false"], "exit code 1"),
        (["go", "--agent", "echo hello"], "the program ended"),
    ],
)
def test_an_agent_that_does_not_start(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 7 and words in done.stderr


@pytest.mark.parametrize(
    "agent",
    [
        "no-such-agent --token hunter2",
        "false --api-keys hunter2",
        "sh -c 'echo PASSWORDS=hunter2 >&2; exit 3' x --secrets=hunter2",
        "'unfinished --token hunter2",
    ],
)
def test_secrets_of_a_command_line_are_not_told(tmp_path: Path, agent: str) -> None:
    done = run("go", "--agent", agent, "--log", str(tmp_path / "log"), cwd=tmp_path)
    assert done.returncode in (2, 7) and "***" in done.stderr
    logged = (tmp_path / "log").read_text() if (tmp_path / "log").exists() else ""
    assert "hunter2" not in done.stdout + done.stderr + logged


@pytest.mark.parametrize("more", [[], ["--verbose"]])
def test_an_answer_that_does_not_fit_is_the_agents(tmp_path: Path, more: list[str]) -> None:
    answers = [{"protocolVersion": 1}, {"sessionId": None}]
    code = "import json, sys\nfor answer in ANSWERS:\n    id = json.loads(sys.stdin.readline())['id']\n"
    code += "    print(json.dumps({'jsonrpc': '2.0', 'id': id, 'result': answer}), flush=True)\nsys.stdin.read()"
    agent = shlex.join([sys.executable, "-c", code.replace("ANSWERS", repr(answers))])
    done = run("go", "--agent", agent, *more, cwd=tmp_path)
    assert done.returncode == 8
    assert "duologue run: the agent's answer does not fit the protocol: $.result.sessionId: " in done.stderr


@pytest.mark.parametrize("words", [["run", "go"], ["sessions"], ["try-edits", "--suite", "pytest"]])
def test_a_folder_that_was_removed_is_told(tmp_path: Path, words: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *DUOLOGUE, *words],
        cwd=gone,
        env=bare_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.startswith(f"duologue {words[0]}: ") and "works in was removed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "request"),
        (["  "], "the request is empty"),
        (["go", "--allow", "everything"], "a rule is KIND:PATTERN"),
        (["go", "--cwd", "/no/such/folder"], "no such folder"),
        (["go", "--cwd", __file__], "this is a file"),
        (["go", "--resume", ""], "--resume: the id is empty"),
        (["go", "--model", " "], "--model: the name is empty"),
        (["go", "--mcp", "files"], "--mcp files: give NAME=COMMAND or NAME=URL"),
        (["\udcff"], "the request is no text in UTF-8"),
        (["-"], "the request is empty"),
        (["go", "--env", "NOT_SET_ANYWHERE"], "there is no such variable here: set it, or give NAME=VALUE"),
        (["go", "--agent", " "], "the command is empty"),
        (["go", "--agent", "'"], "quote it as for a shell"),
        (["fix", "the", "test"], "unrecognized arguments: the test; put the request in quotes"),
        (["go", "--nonsense"], "usage: duologue run"),
        (["--modle", "x", "go"], "unrecognized arguments: --modle go; did you mean --model?"),
        (["go", "--yes", "--reject"], "not allowed with"),
        (["go", "--yes", "--deny"], "not allowed with"),
        (["go", "--protocol", "3"], "invalid choice"),
        (["go", "--timeout", "-1"], "argument --timeout: give a number of seconds above zero, not -1"),
        (["go", "--timeout", "soon"], "argument --timeout: give a number of seconds above zero, not soon"),
        (["go", "--log", "/no/such/folder/log"], "--log /no/such/folder/log: there is no such folder: /no/such/folder"),
    ],
)
def test_a_wrong_command_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and words in done.stderr and not done.stdout


# --- Permissions -----------------------------------------------------------------------------------------------------


@pytest.mark.req("all-permissions-02")
def test_where_nobody_can_be_asked_the_answer_is_no(tmp_path: Path, protocol: str) -> None:
    """Field bugs 64 and 69."""
    done = run("go", "--agent", scripted("write"), "--protocol", protocol, cwd=tmp_path)
    assert done.returncode == 6
    assert not (tmp_path / "a.txt").exists()
    assert "there is no terminal to ask at" in done.stdout and "+one" in done.stdout


@pytest.mark.parametrize(
    ("answer", "written", "words"),
    [
        (["--yes"], True, "allowed once by --yes"),
        (["--reject"], False, "refused by --reject"),
        (["--reject", "--allow", "edit:*.txt"], True, "allowed once by the rule edit:*.txt"),
        (["--yes", "--allow", "reject edit:a.*"], False, "refused by the rule reject edit:a.*"),
        (["--reject", "--allow", "edit:src/**", "--allow", "run:*"], False, "refused by --reject"),
    ],
)
def test_answers_given_beforehand(tmp_path: Path, answer: list[str], written: bool, words: str) -> None:
    """Field bug 67."""
    done = run("go", *answer, "--agent", scripted("write"), cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "a.txt").exists() is written
    assert words in done.stdout


def test_a_command_is_held_against_the_rules(tmp_path: Path, protocol: str) -> None:
    done = run("go", "--reject", "--allow", "run:echo *", "--agent", scripted("command"), cwd=tmp_path)
    assert "refused by --reject" in done.stdout and "│ from the command" not in done.stdout
    done = run("go", "--yes", "--agent", scripted("command"), "--protocol", protocol, cwd=tmp_path)
    assert "● Run echo from the command; exit 3" in done.stdout
    assert "│ from the command" in done.stdout and "✗ failed (exit code 3)" in done.stdout


@pytest.mark.parametrize("rule", ["reject run:git push *", "reject edit:.env"])
def test_yes_does_not_answer_what_a_rule_may_refuse(tmp_path: Path, protocol: str, rule: str) -> None:
    arguments = ["--yes", "--allow", rule, "--agent", scripted("command"), "--protocol", protocol]
    done = run("go", *arguments, cwd=tmp_path)
    assert done.returncode == 6 and "│ from the command" not in done.stdout
    assert f"it may be what the rule {rule} is about" in done.stdout


# --- Output ----------------------------------------------------------------------------------------------------------


def test_json_is_one_update_a_line_and_nothing_else(tmp_path: Path, protocol: str) -> None:
    done = run("go", "--json", "--yes", "--agent", scripted("write"), "--protocol", protocol, cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    updates = [codec.decode(SessionUpdate, line.encode()) for line in lines]
    assert not [update for update in updates if isinstance(update, Unknown)]
    assert all(json.loads(line)["sessionUpdate"] for line in lines)
    assert [str(u.status) for u in updates if isinstance(u, ToolCallUpdateEvent)][-1] == "completed"
    assert isinstance(updates[-1], StateUpdateEvent) and updates[-1].stop_reason == "end_turn"
    assert "allowed once by --yes" in done.stderr


def test_the_agents_standard_error_is_shown_when_it_is_wanted(tmp_path: Path) -> None:
    quiet = run("go", "--agent", scripted("noise"), cwd=tmp_path)
    loud = run("go", "--agent", scripted("noise"), "--verbose", cwd=tmp_path)
    assert quiet.returncode == loud.returncode == 0
    assert "a stray print" not in quiet.stderr and "a stray print" in loud.stderr
    assert quiet.stdout == loud.stdout == "quiet\n"


def test_a_log_has_what_was_sent_and_read(tmp_path: Path, protocol: str) -> None:
    log = tmp_path / "run.log"
    done = run("go", "--log", str(log), "--agent", scripted("say"), "--protocol", protocol, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == "hello from the model\n"
    told = [json.loads(line) for line in log.read_text().splitlines()]
    messages = [entry for entry in told if "message" in entry]
    sent = [entry["message"]["method"] for entry in messages if entry["direction"] == "out"]
    assert sent == ["initialize", "session/new", "session/prompt"]
    assert any("hello from the model" in json.dumps(entry) for entry in messages if entry["direction"] == "in")
    assert log.stat().st_mode & 0o777 == 0o600


def test_what_tools_read_is_shown_when_it_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("one\ntwo\nthree\n")
    brief, whole = (run("show notes.txt", *more, cwd=tmp_path).stdout for more in ([], ["--verbose"]))
    assert "● Read notes.txt [read] · 3 lines\n" in brief
    assert "● Read notes.txt [read]\n  one\n  two\n  three\n  ✓ completed\n" in whole


def test_the_request_can_come_from_standard_input(tmp_path: Path) -> None:
    done = run("-", "--agent", scripted("say"), cwd=tmp_path, text="go\n")
    assert done.returncode == 0 and done.stdout == "hello from the model\n"


def reading(cwd: Path) -> subprocess.Popen[bytes]:
    """`duologue run -`, whose standard input is open."""
    line = [*DUOLOGUE, "run", "-"]
    pipe = subprocess.PIPE
    return subprocess.Popen(line, cwd=cwd, env=bare_environment(), stdin=pipe, stdout=pipe, stderr=pipe)


def test_standard_input_that_is_no_text_is_told(tmp_path: Path) -> None:
    with reading(tmp_path) as running:
        _, errors = running.communicate(b"\xff\xfe", timeout=PATIENCE)
    assert running.returncode == 2 and errors == b"duologue run: the request is no text in UTF-8\n"


def test_ctrl_c_while_the_request_is_read_ends_it_without_a_traceback(tmp_path: Path) -> None:
    with reading(tmp_path) as running:
        assert running.stdin is not None and running.stderr is not None
        # More than fits a pipe: it is read when this returns.
        running.stdin.write(b"x" * (1 << 20))
        running.stdin.flush()
        # A signal between two reads is seen behind the second one alone, so it may need another.
        for _ in range(int(PATIENCE)):
            running.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(2)
                break
        assert running.wait(1) == 130
        assert running.stderr.read() == b""


def test_a_model_is_chosen_in_the_agents_way(tmp_path: Path) -> None:
    assert run("help", "--model", "offline", cwd=tmp_path).returncode == 0
    assert run("go", "--agent", scripted("say"), "--model", "test:other", cwd=tmp_path).returncode == 0
    done = run("go", "--agent", scripted("say"), "--model", "test:none", cwd=tmp_path)
    assert done.returncode == 2 and "does not have it; it has test:scripted, test:other" in done.stderr
    for other in ("Other", "other"):  # as people see it, and without its provider
        assert run("go", "--agent", scripted("say"), "--model", other, cwd=tmp_path).returncode == 0
    done = run("go", "--agent", scripted("end_turn"), "--model", "any", cwd=tmp_path)
    assert done.returncode == 0 and "does not let a client choose" in done.stderr
    done = run("help", "--model", "anthropic:x", cwd=tmp_path)
    assert done.returncode == 8 and done.stderr.count("ANTHROPIC_API_KEY") == done.stderr.count("\n") == 1


def test_the_agent_gets_the_variables_that_are_named_and_no_other_secret(tmp_path: Path) -> None:
    """Field bugs 169 and 170."""
    script = 'env > seen; exec "$@"'
    agent = f"sh -c '{script}' x {scripted('say')}"
    env = bare_environment(SECRET_X="hush", GIVEN="yes", HOME=str(tmp_path))
    run("go", "--agent", agent, "--env", "GIVEN", "--env", "MORE=a=b", cwd=tmp_path, env=env)
    seen = (tmp_path / "seen").read_text().splitlines()
    assert {"GIVEN=yes", "MORE=a=b", f"HOME={tmp_path}"} <= set(seen)
    assert not [line for line in seen if "hush" in line]


@pytest.mark.parametrize(
    ("config", "passed"),
    [
        ('[providers.home]\napi_key_env = "HOME_KEY"\n', {"HOME_KEY"}),
        ('api_key_env = "TOP_KEY"\n', {"TOP_KEY"}),
        ("this is no TOML", set()),
    ],
)
def test_the_built_in_agent_gets_the_keys_that_its_config_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, passed: set[str]
) -> None:
    """Else it would say "set HOME_KEY" to one who has set it."""
    file = tmp_path / "config.toml"
    file.write_text(config)
    for name, value in {"DUOLOGUE_CONFIG": str(file), "HOME_KEY": "h", "TOP_KEY": "t", "OTHER_KEY": "o"}.items():
        monkeypatch.setenv(name, value)
    parser = argparse.ArgumentParser()
    starting.add_arguments(parser)
    own = starting.start_of(parser.parse_args([]), "duologue run")["env"]
    assert own.keys() & {"HOME_KEY", "TOP_KEY", "OTHER_KEY"} == passed
    others = starting.start_of(parser.parse_args(["--agent", "x"]), "duologue run")["env"]
    assert others == {}


# --- Stopping --------------------------------------------------------------------------------------------------------


def after_first_line(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """A run that has printed its first line."""
    process = start(*arguments, cwd=cwd)
    assert process.stdout is not None and process.stdout.readline() == "waiting\n"
    return process


@pytest.mark.req("all-cancellation-02")
@pytest.mark.parametrize(
    ("protocol", "number"),
    [("1", signal.SIGINT), ("2", signal.SIGINT), ("1", signal.SIGTERM), ("1", signal.SIGHUP)],
)
def test_a_signal_cancels_the_turn_and_waits_for_its_end(tmp_path: Path, protocol: str, number: signal.Signals) -> None:
    with after_first_line("go", "--agent", scripted("wait"), "--protocol", protocol, cwd=tmp_path) as process:
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130 and not errors
    assert (tmp_path / "cancelled").exists()


def interrupt_twice(process: subprocess.Popen[str], folder: Path) -> str:
    """Ctrl-C, and again once the agent has heard of the first; what was said on standard error."""
    process.send_signal(signal.SIGINT)
    while not (folder / "cancelled").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=PATIENCE)[1]


def test_a_second_signal_ends_an_agent_that_does_not_listen_and_all_its_processes(tmp_path: Path) -> None:
    """Field bug 146: the agent is started by a shell that does not give its place to it."""
    program = tmp_path / "agent.sh"
    program.write_text(f"exec 3<&0\necho $$ > shell\n{scripted('stubborn')} <&3 &\necho $! > pid\nwait\n")
    with after_first_line("go", "--agent", f"sh {program}", cwd=tmp_path) as process:
        errors = interrupt_twice(process, tmp_path)
    assert process.returncode == 130 and "did not end its turn" in errors
    for name in ("shell", "pid"):
        assert not alive(int((tmp_path / name).read_text()))


def test_the_time_limit_cancels(tmp_path: Path) -> None:
    # A machine that is busy takes its time to begin the turn.
    for seconds in ("1.5", "5", "20"):
        done = run("go", "--agent", scripted("wait"), "--timeout", seconds, cwd=tmp_path)
        assert done.returncode == 124 and f"--timeout {seconds} is over" in done.stderr
        if "waiting" in done.stdout:
            break
    assert (tmp_path / "cancelled").exists()


def test_the_time_limit_holds_for_the_start_too(tmp_path: Path) -> None:
    done = run("go", "--agent", "sleep 60", "--timeout", "0.3", cwd=tmp_path)
    assert done.returncode == 124


def test_a_reader_that_goes_away_cancels(tmp_path: Path) -> None:
    process = start("go", "--agent", scripted("flood"), cwd=tmp_path)
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline() == "line 0\n"
    process.stdout.close()
    assert process.wait(PATIENCE) == 141
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("scenario", ["say", "flood"])
def test_a_full_disk_is_told(tmp_path: Path, scenario: str) -> None:
    command = [*DUOLOGUE, "run", "go", "--agent", scripted(scenario)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=bare_environment(),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 10 and "No space left" in done.stderr and "Traceback" not in done.stderr


def test_signals_reach_it_while_nobody_reads_its_output(tmp_path: Path) -> None:
    process = start("go", "--agent", scripted("flood"), cwd=tmp_path)
    assert process.stdout is not None
    os.read(process.stdout.fileno(), 1)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    assert process.returncode == 130
    process.communicate(timeout=PATIENCE)


def test_a_slow_reader_gets_everything(tmp_path: Path) -> None:
    with start("go", "--agent", scripted("flood"), cwd=tmp_path) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if len(lines) % 5_000 == 0:
                time.sleep(0.05)
    assert process.returncode == 0
    assert lines == [f"line {number}\n" for number in range(len(lines))] and len(lines) == 30_000


@pytest.mark.parametrize("command", [[], ["run"], ["sessions"], ["agent"], ["check"]])
@pytest.mark.parametrize("columns", [60, 80])
def test_help_fits_the_terminal_and_has_examples(
    command: list[str], columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    told = capsys.readouterr().out
    # A word of an example may be longer than a narrow terminal.
    assert columns < 80 or max(map(len, told.splitlines())) <= columns
    assert f"  duologue {' '.join(command)}" in told.partition("examples:")[2]
    assert "exit status" not in told or "\n  2    " in told


def test_the_help_of_make_fits_a_terminal() -> None:
    command = ["make", "--no-print-directory", "help"]
    told = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert "DEMO_ASK=1" in told.stdout and max(map(len, told.stdout.splitlines())) <= 80
