"""Reopening sessions on the agent's side: two at once, ones that do not exist, and ones that are still held."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk, settle
from keeper_kit import Keeper, kept_of, reopen

from duologue.agent import Session, unknown_session

SERVER = {"name": "db", "command": "/bin/db", "args": [], "env": []}


async def test_each_of_two_reopenings_of_an_unknown_session_is_told_so(version: int) -> None:
    talk = await Talk.begin(Keeper(), version)
    calls = [talk.call(*reopen(version, "nope", replay=replay)) for replay in (True, False, True)]
    talk.send(*calls)
    for call in calls:
        error = (await talk.answer(call["id"]))["error"]
        assert (error["code"], error["data"]) == (-32002, {"sessionId": "nope"})
    assert talk.connection.sessions == {} and not any(kept_of(talk.connection))


async def test_a_prompt_behind_two_reopenings_finds_the_session_that_the_second_one_opened(version: int) -> None:
    class Second(Scripted):
        tries = 0

        async def resume_session(self, session: Session, *, replay: bool) -> None:
            self.tries += 1
            if self.tries == 1:
                raise unknown_session(session.id)

    talk = await Talk.begin(Second(), version)
    calls = [talk.call(*reopen(version, "late")), talk.call(*reopen(version, "late")), talk.prompting("late", "go")]
    talk.send(*calls)
    assert (await talk.answer(calls[0]["id"]))["error"]["code"] == -32002
    assert "result" in await talk.answer(calls[1]["id"])
    assert await talk.ended(calls[2]["id"]) == [Ended("end_turn")]


async def test_a_session_that_is_closed_and_reopened_in_one_write_is_open(version: int) -> None:
    agent = Keeper()
    talk = await Talk.begin(agent, version)
    await talk.ask(*reopen(version, "old"))
    close = talk.call("session/close", {"sessionId": "old"})
    again = talk.call(*reopen(version, "old"))
    talk.send(close, again)
    assert "result" in await talk.answer(close["id"])
    assert "result" in await talk.answer(again["id"])
    assert await talk.turn("old", "go on") == Ended("end_turn")


class Seeing(Scripted):
    """Notes where a session is reopened, and refuses when it is told to."""

    refuses = False

    additional_directories = True

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        self.log.append(str(session.cwd))
        if self.refuses:
            raise unknown_session(session.id)


def elsewhere(version: int, session: str, place: Path, **more: Any) -> tuple[str, dict[str, Any]]:
    method, params = reopen(version, session, str(place))
    return method, {**params, **more}


@pytest.mark.req("all-session-28")
async def test_a_session_that_is_held_moves_to_where_it_is_reopened(version: int, tmp_path: Path) -> None:
    agent = Seeing()
    talk = await Talk.begin(agent, version)
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    params = {"cwd": str(here), "additionalDirectories": [str(there)], "mcpServers": []}
    session = str((await talk.ask("session/new", params))["result"]["sessionId"])
    held = talk.connection.sessions[session]
    assert held.roots == (here, there)
    server = SERVER if version == 1 else {"type": "stdio", **SERVER}
    answer = await talk.ask(*elsewhere(version, session, there, mcpServers=[server]))
    assert "result" in answer
    assert talk.connection.sessions[session] is held
    # Roots that are not named again are gone.
    assert [*held.roots] == [there]
    assert [server.name for server in held.mcp_servers] == ["db"]  # type: ignore[union-attr]
    assert agent.log == [str(there)]
    listed = (await talk.ask("session/list", {}))["result"]["sessions"]
    assert [entry["cwd"] for entry in listed] == [str(there)]


async def test_a_held_session_stays_where_it_is_when_reopening_fails(version: int, tmp_path: Path) -> None:
    agent = Seeing()
    agent.refuses = True
    talk = await Talk.begin(agent, version)
    session = await talk.new("/")
    assert (await talk.ask(*elsewhere(version, session, tmp_path)))["error"]["code"] == -32002
    assert agent.log == [str(tmp_path)]
    assert talk.connection.sessions[session].roots == (Path("/"),)


async def test_a_prompt_in_the_same_write_as_close_and_reopening_runs(version: int) -> None:
    agent = Keeper()
    talk = await Talk.begin(agent, version)
    await talk.ask(*reopen(version, "old"))
    agent.log.clear()
    close, again = talk.call("session/close", {"sessionId": "old"}), talk.call(*reopen(version, "old"))
    prompt = talk.prompting("old", "go on")
    talk.send(close, again, prompt)
    assert await talk.ended(prompt["id"]) == [Ended("end_turn")]
    steps = [step for step in agent.log if not step.endswith("begins")]
    assert steps == ["close ends", "resume ends", "begin go on", "end go on"]
    assert list(talk.connection.sessions) == ["old"]
    talk.send(talk.call("session/close", {"sessionId": "old"}))
    await settle()
    assert not any(kept_of(talk.connection))


@pytest.mark.parametrize("end", ["session/close", "session/delete"])
async def test_a_reopening_behind_the_end_of_one_in_the_same_write_begins_anew(version: int, end: str) -> None:
    class Noting(Keeper):
        """Notes what each reopening finds of the one before it, and forgets what is deleted."""

        async def resume_session(self, session: Session, *, replay: bool) -> None:
            self.log.append(f"finds {session.state}")
            await super().resume_session(session, replay=replay)

        async def delete_session(self, session_id: str) -> None:
            self.stored.discard(session_id)

    agent = Noting()
    talk = await Talk.begin(agent, version)
    asked = [reopen(version, "old"), (end, {"sessionId": "old"}), reopen(version, "old")]
    calls = [talk.call(*request) for request in asked]
    talk.send(*calls)
    answers = [await talk.answer(call["id"]) for call in calls]
    reopened = end == "session/close"
    assert ["result" in answer for answer in answers] == [True, True, reopened]
    assert [step for step in agent.log if step.startswith("finds")] == ["finds None"] * 2
    assert list(talk.connection.sessions) == ["old"] * reopened
    assert not any(kept_of(talk.connection))
