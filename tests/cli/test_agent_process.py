"""`duologue agent` started as editors start it, spoken to by hand."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_kit import DUOLOGUE, PROGRAM, InTerminal, RawAgent, bare_environment

from procs import alive
from wire import PATIENCE

AGENT = [*DUOLOGUE, "agent"]
SHELL = ["/bin/sh", "-c", 'exec "$0" "$@"', *AGENT]


def scripted(scenario: str) -> list[str]:
    return [sys.executable, str(PROGRAM), scenario]


@pytest.mark.req("all-framing-02", "all-framing-03", "all-framing-08", "v1-prompt-03", "v2-prompt-06")
@pytest.mark.parametrize(
    ("protocol", "home"),
    [(1, None), (2, None), (1, "/dev/null/none"), (2, "/proc")],
    ids=["v1-no home", "v2-no home", "v1-missing home", "v2-read-only home"],
)
def test_as_an_editor_starts_it(tmp_path: Path, protocol: int, home: str | None) -> None:
    """By a shell that is not interactive, in the project's root, with a bare environment and no terminal."""
    env = bare_environment() if home is None else bare_environment(HOME=home)
    (tmp_path / "msgspec.py").write_text("raise SystemExit('a file of the project was imported')")
    with RawAgent(SHELL, tmp_path, env) as agent:
        session = agent.open(tmp_path, protocol)
        request = agent.prompt(session, "help")
        result = agent.answer(request)
        if protocol == 1:
            assert result["stopReason"] == "end_turn"
        else:
            idle = agent.until(lambda m: m.get("params", {}).get("update", {}).get("state") == "idle")
            assert idle["params"]["update"]["stopReason"] == "end_turn"
        agent.rest()
        assert agent.process.wait(PATIENCE) == 0


@pytest.mark.req("all-framing-03")
@pytest.mark.parametrize("protocol", [1, 2])
def test_nothing_but_messages_on_standard_output(tmp_path: Path, protocol: int) -> None:
    """Field bugs 7 and 8: prints, raw writes, and children that inherit descriptors 0 and 1."""
    with RawAgent(scripted("noise"), tmp_path) as agent:
        session = agent.open(tmp_path, protocol)
        agent.prompt(session, "go")
        agent.until(lambda message: "quiet" in json.dumps(message))
        agent.rest()
    assert all(stray in agent.stderr for stray in ("a stray print", "unfinished", "a stray write", "from a child"))


def running_child(agent: RawAgent, tmp_path: Path) -> int:
    """Let the agent run a command that has a child of its own, and give that child's id."""
    agent.prompt(agent.open(tmp_path), "go")
    agent.allow()
    file = tmp_path / "pid"
    deadline = time.monotonic() + PATIENCE
    while not file.exists() or not file.read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(file.read_text())


@pytest.mark.req("all-framing-09")
def test_the_end_of_input_in_the_middle_of_a_turn_ends_everything(tmp_path: Path) -> None:
    """Field bugs 144, 149 and 150."""
    with RawAgent(scripted("children"), tmp_path) as agent:
        child = running_child(agent, tmp_path)
        agent.rest()
        assert agent.process.wait(PATIENCE) == 0
        assert not alive(child)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_signals_end_it_in_order(tmp_path: Path, number: signal.Signals, busy: bool) -> None:
    """Field bug 145."""
    with RawAgent(scripted("children"), tmp_path) as agent:
        child = running_child(agent, tmp_path) if busy else None
        if not busy:
            agent.open(tmp_path)
        agent.process.send_signal(number)
        assert agent.process.wait(PATIENCE) == 0
        assert child is None or not alive(child)


def test_commands_do_not_see_what_the_agent_knows(tmp_path: Path) -> None:
    """Field bug 169."""
    env = bare_environment(SECRET_X="hush", OPENAI_API_KEY="sk-hush", MY_SETTING="hush")
    with RawAgent(scripted("environment"), tmp_path, env) as agent:
        request = agent.prompt(agent.open(tmp_path), "go")
        agent.allow()
        agent.answer(request)
        told = b"\n".join(agent.lines)
        assert b"PATH=" in told and b"hush" not in told


