"""Sessions of an earlier process: loaded, resumed, listed, deleted and forked by an agent that keeps them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from acp_kit import Person, Scripted, take_turn
from coder_kit import Step, asks, call, says
from store_kit import bytes_in, process, query

from duologue.client import ClientConnection, Session
from duologue.coder.acp import CodingAgent
from duologue.coder.models.base import ModelEvent, ModelRequest, TextDelta
from duologue.jsonrpc.errors import RpcError
from duologue.session.entries import Role
from wire import PATIENCE


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def protocol(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions"


WORK = [
    asks(call("write_file", "c1", path="a.txt", text="x"), call("run_command", "c2", command="echo hi"), text="Now:"),
    says("all done"),
]


def told(session: Session) -> object:
    """What a client knows of a session."""
    transcript = session.transcript
    calls = {call.id: (call.title, call.kind, call.status, call.content) for call in transcript.tool_calls.values()}
    outputs = [terminal.output for terminal in transcript.terminals.values()]
    # The user's message has an id of the client's own in version 1.
    messages = [
        (message.role, message.role is Role.AGENT and message.id, message.text) for message in transcript.messages
    ]
    return messages, calls, outputs, transcript.title, transcript.plans


@pytest.mark.req("v1-session-05", "all-session-28")
async def test_a_loaded_session_shows_and_knows_what_was_said(project: Path, kept: Path, protocol: int) -> None:
    """Field bugs 72, 73 and 78."""
    async with process(kept, *WORK, protocol=protocol) as (first, _, models):
        session = await first.new_session(project)
        await take_turn(session, "please")
        live = told(session)
        known = models.model.requests[-1].messages
    async with process(kept, says("again"), protocol=protocol) as (second, person, models):
        loaded = await second.resume_session(session.id, project, replay=True)
        assert told(loaded) == live
        count = len(person.updates)
        await take_turn(loaded, "more")
        messages = models.model.requests[-1].messages
        assert messages[: len(known)] == known
        assert messages[len(known)].text == "all done" and messages[-1].text == "more"
        assert models.model.requests[-1].conversation == session.id
        assert len(person.updates) > count


@pytest.mark.req("v1-session-09")
async def test_a_resumed_session_knows_it_without_showing_it(project: Path, kept: Path, protocol: int) -> None:
    """Field bug 73."""
    async with process(kept, says("I shall"), protocol=protocol) as (first, _, _):
        session = await first.new_session(project)
        await take_turn(session, "remember me")
    async with process(kept, says("again"), protocol=protocol) as (second, person, models):
        resumed = await second.resume_session(session.id, project, replay=False)
        assert not person.updates
        await take_turn(resumed, "more")
        assert "remember me" in str(models.model.requests[-1].messages)


async def test_the_options_come_back(project: Path, kept: Path, protocol: int) -> None:
    models = Scripted(others=["test:other"])
    async with process(kept, protocol=protocol, models=models) as (first, _, _):
        session = await first.new_session(project)
        await session.set_config_option("model", "test:other")
        await session.set_config_option("mode", "read_only")
    async with process(kept, protocol=protocol, models=models) as (second, _, _):
        loaded = await second.resume_session(session.id, project)
        options: list[Any] = [*loaded.transcript.config_options]
        assert {option.config_id: option.current_value for option in options} == {
            "model": "test:other",
            "mode": "read_only",
        }


@pytest.mark.req("all-session-11", "all-session-12", "all-session-22", "all-session-23", "v1-session-17")
async def test_listing_and_deleting_reach_over_processes(project: Path, kept: Path, protocol: int) -> None:
    other = project / "other"
    other.mkdir()
    async with process(kept, says("a"), says("b"), protocol=protocol) as (first, _, _):
        here, there = await first.new_session(project), await first.new_session(other)
        await take_turn(here, "a rare word: xylophone")
        await take_turn(there, "second")
    async with process(kept, protocol=protocol) as (second, _, _):
        listed = [info async for info in second.stored_sessions()]
        assert [(info.session_id, info.title) for info in listed] == [
            (there.id, "second"),
            (here.id, "a rare word: xylophone"),
        ]
        assert [info.session_id async for info in second.stored_sessions(cwd=project)] == [here.id]
        assert b"xylophone" in bytes_in(kept)
        await second.delete_session(here.id)
        await second.delete_session(here.id)
        await second.delete_session("nobody")
        assert [info.session_id async for info in second.stored_sessions()] == [there.id]
        with pytest.raises(RpcError) as gone:
            await second.resume_session(here.id, project)
        assert gone.value.code == -32002
    assert b"xylophone" not in bytes_in(kept)


@pytest.mark.req("all-session-17", "all-session-18")
async def test_a_long_list_comes_in_pages_that_another_process_can_go_on_with(project: Path, kept: Path) -> None:
    async with process(kept, *[says()] * 130) as (first, _, _):
        for _ in range(130):
            await take_turn(await first.new_session(project))
        page = await first.list_sessions()
    async with process(kept) as (second, _, _):
        rest = await second.list_sessions(cursor=str(page.next_cursor))
    seen = {info.session_id for info in (*page.sessions, *rest.sessions)}
    assert (len(page.sessions), len(rest.sessions), len(seen)) == (100, 30, 130)


async def test_sessions_have_the_same_times_whoever_lists_them(project: Path, kept: Path) -> None:
    """A cursor means the same place in a list of those that are open and in one of those that are stored."""

    async def listed(client: ClientConnection) -> list[tuple[str, str]]:
        return [(info.session_id, str(info.updated_at)) async for info in client.stored_sessions()]

    async with process(kept, *[says()] * 10) as (first, _, _):
        sessions = [await first.new_session(project) for _ in range(10)]
        for session in reversed(sessions):
            await take_turn(session)
        fork = await sessions[0].fork()
        here = await listed(first)
    async with process(kept) as (second, _, _):
        assert await listed(second) == here
    assert {name for name, _ in here} == {fork.id, *(session.id for session in sessions)}
    assert here == sorted(here, key=lambda each: (each[1], each[0]), reverse=True)


async def test_a_session_without_a_word_can_be_loaded_and_is_not_listed(project: Path, kept: Path) -> None:
    """Field bug 79."""
    async with process(kept) as (first, _, _):
        session = await first.new_session(project)
        assert [info.session_id async for info in first.stored_sessions()] == [session.id]
    async with process(kept, says()) as (second, _, _):
        assert [info async for info in second.stored_sessions()] == []
        await take_turn(await second.resume_session(session.id, project))
        assert [info.session_id async for info in second.stored_sessions()] == [session.id]


@pytest.mark.req("all-session-28")
async def test_closing_keeps_it(project: Path, kept: Path, protocol: int) -> None:
    async with process(kept, says("one"), says("two"), protocol=protocol) as (connection, _, models):
        session = await connection.new_session(project)
        await take_turn(session, "first")
        await session.close()
        again = await connection.resume_session(session.id, project)
        await take_turn(again, "second")
        assert [message.text for message in models.model.requests[-1].messages] == ["first", "one", "second"]


@pytest.mark.req("allu-session-02")
@pytest.mark.parametrize("held", [True, False], ids=["open", "stored"])
async def test_a_fork_goes_on_by_itself(project: Path, kept: Path, protocol: int, held: bool) -> None:
    async with process(kept, says("one"), protocol=protocol) as (first, _, _):
        source = await first.new_session(project)
        await take_turn(source, "first")
    async with process(kept, says("two"), says("three"), protocol=protocol) as (second, _, models):
        if held:
            await second.resume_session(source.id, project)
        fork = await second.fork_session(source.id, project)
        await take_turn(fork, "second")
        assert fork.id != source.id
        assert [message.text for message in models.model.requests[-1].messages] == ["first", "one", "second"]
    async with process(kept, protocol=protocol) as (third, _, _):
        texts = {}
        for session_id in (source.id, fork.id):
            loaded = await third.resume_session(session_id, project)
            texts[session_id] = [message.text for message in loaded.transcript.messages]
    assert texts == {source.id: ["first", "one"], fork.id: ["first", "one", "second", "two"]}


@pytest.mark.parametrize("heard", [False, True], ids=["before the model heard of it", "while it answers"])
async def test_a_fork_within_a_turn_knows_its_prompt(
    project: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, heard: bool
) -> None:
    told, go_on = asyncio.Event(), asyncio.Event()

    async def waits() -> None:
        told.set()
        await go_on.wait()

    async def answers(_: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("so far")
        await waits()
        for event in says("one"):
            yield event

    if not heard:
        monkeypatch.setattr(CodingAgent, "_load", lambda _: asyncio.ensure_future(waits()))
    steps: list[Step] = [answers, says("two")] if heard else [says("one"), says("two")]
    async with process(kept, *steps, protocol=2) as (connection, _, models):
        source = await connection.new_session(project)
        if not heard:
            await told.wait()  # What loads ahead waits, as the turn will.
            told.clear()
        turn = asyncio.create_task(take_turn(source, "first"))
        await told.wait()
        fork = await connection.fork_session(source.id, project)
        go_on.set()
        await turn
        await take_turn(fork, "second")
        known = ["first", "so far", "second"] if heard else ["first", "second"]
        assert [message.text for message in models.model.requests[-1].messages] == known


@pytest.mark.parametrize("what", ["resume", "fork"])
async def test_an_unknown_session_is_not_found(project: Path, kept: Path, protocol: int, what: str) -> None:
    """Field bug 76."""
    async with process(kept, protocol=protocol) as (connection, _, _):
        with pytest.raises(RpcError) as error:
            if what == "resume":
                await connection.resume_session("nope", project)
            else:
                await connection.fork_session("nope", project)
        assert error.value.code == -32002


async def listed(connection: ClientConnection, session_id: str) -> None:
    """Wait until a session of another process is written down, which happens beside its turn."""
    async with asyncio.timeout(PATIENCE):
        while session_id not in {found.session_id async for found in connection.stored_sessions()}:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_one_process_at_a_time_has_a_session_open(project: Path, kept: Path, protocol: int) -> None:
    async with (
        process(kept, says("one"), says("more"), protocol=protocol) as (first, _, _),
        process(kept, says("two"), says("three"), protocol=protocol) as (second, _, models),
    ):
        session = await first.new_session(project)
        await take_turn(session, "first")
        await listed(second, session.id)
        with pytest.raises(RpcError, match="open in another process") as error:
            await second.resume_session(session.id, project)
        assert error.value.code == -32602
        with pytest.raises(RpcError, match="open in another process") as error:
            await second.delete_session(session.id)
        assert error.value.code == -32602
        # It is listed, and a copy of it may be made.
        assert [info.session_id async for info in second.stored_sessions()] == [session.id]
        await take_turn(await second.fork_session(session.id, project), "copied")
        await take_turn(session, "goes on")
        await session.close()
        await take_turn(await second.resume_session(session.id, project), "and on")
        said = [message.text for message in models.model.requests[-1].messages]
        assert said == ["first", "one", "goes on", "more", "and on"]


async def test_a_turn_that_was_cut_off_is_closed(project: Path, kept: Path, protocol: int) -> None:
    """As SIGKILL leaves it: the records up to a moment in the middle of a command."""
    async with process(kept, *WORK, protocol=protocol) as (first, _, _):
        session = await first.new_session(project)
        await take_turn(session, "please")
    last = query(
        kept, "SELECT max(place) FROM record WHERE kind = 'update' AND CAST(body AS TEXT) LIKE '%in_progress%'"
    )[0][0]
    query(kept, "DELETE FROM record WHERE place > ?", last)
    async with process(kept, says("again"), protocol=protocol) as (second, _, models):
        loaded = await second.resume_session(session.id, project)
        calls = loaded.transcript.tool_calls
        assert [str(call.status) for call in calls.values()] == ["completed", "failed"]
        assert "interrupted" in str(calls["c2"].content)
        await take_turn(loaded, "more")
        messages = models.model.requests[-1].messages
        assert [type(message).__name__ for message in messages] == [
            *("UserMessage", "AssistantMessage", "ToolResult", "ToolResult", "UserMessage")
        ]
        assert "interrupted" in messages[3].text
    async with process(kept, says("again"), protocol=protocol) as (third, _, models):
        await take_turn(await third.resume_session(session.id, project), "last")
        assert models.model.requests[-1].messages[:5] == messages


@pytest.mark.parametrize(
    ("lost", "known"),
    [
        ("kind IN ('assistant', 'ended')", ["tell me", "half an answer"]),
        ("kind NOT IN ('began') AND place > 2", ["tell me"]),
    ],
    ids=["while it answered", "before the model heard of it"],
)
async def test_what_was_seen_of_a_cut_off_turn_is_known(project: Path, kept: Path, lost: str, known: list[str]) -> None:
    async with process(kept, says("half an answer")) as (first, _, _):
        session = await first.new_session(project)
        await take_turn(session, "tell me")
    query(kept, f"DELETE FROM record WHERE {lost}")
    async with process(kept, says("again")) as (second, _, models):
        await take_turn(await second.resume_session(session.id, project), "more")
        said = [message.text for message in models.model.requests[-1].messages]
        assert said == [*known, "more"]


async def test_a_grant_of_the_session_is_not_restored(project: Path, kept: Path, protocol: int) -> None:
    """What "always" allows is kept with the project's permissions, which these agents have none of."""
    people = [Person("allow_always"), Person("allow_always")]
    session_id = None
    for text, person in zip(("x", "y"), people, strict=True):
        steps = [asks(call("write_file", path="a.txt", text=text)), says()]
        async with process(kept, *steps, person=person, protocol=protocol) as (agent, _, _):
            opened = agent.new_session(project) if session_id is None else agent.resume_session(session_id, project)
            session = await opened
            session_id = session.id
            await take_turn(session)
    assert [len(person.questions) for person in people] == [1, 1]


async def test_a_replay_shows_each_message_once(project: Path, kept: Path) -> None:
    async with process(kept, says("one")) as (first, _, _):
        session = await first.new_session(project)
        await take_turn(session, "first")
    async with process(kept) as (second, _, _):
        for _ in range(2):
            loaded = await second.resume_session(session.id, project)
        roles = [message.role for message in loaded.transcript.messages]
    assert roles == [Role.USER, Role.AGENT]
