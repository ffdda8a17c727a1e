"""`duologue sessions`, and runs that go on with a session: with agents of each offer, and with the built-in one."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cli_kit import DUOLOGUE, bare_environment, run
from msgspec import UNSET

from duologue.agent import Agent, Session, Turn, list_page, unknown_session
from duologue.cli.exits import Exit
from duologue.cli.failing import Failing, reason_of
from duologue.cli.listing import Everywhere, Listing
from duologue.cli.resuming import NoSession, Resume
from duologue.cli.running import Order, Run
from duologue.cli.screen import Screen
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.changes.memory import AgentExtras
from duologue.protocol.common.session import ListSessionsRequest, ListSessionsResponse, SessionInfo
from duologue.testing import connected
from wire import PATIENCE


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> Any:
    return request.param


def info(name: str, cwd: Path, used: str | None = None, title: str | None = None) -> SessionInfo:
    return SessionInfo(session_id=name, cwd=str(cwd), updated_at=used, title=title)


@dataclass
class Keeper(Agent):
    """An agent that lists what it is given, whatever folder it is asked for."""

    infos: Sequence[SessionInfo] = ()
    offers: AgentExtras = field(default_factory=AgentExtras)
    opened: list[tuple[str, bool]] = field(default_factory=list)

    def v1_capabilities(self) -> AgentExtras:
        return self.offers

    async def list_sessions(self, request: ListSessionsRequest) -> ListSessionsResponse:
        given = ListSessionsRequest(cursor=request.cursor)
        return list_page(self.infos, given)

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        self.opened.append((session.id, replay))
        if session.id not in {info.session_id for info in self.infos}:
            raise unknown_session(session.id)
        if replay:
            async with session.work() as turn:
                await turn.say("from the history")

    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"{turn.session.id} goes on")


async def work(agent: Agent, order: Order, protocol: Any, kind: type[Run | Listing] = Run) -> Exit:
    client = kind(order)
    client.output.open()
    async with connected(agent, client, protocol=protocol) as connection:
        status = await client.work(connection)
        client.afterwards()
        await client.output.settle()
    return status


def order(cwd: Path, resume: Resume | None = None, **more: Any) -> Order:
    return Order(request="go", command=["x"], cwd=cwd, resume=resume, **more)


async def test_the_last_session_of_the_folder_goes_on(
    tmp_path: Path, protocol: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    other, link = tmp_path / "other", tmp_path / "link"
    other.mkdir()
    link.symlink_to(tmp_path)
    agent = Keeper(
        [
            info("untold", tmp_path),
            info("old", tmp_path, "2026-01-01T12:00:00Z"),
            info("last", link, "2026-01-01T12:30:00+00:00", 'Say\x1b[2J "hi"'),
            info("zoned", tmp_path, "2026-01-01T13:00:00+02:00"),
            info("elsewhere", other, "2026-02-01T12:00:00Z"),
            info("broken", tmp_path, "yesterday"),
        ]
    )
    assert await work(agent, order(tmp_path, Resume()), protocol) == Exit.DONE
    told = capfd.readouterr()
    assert agent.opened == [("last", False)]
    assert told.out == "last goes on"
    assert 'goes on with "Say␛[2J "hi"" (last, last used 2026-01-01 ' in told.err and "it was in" not in told.err


async def test_a_session_is_opened_by_its_id_and_a_change_of_folder_is_told(
    tmp_path: Path, protocol: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    agent = Keeper([info("one", tmp_path), info("two", other)])
    assert await work(agent, order(tmp_path, Resume("two")), protocol) == Exit.DONE
    told = capfd.readouterr()
    assert told.out == "two goes on" and f"it was in {other}, and is in {tmp_path} from now on" in told.err
    assert await work(Keeper([info("one", tmp_path)], AgentExtras(list=False)), order(tmp_path, Resume("one")), 1) == 0
    assert "goes on with the session (one)" in capfd.readouterr().err


async def test_an_agent_that_only_loads_is_not_shown_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Some agents of version 1 have no session/resume; what was said before comes, and is not printed."""
    for json_ in (False, True):
        agent = Keeper([info("one", tmp_path)], AgentExtras(resume=False))
        assert await work(agent, order(tmp_path, Resume(), json=json_), 1) == Exit.DONE
        assert agent.opened == [("one", True)]
        told = capfd.readouterr().out
        assert "one goes on" in told and "history" not in told


