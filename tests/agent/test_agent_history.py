"""An agent with a `History`: its sessions are opened again, listed and deleted while the program runs."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Scripted, Talk, settle
from keeper_kit import reopen

from duologue import Agent, History, Turn, connect
from duologue.agent import Session
from duologue.session import Role
from duologue.testing import connected


class Remembering(Scripted):
    """Keeps what its sessions tell."""

    def __init__(self, history: History, **scripts: Any) -> None:
        super().__init__(**scripts)
        self.history = history


def told(talk: Talk, kind: str) -> list[Any]:
    return [update["content"] for update in talk.updates() if update["sessionUpdate"].startswith(kind)]


async def listed(talk: Talk) -> list[dict[str, Any]]:
    sessions: list[dict[str, Any]] = (await talk.ask("session/list", {}))["result"]["sessions"]
    return sessions


@pytest.mark.req("v1-session-05", "v1-session-06", "v2-session-07")
async def test_a_session_tells_all_of_it_again_also_on_another_connection(version: int) -> None:
    history = History()
    first = await Talk.begin(Remembering(history), version)
    session = await first.new()
    await first.turn(session, "one")
    await first.turn(session, "two")
    await first.ask("session/close", {"sessionId": session})
    for turns, talk in enumerate((first, await Talk.begin(Remembering(history), version)), 2):
        talk.seen.clear()
        assert "result" in await talk.ask(*reopen(version, session))
        assert "echo one" in str(talk.seen) and "echo two" in str(talk.seen)
        assert len(told(talk, "user_message")) == turns and talk.kinds()[-1] == "answer"
        await talk.turn(session, "three")
        assert talk.said() == "echo three"


@pytest.mark.req("v1-session-11", "v2-session-06")
async def test_a_session_is_resumed_in_silence_and_keeps_its_title(version: int) -> None:
    async def name(turn: Turn) -> None:
        await turn.set_title("A name")

    talk = await Talk.begin(Remembering(History(), name=name), version)
    session = await talk.new()
    await talk.turn(session, "name")
    await talk.ask("session/close", {"sessionId": session})
    talk.seen.clear()
    assert "result" in await talk.ask(*reopen(version, session, replay=False))
    assert not talk.updates()
    assert [(info["sessionId"], info["title"]) for info in await listed(talk)] == [(session, "A name")]


async def test_what_is_opened_again_twice_is_told_once(version: int) -> None:
    talk = await Talk.begin(Remembering(History()), version)
    session = await talk.new()
    await talk.turn(session, "one")
    for _ in range(3):
        talk.seen.clear()
        await talk.ask(*reopen(version, session))
        assert str(talk.seen).count("echo one") == 1


async def test_a_session_without_a_word_is_open_and_unknown_when_it_is_closed(version: int) -> None:
    talk = await Talk.begin(Remembering(History()), version)
    session = await talk.new()
    assert "result" in await talk.ask(*reopen(version, session))
    await talk.ask("session/close", {"sessionId": session})
    assert (await talk.ask(*reopen(version, session)))["error"]["code"] == -32002
    assert (await talk.ask(*reopen(version, "never")))["error"]["code"] == -32002
    assert not await listed(talk)


async def test_a_turn_goes_on_while_its_session_is_opened_again(version: int) -> None:
    go = asyncio.Event()

    async def slow(turn: Turn) -> None:
        await turn.say("before ")
        await go.wait()
        await turn.say("after")

    talk = await Talk.begin(Remembering(History(), slow=slow), version)
    session = await talk.new()
    prompt = talk.prompt(session, "slow")
    await talk.heard("before")
    talk.seen.clear()
    await talk.ask(*reopen(version, session))
    assert "before" in str(talk.seen) and "after" not in str(talk.seen)
    go.set()
    if version == 1:
        await talk.ended(prompt)
    else:
        await talk.read_to(lambda message: "idle" in str(message))
    talk.seen.clear()
    await talk.ask(*reopen(version, session))
    assert "before " in str(talk.seen) and "after" in str(talk.seen)


async def test_the_last_used_come_first_and_a_folder_is_the_one_of_the_last_opening(
    version: int, tmp_path: Path
) -> None:
    talk = await Talk.begin(Remembering(History()), version)
    one, two = await talk.new(), await talk.new()
    for session in (one, two, one):
        await talk.turn(session, "hello")
    for session in (one, two):
        await talk.ask("session/close", {"sessionId": session})
    assert {info["sessionId"] for info in await listed(talk)} == {one, two}
    await talk.ask(*reopen(version, two, str(tmp_path), replay=False))
    await talk.ask("session/close", {"sessionId": two})
    assert {info["sessionId"]: info["cwd"] for info in await listed(talk)} == {one: "/", two: str(tmp_path)}


async def test_what_is_deleted_is_gone(version: int) -> None:
    history = History()
    talk = await Talk.begin(Remembering(history), version)
    session = await talk.new()
    await talk.turn(session, "one")
    assert history.transcript(session) is not None
    await talk.ask("session/delete", {"sessionId": session})
    assert history.transcript(session) is None and not await listed(talk)
    assert (await talk.ask(*reopen(version, session)))["error"]["code"] == -32002


async def test_what_is_deleted_stays_gone_while_another_connection_speaks_in_it(version: int) -> None:
    go, history = asyncio.Event(), History()

    async def slow(turn: Turn) -> None:
        await turn.say("before")
        await go.wait()
        await turn.say("after")

    here, there = [await Talk.begin(Remembering(history, slow=slow), version) for _ in range(2)]
    session = await here.new()
    here.prompt(session, "slow")
    await here.heard("before")
    await there.ask("session/delete", {"sessionId": session})
    go.set()
    await here.heard("after")
    assert history.transcript(session) is None and not await listed(there)
    assert (await there.ask(*reopen(version, session)))["error"]["code"] == -32002


async def test_beyond_the_most_the_least_recently_used_goes(version: int) -> None:
    talk = await Talk.begin(Remembering(History(most=2)), version)
    sessions = [await talk.new() for _ in range(3)]
    for session in (sessions[0], sessions[1], sessions[0], sessions[2]):
        await talk.turn(session, "hello")
    for session in sessions:
        await talk.ask("session/close", {"sessionId": session})
    assert {info["sessionId"] for info in await listed(talk)} == {sessions[0], sessions[2]}


async def test_it_is_announced_where_there_is_one(version: int) -> None:
    with_one = (await (await Talk.open(Remembering(History()), version)).initialize())["result"]
    without = (await (await Talk.open(Scripted(), version)).initialize())["result"]
    if version == 1:
        assert with_one["agentCapabilities"]["loadSession"] is True
        assert {"resume", "delete"} <= with_one["agentCapabilities"]["sessionCapabilities"].keys()
        assert "resume" not in without["agentCapabilities"]["sessionCapabilities"]
    else:
        assert "delete" in with_one["capabilities"]["session"] and "delete" not in without["capabilities"]["session"]


async def test_what_the_author_keeps_can_be_restored_from_it(version: int) -> None:
    class Counting(Agent):
        history = History()

        async def resume_session(self, session: Session, *, replay: bool) -> None:
            await super().resume_session(session, replay=replay)
            kept = self.history.transcript(session.id)
            session.state = len([each for each in kept.messages if each.role is Role.USER]) if kept else 0

        async def prompt(self, turn: Turn) -> None:
            turn.session.state = (turn.session.state or 0) + 1
            await turn.say(f"number {turn.session.state}")

    async with connected(Counting(), protocol=version) as client:  # type: ignore[arg-type]
        session = await client.new_session("/")
        await session.prompt("a")
        await session.prompt("b")
        await session.close()
        again = await client.resume_session(session.id, "/", replay=True)
        turn = await again.prompt("c")
        assert "number 3" in str(again.transcript.messages[-1].text) and turn is not None


async def test_the_example_can_be_asked_for_its_past(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "agent.py"
    async with connect([sys.executable, str(example)], protocol=2) as agent:
        session = await agent.new_session(tmp_path)
        await session.prompt("count")
        await session.close()
        again = await agent.resume_session(session.id, tmp_path, replay=True)
        assert "lines of Python" in str([message.text for message in again.transcript.messages])
        await settle()
