"""Reopening a session that is open here: one object, whose turns go on and whose history comes once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from client_kit import Host, Run, agent_text, begun

from duologue.client import Client, Session
from duologue.jsonrpc.errors import RpcError
from duologue.protocol.changes.memory import ClientExtras
from duologue.protocol.common import table as common
from duologue.protocol.v2 import table as v2
from duologue.protocol.version import V1, V2
from wire import PATIENCE, settle, until


async def reopen(host: Host, **options: Any) -> tuple[asyncio.Task[Session], dict[str, Any]]:
    task = asyncio.create_task(host.connection.resume_session("S", "/tmp", **options))
    replay = options.get("replay", True)
    return task, await host.wire.read_method("session/load" if host.version == 1 and replay else "session/resume")


@pytest.mark.parametrize("replay", [True, False])
async def test_a_turn_outlasts_the_reopening_of_its_session(version: int, replay: bool) -> None:
    host, run, prompt = await begun(version)
    task, request = await reopen(host, replay=replay)
    if replay:
        host.say("said before x")
    host.answer(request, {})
    assert await asyncio.wait_for(task, PATIENCE) is host.session
    host.say(" and more")
    host.end(prompt)
    assert await run.end() == "end_turn"
    # What was replayed is in the transcript alone.
    assert run.said == "x and more"
    assert agent_text(host.session) == ("said before x and more" if replay else "x and more")
    assert host.connection.sessions == {"S": host.session}


async def test_a_turn_that_ends_during_a_replay_has_ended(version: int) -> None:
    host, run, prompt = await begun(version)
    task, request = await reopen(host)
    host.say("said before x")
    host.end(prompt)
    assert await run.end() == "end_turn"
    host.answer(request, {})
    await asyncio.wait_for(task, PATIENCE)
    assert agent_text(host.session) == "said before x"


async def test_a_reopening_that_fails_leaves_turn_and_transcript_as_they_were(version: int) -> None:
    host, run, prompt = await begun(version)
    task, request = await reopen(host)
    host.say("half of it")
    host.refuse(request)
    with pytest.raises(RpcError):
        await asyncio.wait_for(task, PATIENCE)
    host.say(" and more")
    host.end(prompt)
    assert await run.end() == "end_turn"
    assert agent_text(host.session) == run.said == "x and more"


def calling(host: Host, id: str) -> None:
    """The agent tells of a call that it has begun."""
    kind = "tool_call" if host.version == 1 else "tool_call_update"
    host.send(host.update({"sessionUpdate": kind, "toolCallId": id, "title": id, "status": "in_progress"}))


async def second_turn(version: int) -> tuple[Host, Run, dict[str, Any]]:
    """A turn that runs with the call `c`, behind one that left the call `old` open."""
    host = await Host.begin(version)
    first, prompt = await host.prompt()
    host.accept(prompt)
    calling(host, "old")
    host.end(prompt)
    await first.end()
    run, prompt = await host.prompt()
    host.accept(prompt)
    calling(host, "c")
    await until(lambda: "c" in host.session.transcript.tool_calls)
    return host, run, prompt


def statuses(session: Session) -> dict[str, str]:
    return {id: str(call.status) for id, call in session.transcript.tool_calls.items()}


async def test_a_cancel_after_a_replay_finds_the_calls_of_the_turn_that_runs(version: int) -> None:
    """The new transcript is shorter than the old one was when the turn began."""
    host, run, prompt = await second_turn(version)
    task, request = await reopen(host)
    calling(host, "c")
    host.answer(request, {})
    await asyncio.wait_for(task, PATIENCE)
    await run.turn.cancel()
    assert statuses(host.session) == {"c": "cancelled"}
    host.end(prompt, "cancelled")
    assert await run.end() == "cancelled"


async def test_a_cancel_after_a_replay_that_failed_leaves_earlier_turns_alone(version: int) -> None:
    host, run, prompt = await second_turn(version)
    task, request = await reopen(host)
    host.refuse(request)
    with pytest.raises(RpcError):
        await asyncio.wait_for(task, PATIENCE)
    await run.turn.cancel()
    assert statuses(host.session) == {"old": "in_progress", "c": "cancelled"}
    host.end(prompt, "cancelled")
    await run.end()


async def test_directories_are_named_again(version: int) -> None:
    host = await Host.begin(version)
    task, request = await reopen(host, additional_directories=["/tmp/a", "b"])
    first, second = request["params"]["additionalDirectories"]
    assert first == "/tmp/a"
    assert second.startswith("/") and second.endswith("/b")
    host.answer(request, {})
    await asyncio.wait_for(task, PATIENCE)


# --- options ----------------------------------------------------------------------------------------------------------


def option(version: int, value: str) -> dict[str, Any]:
    values = [{"value": name, "name": name} for name in ("a", "b", "c")]
    name = {"id": "model"} if version == 1 else {"configId": "model"}
    return {**name, "name": "Model", "type": "select", "currentValue": value, "options": values}


def current(session: Session) -> list[Any]:
    assert session.config_options is session.transcript.config_options
    return [each.current_value for each in session.config_options]  # type: ignore[union-attr]


async def test_the_options_of_a_session_and_of_its_transcript_are_the_same(version: int) -> None:
    host = await Host.begin(version)
    opening = asyncio.create_task(host.connection.new_session("/tmp"))
    request = await host.wire.read_method("session/new")
    host.answer(request, {"sessionId": "N", "configOptions": [option(version, "a")]})
    session = await asyncio.wait_for(opening, PATIENCE)
    assert current(session) == ["a"]
    setting = asyncio.create_task(session.set_config_option("model", "b"))
    request = await host.wire.read_method("session/set_config_option")
    host.answer(request, {"configOptions": [option(version, "b")]})
    assert await asyncio.wait_for(setting, PATIENCE) is session.config_options
    assert current(session) == ["b"]
    told = {"sessionUpdate": "config_option_update", "configOptions": [option(version, "c")]}
    host.send(host.update(told, "N"))
    await settle()
    assert current(session) == ["c"]
    task = asyncio.create_task(host.connection.resume_session("N", "/tmp"))
    request = await host.wire.read_method("session/load" if version == 1 else "session/resume")
    host.answer(request, {"configOptions": [option(version, "a")]})
    await asyncio.wait_for(task, PATIENCE)
    assert current(session) == ["a"]


# --- what is offered --------------------------------------------------------------------------------------------------


async def test_a_client_may_ask_what_the_agent_answers(version: int) -> None:
    host = await Host.begin(version)
    agent = host.connection
    assert agent.offers(v2.SESSION_PROMPT) and agent.offers(v2.SESSION_RESUME) and agent.offers(v2.SESSION_LIST)
    assert not agent.offers(v2.SESSION_DELETE)
    assert not agent.offers(v2.AUTH_LOGOUT) and not agent.offers(v2.AUTH_LOGIN)
    assert not agent.offers(common.NES_START)


async def test_what_an_agent_of_version_1_leaves_out_is_not_offered() -> None:
    host = Host(1, Client(), None)
    await host.wire.open()
    starting = asyncio.create_task(host.connection.start(host.wire.far, V1))
    request = await host.wire.read()
    capabilities = {"loadSession": True, "sessionCapabilities": {"delete": {}}}
    methods = [{"id": "key", "name": "Key"}]
    host.answer(request, {"protocolVersion": 1, "agentCapabilities": capabilities, "authMethods": methods})
    await asyncio.wait_for(starting, PATIENCE)
    agent = host.connection
    assert agent.offers(v2.SESSION_RESUME) and agent.offers(v2.SESSION_DELETE) and agent.offers(v2.AUTH_LOGIN)
    assert not agent.offers(v2.SESSION_LIST) and not agent.offers(v2.SESSION_CLOSE)
    assert not agent.offers(v2.AUTH_LOGOUT)


class Editor(Client):
    def v1_capabilities(self) -> ClientExtras:
        return ClientExtras(read_text_file=True, terminal=True)


async def test_what_only_version_1_says_of_a_client_is_the_authors(version: int) -> None:
    host = Host(version, Editor(), None)
    await host.wire.open()
    starting = asyncio.create_task(host.connection.start(host.wire.far, V1 if version == 1 else V2))
    request = await host.wire.read()
    starting.cancel()
    if version == 2:
        assert "fs" not in request["params"]["capabilities"]
        return
    offered = request["params"]["clientCapabilities"]
    assert offered["fs"] == {"readTextFile": True, "writeTextFile": False}
    assert offered["terminal"] is True