@pytest.mark.req("v1-session-10", "v1-session-16")
@pytest.mark.parametrize(
    ("offers", "resume", "words"),
    [
        (AgentExtras(load=False, resume=False), Resume(), "does not offer to go on with a session"),
        (AgentExtras(load=False, resume=False), Resume("one"), "does not offer to go on with a session"),
        (AgentExtras(list=False), Resume(), "does not list its sessions (session/list): name one by --resume ID"),
        (AgentExtras(), Resume(), "there is no session of"),
        (AgentExtras(), Resume("no"), "Session not found: no; `duologue sessions` lists"),
    ],
)
async def test_what_is_not_there_or_not_offered_is_said(
    tmp_path: Path, offers: AgentExtras, resume: Resume, words: str
) -> None:
    other = info("one", tmp_path / "other", "2026-01-01T12:00:00Z")
    agent = Keeper([other], offers)
    with pytest.raises(NoSession) as caught:
        await work(agent, order(tmp_path, resume), 1)
    assert words in str(caught.value)
    assert agent.opened == ([("no", False)] if resume.session_id == "no" else [])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (UNSET, "no session x"),
        ({"sessionId": "x"}, "no session x"),
        ({"sessionId": "x", "details": "sessions are not kept"}, "no session x: sessions are not kept"),
        ({"sessionId": "y"}, 'no session x (-32002): {"sessionId":"y"}'),
    ],
)
def test_of_an_error_answer_no_more_is_told_than_people_need(data: Any, words: str) -> None:
    assert reason_of(RpcError(-32002, "no session x", data)) == words


@pytest.mark.parametrize("verbose", [False, True])
def test_a_long_reason_is_cut_unless_all_is_wanted(verbose: bool) -> None:
    shown = StringIO()
    Failing(Screen(shown, colour=False), "duologue run", verbose=verbose).tell(RpcError(-32603, "long " * 20_000))
    assert ("(100000 characters; --verbose shows all)" in shown.getvalue()) is not verbose
    assert (len(shown.getvalue()) < 5000) is not verbose


async def test_an_agent_without_kept_sessions_is_refused_in_version_2_too(tmp_path: Path) -> None:
    with pytest.raises(NoSession):
        await work(Agent(), order(tmp_path, Resume("one")), 2)


