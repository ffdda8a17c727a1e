"""Listing, deleting and forking sessions: hooks of the author, announced when they are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk, forever, settle

from duologue.agent import Session, Turn, list_page, open_sessions, unknown_session
from duologue.protocol.common.session import ListSessionsRequest, ListSessionsResponse, SessionInfo


class Store(Scripted):
    """Keeps what was said in each session, and many sessions from before."""

    def __init__(self, **scripts: Any) -> None:
        super().__init__(note=self.note, **scripts)
        self.notes: dict[str, list[str]] = {f"old-{number}": [] for number in range(250)}

    async def note(self, turn: Turn) -> None:
        self.notes[turn.session.id].append(turn.text)
        await turn.say(" / ".join(self.notes[turn.session.id]))

    async def new_session(self, session: Session) -> None:
        self.notes[session.id] = []

    async def fork_session(self, session: Session, source_id: str) -> None:
        if source_id not in self.notes:
            raise unknown_session(source_id)
        self.notes[session.id] = [*self.notes[source_id]]
        await session.say("a copy")

    async def list_sessions(self, request: ListSessionsRequest) -> ListSessionsResponse:
        held = open_sessions(self.connection)
        ids = {info.session_id for info in held}
        stored = [SessionInfo(session_id=id, cwd="/") for id in self.notes if id not in ids]
        return list_page([*held, *stored], request)

    async def delete_session(self, session_id: str) -> None:
        self.log.append(f"delete {session_id}")
        self.notes.pop(session_id, None)


async def listed(talk: Talk, **params: Any) -> list[dict[str, Any]]:
    """All pages, one after the other."""
    found: list[dict[str, Any]] = []
    for _ in range(20):
        result = (await talk.ask("session/list", params))["result"]
        assert len(result["sessions"]) <= 100
        found += result["sessions"]
        if result.get("nextCursor") is None:
            return found
        params["cursor"] = result["nextCursor"]
    raise AssertionError("the pages do not end")


# --- listing ----------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-session-11", "all-session-13", "v1-session-17", "v2-session-05", "v2-session-03")
async def test_without_a_store_the_open_sessions_are_listed(version: int, tmp_path: Path) -> None:
    async def name(turn: Turn) -> None:
        await turn.set_title("Found")

    class Wide(Scripted):
        additional_directories = True

    talk = await Talk.begin(Wide(name=name), version)
    assert (await talk.ask("session/list", {}))["result"] == {"sessions": []}
    first = await talk.new()
    params = {"cwd": "/", "mcpServers": [], "additionalDirectories": [str(tmp_path)]}
    second = (await talk.ask("session/new", params))["result"]["sessionId"]
    await talk.turn(first, "name")
    entries = (await talk.ask("session/list", {"cursor": None, "cwd": None}))["result"]["sessions"]
    assert [entry["sessionId"] for entry in entries] == [first, second]
    assert (entries[0]["title"], entries[0]["cwd"]) == ("Found", "/")
    assert "additionalDirectories" not in entries[0]
    assert entries[1]["additionalDirectories"] == [str(tmp_path)]
    for entry in entries:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry["updatedAt"])


@pytest.mark.req("all-session-17", "all-session-18", "all-session-19")
async def test_field_bug_83_the_pages_of_a_long_list_hold_each_session_once(version: int) -> None:
    agent = Store()
    talk = await Talk.begin(agent, version)
    held = await talk.new()
    talk.seen.clear()
    entries = await listed(talk)
    ids = [entry["sessionId"] for entry in entries]
    assert ids == [held, *(id for id in agent.notes if id != held)]
    assert await listed(talk) == entries
    assert talk.updates() == [] and list(talk.connection.sessions) == [held]


async def test_pages_go_on_where_a_session_was_that_is_gone(version: int) -> None:
    agent = Store()
    talk = await Talk.begin(agent, version)
    first = (await talk.ask("session/list", {}))["result"]
    last = first["sessions"][-1]["sessionId"]
    del agent.notes[last]
    second = (await talk.ask("session/list", {"cursor": first["nextCursor"]}))["result"]
    assert second["sessions"][0]["sessionId"] == "old-100"
    agent.notes = {"new": [], **agent.notes}
    # One that came before it moves nothing.
    third = (await talk.ask("session/list", {"cursor": second["nextCursor"]}))["result"]
    assert [entry["sessionId"] for entry in third["sessions"]] == [f"old-{number}" for number in range(200, 250)]


@pytest.mark.req("all-session-16")
@pytest.mark.parametrize("cursor", ["", "1", "2", "bm8=", "WzEsMl0=", "ü", "W10=", "A" * 1000])
async def test_a_cursor_of_nobody_is_invalid(version: int, cursor: str) -> None:
    for agent in (Store(), Scripted()):
        talk = await Talk.begin(agent, version)
        assert (await talk.ask("session/list", {"cursor": cursor}))["error"]["code"] == -32602


@pytest.mark.req("all-session-12", "all-session-03")
async def test_a_list_of_one_folder(version: int, tmp_path: Path) -> None:
    talk = await Talk.begin(Store(), version)
    here = await talk.new(tmp_path)
    assert [entry["sessionId"] for entry in await listed(talk, cwd=str(tmp_path))] == [here]
    assert len(await listed(talk, cwd="/")) == 250
    assert await listed(talk, cwd="/nowhere") == await listed(talk, cwd="/no\0where") == []
    assert (await talk.ask("session/list", {"cwd": "here"}))["error"]["code"] == -32602


async def test_a_folder_is_the_same_by_another_name(version: int, tmp_path: Path) -> None:
    """Editors say it with a slash at the end, or by a link; a shell that is there has neither."""
    project, link = tmp_path / "project", tmp_path / "link"
    project.mkdir()
    link.symlink_to(project)
    talk = await Talk.begin(Store(), version)
    opened = [await talk.new(project), await talk.new(link)]
    for name in (project, link, f"{project}/", f"{link}/../project"):
        assert {entry["sessionId"] for entry in await listed(talk, cwd=str(name))} == set(opened)


# --- deleting ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-session-22", "all-session-23")
async def test_a_deleted_session_is_not_listed_and_may_be_deleted_again(version: int) -> None:
    talk = await Talk.begin(Store(), version)
    for session in ("old-7", "old-7", "never"):
        assert (await talk.ask("session/delete", {"sessionId": session}))["result"] == {}
    assert "old-7" not in [entry["sessionId"] for entry in await listed(talk)]
    assert (await talk.ask("session/delete", {}))["error"]["code"] == -32602


async def test_an_open_session_is_closed_before_it_is_deleted(version: int) -> None:
    async def hang(turn: Turn) -> None:
        await forever()

    agent = Store(hang=hang)
    talk = await Talk.begin(agent, version)
    session = await talk.new()
    id = talk.prompt(session, "hang")
    await settle()
    delete = talk.call("session/delete", {"sessionId": session})
    talk.send(delete)
    assert await talk.ended(id) == [Ended("cancelled")]
    assert (await talk.answer(delete["id"]))["result"] == {}
    assert agent.log == ["begin hang", "cancelled hang", "end hang", "closed None", f"delete {session}"]
    assert talk.connection.sessions == {}
    prompt = talk.prompt(session, "again")
    assert (await talk.answer(prompt))["error"]["code"] == -32002


# --- forking ----------------------------------------------------------------------------------------------------------


def forking(version: int, source: str, **more: Any) -> dict[str, Any]:
    return {"sessionId": source, "cwd": "/", **more}


@pytest.mark.req("allu-session-01", "allu-session-02")
async def test_a_fork_goes_on_by_itself(version: int) -> None:
    agent = Store()
    talk = await Talk.begin(agent, version)
    source = await talk.new()
    await talk.turn(source, "note one")
    talk.seen.clear()
    fork = (await talk.ask("session/fork", forking(version, source)))["result"]["sessionId"]
    assert fork != source
    # What it says comes behind the response that names it.
    await talk.heard("a copy")
    kinds = talk.kinds()
    assert kinds.index("answer") < kinds.index("agent_message_chunk")
    assert await talk.turn(fork, "note two") == Ended("end_turn")
    assert agent.notes[fork] == ["note one", "note two"]
    assert agent.notes[source] == ["note one"]
    assert talk.said() == "note one / note two"


@pytest.mark.req("allu-session-01", "allu-session-03")
async def test_a_fork_that_cannot_be(version: int) -> None:
    talk = await Talk.begin(Store(), version)
    assert (await talk.ask("session/fork", {"sessionId": "old-1"}))["error"]["code"] == -32602
    assert (await talk.ask("session/fork", {"cwd": "/"}))["error"]["code"] == -32602
    for cwd in ("", "here", "/no/such/folder"):
        params = forking(version, "old-1", cwd=cwd)
        assert (await talk.ask("session/fork", params))["error"]["code"] == -32602
    assert (await talk.ask("session/fork", forking(version, "never")))["error"]["code"] == -32002
    assert talk.connection.sessions == {}


@pytest.mark.req("allu-session-04", "all-session-28")
async def test_a_fork_has_the_roots_it_names_and_no_others(version: int, tmp_path: Path) -> None:
    class Wide(Store):
        additional_directories = True

    talk = await Talk.begin(Wide(), version)
    params = {"cwd": "/", "mcpServers": [], "additionalDirectories": [str(tmp_path)]}
    source = (await talk.ask("session/new", params))["result"]["sessionId"]
    fork = (await talk.ask("session/fork", forking(version, source)))["result"]["sessionId"]
    assert talk.connection.sessions[source].roots == (Path("/"), tmp_path)
    assert talk.connection.sessions[fork].roots == (Path("/"),)


async def test_a_fork_behind_a_change_waits_for_it(version: int) -> None:
    talk = await Talk.begin(Store(), version)
    source = await talk.new()
    close = talk.call("session/close", {"sessionId": source})
    fork = talk.call("session/fork", forking(version, source))
    talk.send(close, fork)
    assert "result" in await talk.answer(close["id"])
    assert (await talk.answer(fork["id"]))["result"]["sessionId"] != source


# --- replay -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-session-10")
@pytest.mark.parametrize("kind", ["_from_message", "end"])
async def test_a_replay_from_somewhere_else_is_refused(kind: str) -> None:
    class Reopens(Scripted):
        async def resume_session(self, session: Session, *, replay: bool) -> None:
            await session.say("all of it")

    talk = await Talk.begin(Reopens(), 2)
    answer = await talk.ask("session/resume", {"sessionId": "old", "cwd": "/", "replayFrom": {"type": kind}})
    assert "error" in answer
    assert talk.updates() == [] and talk.connection.sessions == {}
    assert "result" in await talk.ask("session/resume", {"sessionId": "old", "cwd": "/"})
