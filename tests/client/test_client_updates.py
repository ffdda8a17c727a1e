"""Updates that come early, late, for strangers, or between turns; and sessions that are reopened."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from client_kit import Host, agent_text

from duologue.client import Client, Session
from duologue.client import arriving as arriving_module
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.v2.updates import SessionUpdate
from wire import PATIENCE, settle, until

COMMANDS = {
    "sessionUpdate": "available_commands_update",
    "availableCommands": [{"name": "plan", "description": "Make a plan"}],
}


class Listening(Client):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def on_update(self, session: Session, update: SessionUpdate) -> None:
        self.heard.append((session.id, update.__class__.__name__))


# --- early updates and strangers --------------------------------------------------------------------------------------


async def test_field_bug_33_updates_before_the_response_that_names_their_session_are_kept(version: int) -> None:
    client = Listening()
    host = await Host.begin(version, client)
    opening = asyncio.create_task(host.connection.new_session("/tmp"))
    request = await host.wire.read_method("session/new")
    host.send(host.update(COMMANDS, "N"), host.chunk("early ", "N"))
    await settle()
    host.send({"id": request["id"], "result": {"sessionId": "N"}}, host.chunk("then", "N"))
    session = await asyncio.wait_for(opening, PATIENCE)
    assert [command.name for command in session.transcript.commands] == ["plan"]
    assert agent_text(session) == "early then"
    assert [kind for id, kind in client.heard if id == "N"] == [
        "AvailableCommandsUpdateEvent",
        "AgentMessageChunk",
        "AgentMessageChunk",
    ]


async def test_field_bug_30_an_update_in_the_same_write_as_the_response_is_not_lost(version: int) -> None:
    host = await Host.begin(version)
    opening = asyncio.create_task(host.connection.new_session("/tmp"))
    request = await host.wire.read_method("session/new")
    host.send({"id": request["id"], "result": {"sessionId": "N"}}, host.chunk("at once", "N"))
    assert agent_text(await asyncio.wait_for(opening, PATIENCE)) == "at once"


async def test_field_bugs_34_35_updates_for_a_session_that_never_comes_harm_nothing(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    host = await Host.begin(version)
    with caplog.at_level("INFO", "duologue.client"):
        for _ in range(50):
            host.send(host.chunk("boo", "ghost"), host.update({"sessionUpdate": "session_info_update"}, "ghost"))
        await settle()
    assert len([record for record in caplog.records if "ghost" in record.getMessage()]) == 1
    run, request = await host.prompt()
    host.send(host.chunk("boo", "ghost"))
    host.accept(request)
    host.say("fine")
    host.end(request)
    assert await run.end() == "end_turn"
    assert run.said == "fine"


async def test_early_updates_are_bounded_and_let_go(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving_module, "EARLY_UPDATES", 10)
    host = await Host.begin(version)
    opening = asyncio.create_task(host.connection.new_session("/tmp"))
    request = await host.wire.read_method("session/new")
    for number in range(50):
        host.send(host.chunk("x", f"ghost {number}"), host.chunk("y", "N"))
    await settle()
    assert sum(map(len, host.connection.arrivals._early.values())) <= 10
    host.answer(request, {"sessionId": "N"})
    await asyncio.wait_for(opening, PATIENCE)
    assert host.connection.arrivals._early == {}


async def test_a_session_that_fails_to_open_lets_go_of_early_updates(version: int) -> None:
    host = await Host.begin(version)
    opening = asyncio.create_task(host.connection.new_session("/tmp"))
    request = await host.wire.read_method("session/new")
    host.send(host.chunk("early", "N"))
    host.refuse(request, -32000, "log in first")
    with pytest.raises(RpcError, match="log in first"):
        await asyncio.wait_for(opening, PATIENCE)
    assert host.connection.arrivals._early == {}
    assert list(host.connection.sessions) == ["S"]


# --- between turns ----------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-prompt-14", "v2-prompt-10", "v2-prompt-09")
async def test_field_bugs_37_185_updates_between_turns_reach_the_session(version: int) -> None:
    client = Listening()
    host = await Host.begin(version, client)
    host.send(host.update(COMMANDS), host.update({"sessionUpdate": "session_info_update", "title": "A talk"}))
    host.say("by the way")
    await until(lambda: len(client.heard) == 3)
    transcript = host.session.transcript
    assert [command.name for command in transcript.commands] == ["plan"]
    assert transcript.title == "A talk"
    assert agent_text(host.session) == "by the way"
    assert transcript.state == "idle"
    run, request = await host.prompt()
    host.accept(request)
    host.end(request)
    assert await run.end() == "end_turn"
    assert run.said == ""


async def test_config_options_are_those_that_were_told_last(version: int) -> None:
    host = await Host.begin(version)
    option: dict[str, Any] = {"id": "model", "configId": "model", "name": "Model", "type": "select"}
    option |= {"currentValue": "a", "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}]}
    host.send(host.update({"sessionUpdate": "config_option_update", "configOptions": [option]}))
    await until(lambda: host.session.config_options)
    setting = asyncio.create_task(host.session.set_config_option("model", "b"))
    request = await host.wire.read_method("session/set_config_option")
    assert (request["params"]["configId"], request["params"]["value"]) == ("model", "b")
    host.answer(request, {"configOptions": [{**option, "currentValue": "b"}]})
    (changed,) = await asyncio.wait_for(setting, PATIENCE)
    assert changed.current_value == "b"  # type: ignore[union-attr]
    assert host.session.config_options[0].current_value == "b"  # type: ignore[union-attr]


async def test_a_failing_on_update_costs_neither_the_connection_nor_the_next_update(version: int) -> None:
    class Failing(Listening):
        def on_update(self, session: Session, update: SessionUpdate) -> None:
            super().on_update(session, update)
            raise KeyError("no window")

    client = Failing()
    host = await Host.begin(version, client)
    run, request = await host.prompt()
    host.accept(request)
    host.say("a", "b")
    host.end(request)
    assert await run.end() == "end_turn"
    assert run.said == "ab"
    assert [kind for _, kind in client.heard].count("AgentMessageChunk") == 2


# --- reopening --------------------------------------------------------------------------------------------------------


def history(host: Host, id: str) -> list[dict[str, Any]]:
    content = {"type": "text", "text": "asked"}
    user = {"sessionUpdate": "user_message_chunk", "messageId": "u0", "content": content}
    return [host.update(user, id), host.chunk("answered", id)]


async def reopening(host: Host, id: str, **options: Any) -> tuple[asyncio.Task[Session], dict[str, Any]]:
    task = asyncio.create_task(host.connection.resume_session(id, "/tmp", **options))
    replay = options.get("replay", True)
    method = "session/load" if host.version == 1 and replay else "session/resume"
    return task, await host.wire.read_method(method)


@pytest.mark.req("v2-session-09", "v1-session-08")
@pytest.mark.parametrize("result", [{}, None])
async def test_a_replay_is_in_the_transcript_when_the_session_is_there(version: int, result: Any) -> None:
    host = await Host.begin(version)
    task, request = await reopening(host, "old")
    host.send(*history(host, "old"), {"id": request["id"], "result": result}, host.chunk(" live", "old"))
    session = await asyncio.wait_for(task, PATIENCE)
    await settle()
    assert [message.text for message in session.transcript.messages] == ["asked", "answered live"]
    assert host.connection.sessions["old"] is session


async def test_replayed_user_messages_own_no_prompt(version: int) -> None:
    host = await Host.begin(version)
    task, request = await reopening(host, "old")
    host.send(*history(host, "old"))
    host.answer(request, {})
    host.session = await asyncio.wait_for(task, PATIENCE)
    run = asyncio.create_task(host.session.prompt("next").text())
    request = await host.wire.read_method("session/prompt")
    if version == 2:
        host.answer(request, {})
        content = [{"type": "text", "text": "next"}]
        host.send(host.update({"sessionUpdate": "user_message", "messageId": "u9", "content": content}, "old"))
    host.send(host.chunk("new", "old"))
    if version == 1:
        host.end(request)
    else:
        host.send(host.update({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}, "old"))
    assert await asyncio.wait_for(run, PATIENCE) == "new"


@pytest.mark.parametrize("fails", [0, 1])
async def test_field_bug_75_two_reopenings_at_once_double_nothing_and_one_may_fail(version: int, fails: int) -> None:
    host = await Host.begin(version)
    tasks = [asyncio.create_task(host.connection.resume_session("old", "/tmp")) for _ in range(2)]
    for number, task in enumerate(tasks):
        request = await host.wire.read_method("session/load" if version == 1 else "session/resume")
        host.send(*history(host, "old"))
        if number == fails:
            host.refuse(request, -32603, "disk")
            with pytest.raises(RpcError, match="disk"):
                await asyncio.wait_for(task, PATIENCE)
        else:
            host.answer(request, {})
            session = await asyncio.wait_for(task, PATIENCE)
    host.send(host.chunk(" live", "old"))
    await settle()
    assert host.connection.sessions["old"] is session
    assert [message.text for message in session.transcript.messages] == ["asked", "answered live"]


async def test_a_reopening_that_fails_leaves_the_session_that_was_there(version: int) -> None:
    host = await Host.begin(version)
    host.say("before ")
    await settle()
    task, request = await reopening(host, "S")
    host.refuse(request, -32002, "Session not found", data={"sessionId": "S"})
    with pytest.raises(RpcError) as caught:
        await asyncio.wait_for(task, PATIENCE)
    assert caught.value.code == -32002
    assert host.connection.sessions["S"] is host.session
    host.say("after")
    await settle()
    assert agent_text(host.session) == "before after"


async def test_field_bug_73_a_resume_without_replay_keeps_the_transcript_empty(version: int) -> None:
    host = await Host.begin(version)
    task, request = await reopening(host, "old", replay=False)
    assert "replayFrom" not in request["params"]
    assert request["params"]["mcpServers"] == []
    host.answer(request, {})
    session = await asyncio.wait_for(task, PATIENCE)
    assert session.transcript.entries == []


# --- closing ----------------------------------------------------------------------------------------------------------


async def test_closing_a_session_ends_its_turns_and_forgets_it(version: int) -> None:
    host = await Host.begin(version)
    run, request = await host.prompt()
    host.accept(request)
    host.say("x")
    closing = asyncio.create_task(host.session.close())
    close = await host.wire.read_method("session/close")
    if version == 1:
        host.end(request, "cancelled")
    host.answer(close, {})
    await asyncio.wait_for(closing, PATIENCE)
    assert await run.end() == "cancelled"
    assert host.connection.sessions == {}
    host.say("late")
    await settle()
    assert agent_text(host.session) == "x"


async def test_field_bug_93_lists_that_the_schema_requires_are_always_sent(version: int) -> None:
    host = await Host.begin(version)
    opening = asyncio.create_task(host.connection.new_session("relative/../dir"))
    request = await host.wire.read_method("session/new")
    assert request["params"]["mcpServers"] == []
    assert request["params"]["cwd"].startswith("/")
    host.answer(request, {"sessionId": "N"})
    await asyncio.wait_for(opening, PATIENCE)