async def test_sessions_are_listed_with_the_last_first(
    tmp_path: Path, protocol: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    infos = [
        info("old", tmp_path, "2026-01-01T12:00:00Z", "Two\nlines"),
        info("new", tmp_path, "2026-01-02T12:00:00Z"),
        info("else\x1b[1A", tmp_path / "other", "2026-01-03T12:00:00Z", "There"),
    ]
    assert await work(Keeper(infos), order(tmp_path), protocol, Listing) == Exit.DONE
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["new", "old"]
    assert lines[0].endswith("(no title)") and lines[1].endswith("Two␊lines") and " 2026-01-0" in lines[0]
    assert await work(Keeper(infos), order(tmp_path), protocol, Everywhere) == Exit.DONE
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["else␛[1A", "new", "old"]
    assert lines[0].endswith(f"There  {tmp_path / 'other'}")
    assert await work(Keeper(infos), order(tmp_path, json=True), protocol, Listing) == Exit.DONE
    assert [json.loads(line)["sessionId"] for line in capfd.readouterr().out.splitlines()] == ["new", "old"]
    assert await work(Keeper(), order(tmp_path), protocol, Listing) == Exit.DONE
    assert "there are no sessions of" in capfd.readouterr().err
    with pytest.raises(NoSession, match="does not list its sessions"):
        await work(Keeper(infos, AgentExtras(list=False)), order(tmp_path), 1, Listing)


@pytest.mark.parametrize("protocol", ["1", "2"])
def test_the_built_in_agent_goes_on_in_another_process(tmp_path: Path, protocol: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("def first(): ...\n")
    env = bare_environment(DUOLOGUE_SESSIONS=str(tmp_path / "kept"))
    first = run("where is first defined?", "--protocol", protocol, cwd=project, env=env)
    assert first.returncode == 0, first.stderr
    again = run("--continue", "undo", "--model", "offline", "--protocol", protocol, cwd=project, env=env)
    assert again.returncode == 0 and "goes on with \"Find 'first'\"" in again.stderr, again.stderr
    assert "a.py:1" not in again.stdout and "starts me anew" in again.stdout
    without_key = run("--continue", "help", "--model", "openai:x", "--protocol", protocol, cwd=project, env=env)
    assert without_key.returncode == 8 and "set OPENAI_API_KEY" in without_key.stderr
    listed = sessions("--protocol", protocol, cwd=project, env=env)
    assert listed.returncode == 0 and len(listed.stdout.splitlines()) == 1 and "Find 'first'" in listed.stdout
    name = listed.stdout.split()[0]
    (tmp_path / "link").symlink_to(project)
    for other in ("link", "project/../project"):
        same = sessions("--protocol", protocol, "--cwd", other, cwd=tmp_path, env=env)
        assert same.stdout == listed.stdout, same.stderr
    new = run("help", "--cwd", "link", "--protocol", protocol, cwd=tmp_path, env=env)
    assert new.returncode == 0 and len(sessions("--protocol", protocol, cwd=project, env=env).stdout.splitlines()) == 2
    third = run("--resume", name, "help", "--protocol", protocol, cwd=tmp_path, env=env)
    assert third.returncode == 0 and f"it was in {project}" in third.stderr


def test_what_cannot_be_gone_on_with_has_a_status(tmp_path: Path) -> None:
    env = bare_environment(DUOLOGUE_SESSIONS=str(tmp_path / "kept"))
    done = run("--continue", "go", cwd=tmp_path, env=env)
    assert done.returncode == 11 and "without --continue a new one is begun" in done.stderr and not done.stdout
    done = run("--resume", "no-such", "go", cwd=tmp_path, env=env)
    assert done.returncode == 11 and "Session not found: no-such" in done.stderr
    done = run("--resume", "x", "--continue", "go", cwd=tmp_path, env=env)
    assert done.returncode == 2 and "not allowed with" in done.stderr
    done = sessions("--cwd", "/no/such/folder", cwd=tmp_path, env=env)
    assert done.returncode == 2 and "duologue sessions: --cwd: there is no such folder" in done.stderr
    wrong = shlex.join([sys.executable, "-c", "raise SystemExit('no configuration')"])
    done = sessions("--agent", wrong, cwd=tmp_path, env=env)
    assert done.returncode == 7 and "no configuration" in done.stderr


@pytest.mark.parametrize("place", ["off", "/dev/null/no"])
def test_sessions_that_are_not_kept_are_not_only_missing(tmp_path: Path, place: str) -> None:
    env = bare_environment(DUOLOGUE_SESSIONS=place)
    listed, gone_on = sessions(cwd=tmp_path, env=env), run("--continue", "go", cwd=tmp_path, env=env)
    assert listed.returncode == 0 and "there are no sessions of" in listed.stderr
    assert gone_on.returncode == 11 and "there is no session of" in gone_on.stderr
    for done in (listed, gone_on):
        assert done.stderr.count("sessions are not kept") == 1


def sessions(*arguments: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """`duologue sessions` to its end."""
    return subprocess.run(
        [*DUOLOGUE, "sessions", *arguments],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
