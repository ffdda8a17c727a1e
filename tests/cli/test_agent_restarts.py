"""Sessions that outlive `duologue agent`: started again, killed, twice at a time, and where nothing can be kept."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cli_kit import DUOLOGUE, RawAgent, bare_environment

from duologue.local.state import state_folder
from wire import PATIENCE

AGENT = [*DUOLOGUE, "agent", "--model", "offline"]


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def started(project: Path, home: Path, **env: str) -> RawAgent:
    return RawAgent(AGENT, project, bare_environment(HOME=str(home), **env))


def folder(home: Path) -> Path:
    state = state_folder({"HOME": str(home)})
    assert state is not None
    return state / "sessions"


def initialize(agent: RawAgent, protocol: int) -> Any:
    if protocol == 1:
        return agent.answer(agent.ask("initialize", protocolVersion=1, clientCapabilities={}))
    info = {"name": "editor", "version": "1"}
    return agent.answer(agent.ask("initialize", protocolVersion=2, capabilities={}, info=info))


def turn(agent: RawAgent, session: str, text: str, protocol: int) -> list[dict[str, Any]]:
    """A turn to its end; the updates of it."""
    request = agent.prompt(session, text)
    return updates_until(agent, lambda message: ended(message, request, protocol))


def ended(message: dict[str, Any], request: int, protocol: int) -> bool:
    if protocol == 1:
        return message.get("id") == request and "method" not in message
    return bool(message.get("params", {}).get("update", {}).get("state") == "idle")


def updates_until(agent: RawAgent, last: Any) -> list[dict[str, Any]]:
    found = []
    while not last(message := agent.message()):
        if message.get("method") == "session/update":
            found.append(message["params"]["update"])
    return found


def load(agent: RawAgent, session: str, project: Path, protocol: int) -> list[dict[str, Any]]:
    """Load a session; the updates that come before the answer."""
    if protocol == 1:
        request = agent.ask("session/load", sessionId=session, cwd=str(project), mcpServers=[])
    else:
        more = {"mcpServers": [], "replayFrom": {"type": "start"}}
        request = agent.ask("session/resume", sessionId=session, cwd=str(project), **more)
    answer: dict[str, Any] = {}

    def is_answer(message: dict[str, Any]) -> bool:
        answer.update(message)
        return message.get("id") == request and "method" not in message

    found = updates_until(agent, is_answer)
    assert "result" in answer, answer
    return found


def refusal(agent: RawAgent, method: str, **params: Any) -> dict[str, Any]:
    request = agent.ask(method, **params)
    error: dict[str, Any] = agent.until(lambda message: message.get("id") == request)["error"]
    return error


def said(updates: list[dict[str, Any]]) -> str:
    """The texts in the updates, whole messages and pieces."""
    return str([update for update in updates if "message" in update["sessionUpdate"]])


def list_ids(agent: RawAgent) -> list[str]:
    return [info["sessionId"] for info in agent.answer(agent.ask("session/list"))["sessions"]]


@pytest.mark.req("v1-session-05", "all-session-22")
def test_a_session_is_listed_loaded_resumed_and_deleted_after_a_restart(
    project: Path, home: Path, protocol: int
) -> None:
    """Field bugs 72, 73, 76 and 78."""
    with started(project, home) as agent:
        session = agent.open(project, protocol)
        turn(agent, session, "help", protocol)
        agent.rest()
        assert agent.process.wait(PATIENCE) == 0 and agent.stderr == ""
    assert stat.S_IMODE(folder(home).stat().st_mode) == 0o700
    files = [path for path in folder(home).rglob("*") if path.is_file()]
    assert files and all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    with started(project, home) as agent:
        initialize(agent, protocol)
        assert list_ids(agent) == [session]
        assert "help" in said(load(agent, session, project, protocol))
        turn(agent, session, "help", protocol)
        agent.rest()
    with started(project, home) as agent:
        initialize(agent, protocol)
        request = agent.ask("session/resume", sessionId=session, cwd=str(project), mcpServers=[])
        answered = updates_until(agent, lambda message: message.get("id") == request)
        assert not answered
        agent.answer(agent.ask("session/delete", sessionId=session))
        assert list_ids(agent) == []
        method, more = ("session/load", {}) if protocol == 1 else ("session/resume", {"replayFrom": {"type": "start"}})
        where = {"cwd": str(project), "mcpServers": []}
        assert refusal(agent, method, sessionId=session, **where, **more)["code"] == -32002
        agent.rest()


def written(home: Path, text: str) -> None:
    """Wait until a record with a text is on the disk."""
    deadline = time.monotonic() + PATIENCE
    query = "SELECT count(*) FROM record WHERE instr(CAST(body AS TEXT), ?)"
    while True:
        assert time.monotonic() < deadline, f"{text} was not written"
        try:
            with closing(sqlite3.connect(f"{(folder(home) / 'sessions.db').as_uri()}?mode=ro", uri=True)) as database:
                if database.execute(query, (text,)).fetchone()[0]:
                    return
        except sqlite3.OperationalError:
            pass  # It is being made.
        time.sleep(0.02)


def test_a_kill_in_the_middle_of_a_turn_loses_nothing_that_was_written(
    project: Path, home: Path, protocol: int
) -> None:
    with started(project, home) as agent:
        session = agent.open(project, protocol)
        agent.prompt(session, "run `sleep 100`")
        agent.allow()
        agent.until(lambda message: message.get("params", {}).get("update", {}).get("status") == "in_progress")
        written(home, "in_progress")
        os.kill(agent.process.pid, signal.SIGKILL)
        agent.process.wait(PATIENCE)
    with started(project, home) as agent:
        initialize(agent, protocol)
        updates = load(agent, session, project, protocol)
        assert "sleep 100" in said(updates)
        calls = [update for update in updates if update["sessionUpdate"].startswith("tool_call")]
        assert [update["status"] for update in calls if "status" in update][-1] == "failed"
        assert "interrupted" in str(calls)
        assert "help" in said(turn(agent, session, "help", protocol)) or protocol == 1
        agent.rest()
        assert agent.stderr == ""


def test_two_processes_have_one_session_one_after_the_other(project: Path, home: Path, protocol: int) -> None:
    with started(project, home) as first, started(project, home) as second:
        session = first.open(project, protocol)
        turn(first, session, "help", protocol)
        initialize(second, protocol)
        other = second.answer(second.ask("session/new", cwd=str(project), mcpServers=[]))["sessionId"]
        turn(second, other, "help", protocol)
        assert set(list_ids(second)) == {session, other}
        error = refusal(second, "session/resume", sessionId=session, cwd=str(project), mcpServers=[])
        assert error["code"] == -32602 and "another process" in error["message"]
        turn(first, session, "help", protocol)
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait(PATIENCE)
        assert load(second, session, project, protocol)
        turn(second, session, "help", protocol)
        second.rest()


def works_without_a_store(project: Path, home: Path, protocol: int, code: int = -32002, **env: str) -> str:
    """A session, a turn and a reopening in one process; what was said on standard error."""
    with started(project, home, **env) as agent:
        session = agent.open(project, protocol)
        turn(agent, session, "help", protocol)
        assert list_ids(agent) == [session]
        assert load(agent, session, project, protocol)
        error = refusal(agent, "session/resume", sessionId="nope", cwd=str(project), mcpServers=[])
        assert error["code"] == code and ("for now" if code == -32603 else "not kept") in str(error)
        agent.rest()
        assert agent.process.wait(PATIENCE) == 0
        return agent.stderr


def test_a_home_that_cannot_be_written_is_told_once(project: Path, protocol: int) -> None:
    told = works_without_a_store(project, Path("/dev/null/home"), protocol, -32603)
    assert told.count("sessions are not kept for now: /dev/null") == 1


@pytest.mark.parametrize("damage", ["text", "newer", "foreign"])
def test_a_database_that_cannot_be_used_is_told_and_left_alone(project: Path, home: Path, damage: str) -> None:
    folder(home).mkdir(parents=True)
    path = folder(home) / "sessions.db"
    if damage == "text":
        path.write_bytes(b"this is no database\n" * 500)
    else:
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE thing (name TEXT)")
            if damage == "newer":
                database.execute(f"PRAGMA application_id = {0x44756F4C}")
                database.execute("PRAGMA user_version = 99")
            database.commit()
    before = path.read_bytes()
    told = works_without_a_store(project, home, 1)
    assert told.count("sessions are not kept") == 1 and str(path) in told and told.count("\n") == 1
    assert {"text": "damaged", "newer": "newer version", "foreign": "another program"}[damage] in told
    assert path.read_bytes() == before


def test_it_can_be_turned_off(project: Path, home: Path) -> None:
    told = works_without_a_store(project, home, 1, DUOLOGUE_SESSIONS="off")
    assert told.count("sessions are not kept: that is turned off") == told.count("\n") == 1
    assert not list(home.iterdir())
