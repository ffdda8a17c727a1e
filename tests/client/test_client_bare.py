"""Agents that leave out all they may, refuse, or know better: the agent's word is what the client shows."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from client_kit import Host

from duologue.jsonrpc.errors import RpcError
from wire import PATIENCE, settle


def mode(current: str) -> dict[str, Any]:
    offered = [{"value": value, "name": value} for value in ("ask", "bypass")]
    option = {"id": "mode", "configId": "mode", "name": "Mode", "type": "select", "category": "mode"}
    return {**option, "currentValue": current, "options": offered}


def current(host: Host) -> list[Any]:
    return [option.current_value for option in host.session.config_options]  # type: ignore[union-attr]


async def test_field_bug_126_an_agent_may_leave_out_all_that_is_optional(version: int) -> None:
    bare: dict[str, Any] = {"agentCapabilities": {}} if version == 1 else {"capabilities": {"session": {}}}
    host = await Host.begin(version, authMethods=[], **bare)
    agent, session = host.connection, host.session
    assert (list(agent.auth_methods), list(session.config_options)) == ([], [])
    assert agent.info is not None and agent.info.name == ("unknown" if version == 1 else "a")
    with pytest.raises(ValueError, match="offers no modes"):
        await session.set_mode("ask")
    run, request = await host.prompt()
    host.accept(request)
    host.say("fine")
    host.end(request)
    assert (await run.end(), run.said) == ("end_turn", "fine")


async def test_field_bug_82_the_options_are_what_the_agent_says_they_are(version: int) -> None:
    host = await Host.begin(version)
    host.send(host.update({"sessionUpdate": "config_option_update", "configOptions": [mode("ask")]}))
    await settle()
    setting = asyncio.create_task(host.session.set_mode("bypass"))
    request = await host.wire.read_method("session/set_config_option")
    assert current(host) == ["ask"]
    host.refuse(request, -32602, "not in this folder")
    with pytest.raises(RpcError, match="not in this folder"):
        await asyncio.wait_for(setting, PATIENCE)
    assert current(host) == ["ask"]
    for answered in ("bypass", "ask"):
        setting = asyncio.create_task(host.session.set_mode("bypass"))
        request = await host.wire.read_method("session/set_config_option")
        host.answer(request, {"configOptions": [mode(answered)]})
        await asyncio.wait_for(setting, PATIENCE)
        assert current(host) == [answered]


@pytest.mark.parametrize("code", [-32002, -32001, -32602, -32603])
async def test_field_bug_77_why_a_session_cannot_be_reopened_is_told_and_no_other_is_begun(
    version: int, code: int
) -> None:
    """Which codes mean that a session is gone is for the author to judge, who gets them as they came."""
    host = await Host.begin(version)
    opening = asyncio.create_task(host.connection.resume_session("old", "/tmp"))
    request = await host.wire.read_method("session/load" if version == 1 else "session/resume")
    host.refuse(request, code, "gone", data={"sessionId": "old"})
    with pytest.raises(RpcError) as caught:
        await asyncio.wait_for(opening, PATIENCE)
    assert (caught.value.code, caught.value.message, caught.value.data) == (code, "gone", {"sessionId": "old"})
    assert list(host.connection.sessions) == ["S"]
    await host.wire.silence()