def test_the_first_answers_wait_for_nothing_heavy(tmp_path: Path) -> None:
    """Field bugs 155 and 156: the loop, the tools and the libraries of models are loaded behind them."""
    code = (
        "import sys\n"
        "from duologue.coder.acp import CodingAgent\n"
        "agent = CodingAgent(env={})\n"
        "agent.prompt_capabilities()\n"
        "print(*sorted(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    late = ("loop", "tools", "permissions", "models.offline", "models.remote", "acp_events", "files")
    loaded = set(done.stdout.split())
    assert "duologue.coder.acp" in loaded
    assert not loaded & {f"duologue.coder.{name}" for name in late}
    assert not loaded & {"pydantic", "pydantic_ai", "openai", "anthropic", "httpx", "argparse", "sqlite3"}


def test_the_start_can_be_measured(tmp_path: Path) -> None:
    with RawAgent(AGENT, tmp_path, bare_environment(DUOLOGUE_PROFILE="1", HOME=str(tmp_path))) as agent:
        request = agent.prompt(agent.open(tmp_path), "help")
        agent.answer(request)
        agent.rest()
    marks = agent.stderr.splitlines()
    names = [mark.removeprefix("duologue: ").rsplit(" ", 2)[0] for mark in marks]
    assert names == ["import", "initialize", "new", "first update"]
    times = [int(mark.split()[-2]) for mark in marks]
    assert times == sorted(times)
    # When a process began is known on Linux alone; elsewhere the first mark is the beginning.
    assert times[0] > 0 or sys.platform != "linux"


def test_a_log_has_the_messages_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    with RawAgent([*AGENT, "--model", "offline", "--log", str(log)], tmp_path) as agent:
        agent.open(tmp_path)
        agent.rest()
    told = [json.loads(line) for line in log.read_text().splitlines()]
    messages = [(entry["direction"], entry["message"]) for entry in told if "message" in entry]
    assert [message.get("method") for direction, message in messages if direction == "in"] == [
        "initialize",
        "session/new",
    ]
    assert [message["id"] for direction, message in messages if direction == "out" and "id" in message] == [1, 2]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_log_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    log.write_text("before\n")
    log.chmod(0o644)
    with RawAgent([*AGENT, "--model", "offline", "--log", str(log)], tmp_path) as agent:
        agent.open(tmp_path)
        agent.rest()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert log.read_text().startswith("before\n") and '"initialize"' in log.read_text()


def test_a_log_has_neither_keys_nor_the_variables_of_servers(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    server = {"name": "s", "command": "x", "args": [], "env": [{"name": "TOKEN", "value": "hush"}]}
    with RawAgent([*AGENT, "--model", "offline", "--log", str(log)], tmp_path) as agent:
        agent.answer(agent.ask("initialize", protocolVersion=1, clientCapabilities={}))
        agent.answer(agent.ask("session/new", cwd=str(tmp_path), mcpServers=[server]))
        agent.rest()
    assert "TOKEN" in log.read_text() and "hush" not in log.read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_log_that_cannot_be_written_any_more_is_told_once(tmp_path: Path) -> None:
    with RawAgent([*AGENT, "--model", "offline", "--log", "/dev/full"], tmp_path) as agent:
        agent.open(tmp_path)
        agent.rest()
        assert agent.process.wait(PATIENCE) == 0
    assert agent.stderr.count("the log is not written any more") == 1 and "Traceback" not in agent.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_without_standard_streams_it_says_so_in_a_line(tmp_path: Path, closed: str) -> None:
    line = ["/bin/sh", "-c", f"exec {' '.join(AGENT)} {closed}"]
    done = subprocess.run(line, stderr=subprocess.PIPE, text=True, cwd=tmp_path, timeout=PATIENCE, check=False)
    assert done.returncode == 2 and done.stderr.startswith("duologue agent: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "words"), [("", "this is a folder"), ("pipe", "nothing reads this pipe"), ("no/log", "no such folder")]
)
def test_a_log_that_cannot_be_written_is_told(tmp_path: Path, name: str, words: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    line = [*AGENT, "--log", str(tmp_path / name)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, check=False, input="", timeout=PATIENCE)
    assert done.returncode == 2 and done.stderr.startswith(f"duologue agent: --log {tmp_path}") and words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.req("v1-cancellation-01", "v1-cancellation-03")
def test_a_client_that_stops_reading_can_still_cancel(tmp_path: Path) -> None:
    """Field bug 153: no loss, no change of order, and an end."""
    with RawAgent(scripted("stream"), tmp_path) as agent:
        session = agent.open(tmp_path)
        request = agent.prompt(session, "go")
        agent.until(lambda message: "piece 5;" in json.dumps(message))
        time.sleep(0.5)  # By now every pipe is full.
        agent.send({"method": "session/cancel", "params": {"sessionId": session}})
        assert agent.answer(request)["stopReason"] == "cancelled"
        updates = [json.loads(line).get("params", {}).get("update", {}) for line in agent.lines]
        said = "".join(
            update["content"]["text"] for update in updates if update.get("sessionUpdate") == "agent_message_chunk"
        )
        numbers = [int(piece.removeprefix("piece ")) for piece in said.split(";")[:-1]]
        assert numbers == list(range(len(numbers))) and len(numbers) > 5


@pytest.mark.req("all-framing-09")
def test_without_any_input_it_ends(tmp_path: Path) -> None:
    """Field bug 144."""
    with Path(os.devnull).open() as null:
        done = subprocess.run(AGENT, stdin=null, capture_output=True, cwd=tmp_path, timeout=PATIENCE, check=False)
    assert done.returncode == 0 and not done.stdout


@pytest.mark.parametrize("arguments", [["--model"], ["--nonsense"], ["extra"]])
def test_a_wrong_command_line_is_told_on_standard_error(tmp_path: Path, arguments: list[str]) -> None:
    done = subprocess.run([*AGENT, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False, input="")
    assert done.returncode == 2 and not done.stdout and "usage: duologue agent" in done.stderr


def test_a_person_at_a_terminal_is_told_that_it_waits_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    with InTerminal(cwd=tmp_path, command=AGENT) as agent:
        agent.expect("waiting for an editor")
        agent.expect("duologue run ")
        agent.type('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n')
        agent.expect('"result"')
        agent.type("\x03")
        assert agent.end() == 0


def test_an_agent_of_an_author_tells_a_person_that_it_waits(tmp_path: Path) -> None:
    program = Path(__file__).parents[2] / "examples" / "agent.py"
    with InTerminal(cwd=tmp_path, command=[sys.executable, str(program)]) as agent:
        agent.expect("line-counter: waiting for a client")
        agent.type('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n')
        agent.expect('"result"')
        agent.type("\x03")
        assert agent.end() == 0
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False, input="")
    assert done.returncode == 0 and not done.stdout and not done.stderr


def test_nothing_is_told_where_no_person_waits(tmp_path: Path) -> None:
    done = subprocess.run(AGENT, capture_output=True, text=True, cwd=tmp_path, check=False, input="")
    assert done.returncode == 0 and not done.stdout and not done.stderr


def test_without_a_command_it_prints_its_help(tmp_path: Path) -> None:
    done = subprocess.run(DUOLOGUE, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2 and not done.stdout
    assert "usage: duologue" in done.stderr and "examples:" in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--help"], ["help"], ["agent", "--help"], ["run", "--help"], ["help", "run"], ["--version"]]
)
def test_help_is_on_standard_output(arguments: list[str]) -> None:
    done = subprocess.run([*DUOLOGUE, *arguments], capture_output=True, text=True, check=True)
    assert "duologue" in done.stdout and not done.stderr
    assert arguments == ["--version"] or "examples:" in done.stdout
