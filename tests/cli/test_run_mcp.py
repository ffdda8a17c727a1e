"""`duologue run --mcp`: the servers that a run names, and what is wrong with those that cannot be meant."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

import pytest
from cli_kit import bare_environment, run

from duologue.cli import main
from duologue.cli.exits import Exit
from duologue.cli.servers import add_arguments, servers_of
from duologue.protocol.common.mcp import HttpHeader
from duologue.protocol.common.terminal import EnvVariable
from duologue.protocol.v2.mcp import HttpMcpServer, McpServer, StdioMcpServer
from wire import PATIENCE

ROOT = Path(__file__).parents[2]
STUB = shlex.join([sys.executable, str(ROOT / "tests" / "coder" / "programs" / "mcp_stub.py")])
PLAIN_AGENT = shlex.join([sys.executable, str(ROOT / "examples" / "agent.py")])


def named(*words: str, **environ: str) -> list[McpServer]:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return servers_of(parser.parse_args(words), environ)


def test_a_command_and_an_address_are_told_apart() -> None:
    found = named("--mcp", f"a={STUB} 'two words' x=y", "--mcp", "b=HTTPS://example.org:8443/mcp?x=1")
    assert found == [
        StdioMcpServer(name="a", command=sys.executable, args=[*shlex.split(STUB)[1:], "two words", "x=y"]),
        HttpMcpServer(name="b", url="HTTPS://example.org:8443/mcp?x=1"),
    ]


def test_variables_and_headers_go_to_the_server_that_is_named() -> None:
    words = ["--mcp", "a=sh", "--mcp", "b=http://localhost/", "--mcp-env", "a=ONE", "--mcp-env", "a=TWO"]
    a, b = named(*words, "--mcp-header", "b=Authorization=TWO", ONE="1", TWO="two", THREE="3")
    assert isinstance(a, StdioMcpServer) and isinstance(b, HttpMcpServer)
    assert a.env == [EnvVariable(name="ONE", value="1"), EnvVariable(name="TWO", value="two")]
    assert b.headers == [HttpHeader(name="Authorization", value="two")]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--mcp", "sh"], "give NAME=COMMAND or NAME=URL"),
        (["--mcp", "a= "], "give NAME=COMMAND or NAME=URL"),
        (["--mcp", "=sh"], "the name of a server"),
        (["--mcp", "a b=sh"], "the name of a server"),
        (["--mcp", "a=sh", "--mcp", "a=sh"], "there is a server a already"),
        (["--mcp", "a=no-such-program --x"], "there is no program no-such-program"),
        (["--mcp", "a=sh 'x"], "No closing quotation"),
        (["--mcp", "a=''"], "the command is empty"),
        (["--mcp", "a=ftp://example.org"], "begins with http"),
        (["--mcp", "a=http://"], "no address of a server"),
        (["--mcp", "a=http://host:port/"], "no address of a server"),
        (["--mcp", "a=http://[x/"], "no address of a server"),
        (["--mcp", "a=http://me:hunter2@host/"], "leave the password out"),
        (["--mcp", "http://me:hunter2@host/"], "give NAME=COMMAND or NAME=URL"),
        (["--mcp", "a b=sh --token hunter2"], "the name of a server"),
        (["--mcp", "a=sh", "--mcp", "a=sh --key=hunter2"], "there is a server a already"),
        (["--mcp-env", "a=ONE"], "there is no --mcp a=COMMAND"),
        (["--mcp-env", "a=hunter2"], "there is no --mcp a=COMMAND"),
        (["--mcp-env", "hunter2"], "give NAME=VARIABLE"),
        (["--mcp-env", "=hunter2"], "give NAME=VARIABLE"),
        (["--mcp", "a=http://host/", "--mcp-env", "a=ONE"], "there is no --mcp a=COMMAND"),
        (["--mcp", "a=sh", "--mcp-env", "a=ABSENT"], "no variable of that name"),
        (["--mcp", "a=sh", "--mcp-env", "a=TOKEN=hunter2"], "not a value"),
        (["--mcp", "a=sh", "--mcp-header", "a=X=ONE"], "there is no --mcp a=URL"),
        (["--mcp", "a=sh", "--mcp-header", "a=X=hunter2"], "there is no --mcp a=URL"),
        (["--mcp-header", "Authorization: hunter2"], "give NAME=HEADER=VARIABLE"),
        (["--mcp-header", "Authorization: hunter2=="], "give NAME=HEADER=VARIABLE"),
        (["--mcp", "a=http://host/", "--mcp-header", "a=X Y=ONE"], "give a=HEADER=VARIABLE"),
        (["--mcp", "a=http://host/", "--mcp-header", "a=X"], "not a value"),
        (["--mcp", "a=http://host/", "--mcp-header", "a=X=Bearer hunter2"], "not a value"),
    ],
)
def test_what_cannot_be_meant_is_told_without_a_secret(words: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as raised:
        named(*words, ONE="1")
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("protocol", ["1", "2"])
def test_the_built_in_agent_calls_a_tool_of_it(tmp_path: Path, protocol: str) -> None:
    pytest.importorskip("mcp")
    log = tmp_path / "log"
    words = ["--mcp", f"stub={STUB}", "--mcp-env", "stub=NOTES_KEY", "--allow", "use:stub__*", "--log", str(log)]
    done = run(
        "use the tool about of server stub with {}",
        *words,
        *("--protocol", protocol),
        cwd=tmp_path,
        env=bare_environment(NOTES_KEY="hunter2", HOME=str(tmp_path), DUOLOGUE_SESSIONS="off"),
        patience=4 * PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "allowed once by the rule use:stub__*" in done.stdout and "NOTES_KEY" in done.stdout
    sent = next(line for line in log.read_text().splitlines() if '"session/new"' in line)
    assert "NOTES_KEY" in sent and "hunter2" not in sent


def test_a_kind_that_the_agent_does_not_take_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    words = ["--agent", PLAIN_AGENT, "--mcp", "docs=http://127.0.0.1:1/mcp", "--log", str(tmp_path / "log")]
    done = run("go", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "does not take MCP servers of type http, such as docs" in done.stderr
    assert "session/new" not in (tmp_path / "log").read_text()


def test_without_the_library_of_the_built_in_agent_nothing_is_begun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("duologue.coder.mcp.library.has_library", lambda: False)
    assert main(["run", "--mcp", "a=sh", "go"]) == Exit.USAGE
    assert "pip install '.[agent]'" in capsys.readouterr().err
