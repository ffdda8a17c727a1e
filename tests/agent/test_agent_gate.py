"""What an agent declares or overrides is announced and served; what it does not is not found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Agent, Session
from duologue.agent.agent import Agent as Base
from duologue.protocol.changes.memory import AgentExtras
from duologue.protocol.common.session import ListSessionsRequest, ListSessionsResponse
from duologue.protocol.method import Request, Side
from duologue.protocol.version import V1, V2

SESSION = {"sessionId": "old", "cwd": "/", "mcpServers": []}


class Full(Scripted):
    """Overrides all that concerns sessions."""

    additional_directories = True

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        pass

    async def fork_session(self, session: Session, source_id: str) -> None:
        pass

    async def delete_session(self, session_id: str) -> None:
        pass

    async def list_sessions(self, request: ListSessionsRequest) -> ListSessionsResponse:
        return ListSessionsResponse(sessions=[])


class Less(Full):
    def v1_capabilities(self) -> AgentExtras:
        return AgentExtras(load=False, list=False, resume=False, close=False, logout=False)


async def capabilities(talk: Talk) -> dict[str, Any]:
    result = (await talk.initialize())["result"]
    found: dict[str, Any] = result["agentCapabilities" if talk.version == 1 else "capabilities"]
    return found


async def code(talk: Talk, method: str, params: Any = SESSION) -> int | None:
    """The code of the error that answers a request; None for a result."""
    found: int | None = (await talk.ask(method, params)).get("error", {}).get("code")
    return found


@pytest.mark.req("all-errors-07", "all-initialize-02", "v1-initialize-06")
async def test_what_is_overridden_is_announced_and_served(version: int) -> None:
    talk = await Talk.open(Full(), version)
    announced = await capabilities(talk)
    session = announced["sessionCapabilities"] if version == 1 else announced["session"]
    assert session.keys() >= {"delete", "fork", "additionalDirectories"}
    for method in ("session/resume", "session/list", "session/fork", "session/delete", "session/close"):
        assert await code(talk, method) is None or method == "session/close", method
    if version == 1:
        assert announced["loadSession"] is True
        assert await code(talk, "session/load") is None


@pytest.mark.req("all-errors-07", "all-initialize-02", "v1-initialize-06")
@pytest.mark.parametrize("params", [SESSION, {}, None, {"sessionId": 5}])
async def test_what_is_not_overridden_is_not_found_whatever_is_asked(version: int, params: Any) -> None:
    talk = await Talk.open(Scripted(), version)
    announced = await capabilities(talk)
    session = announced["sessionCapabilities"] if version == 1 else announced["session"]
    assert not session.keys() & {"delete", "fork", "additionalDirectories", "resume"}
    missing = ["session/delete", "session/fork"] + ["session/load", "session/resume", "logout"] * (version == 1)
    for method in missing:
        assert await code(talk, method, params) == -32601, method


@pytest.mark.req("all-errors-07")
async def test_what_the_author_takes_back_for_version_1_is_not_found_there() -> None:
    talk = await Talk.begin(Less(), 1)
    for method in ("session/load", "session/resume", "session/list", "session/close"):
        assert await code(talk, method) == -32601, method
    talk = await Talk.begin(Less(), 2)
    assert await code(talk, "session/list") is None


@pytest.mark.req("all-errors-07", "all-jsonrpc-07")
async def test_every_method_that_nothing_opens_is_not_found(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    spoken = V1 if version == 1 else V2
    optional = ("session/delete", "session/fork", "providers/", "nes/")
    for key, method in spoken.methods.items():
        if key.receiver is Side.AGENT and isinstance(method, Request) and key.name.startswith(optional):
            assert await code(talk, key.name, {}) == -32601, key.name


@pytest.mark.req("v1-versioning-01", "v2-versioning-04", "all-versioning-05", "all-jsonrpc-21")
async def test_other_names_are_not_found(version: int) -> None:
    talk = await Talk.begin(Full(), version)
    made_up = [
        *("initialized", "session/release", "session/abort", "session/set_environment", "terminal/start"),
        *("terminal/wait", "agent/permissions/list", "workspace/diagnostics", "session/set_model"),
    ]
    others = ["auth/login", "auth/logout"] if version == 1 else ["authenticate", "logout", "session/load"]
    others += ["session/set_mode"] if version == 2 else []
    for method in (*made_up, *others, "fs/read_text_file", "fs/write_text_file", "terminal/create", "session/update"):
        assert await code(talk, method) == -32601, method
        talk.send({"method": method, "params": {}})
    await talk.wire.silence()


@pytest.mark.req("v2-initialize-07")
async def test_an_agent_that_takes_no_prompts_has_no_sessions_on_version_2() -> None:
    talk = await Talk.open(Agent(), 2)
    assert "session" not in await capabilities(talk)
    for method in ("session/new", "session/list", "session/resume", "session/close", "session/prompt"):
        assert await code(talk, method) == -32601


@pytest.mark.req("v1-initialize-13", "v2-initialize-08")
async def test_what_every_agent_serves_needs_no_word(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    session = await talk.new()
    assert await talk.turn(session, "hello") == Ended("end_turn")
    assert talk.said() == "echo hello"
    if version == 2:
        assert await code(talk, "session/list", {}) is None
        # Served, with no such session in the store.
        assert await code(talk, "session/resume") == -32002
        assert await code(talk, "session/close", {"sessionId": session}) is None


@pytest.mark.req("all-session-27", "all-session-25")
async def test_further_directories_are_refused_by_an_agent_that_takes_none(version: int, tmp_path: Path) -> None:
    params = {"cwd": "/", "mcpServers": [], "additionalDirectories": [str(tmp_path)]}
    talk = await Talk.begin(Scripted(), version)
    assert await code(talk, "session/new", params) == -32602
    assert await code(talk, "session/new", {**params, "additionalDirectories": []}) is None
    talk = await Talk.begin(Full(), version)
    assert await code(talk, "session/new", params) is None
    for wrong in ("", "relative"):
        assert await code(talk, "session/new", {**params, "additionalDirectories": [str(tmp_path), wrong]}) == -32602


@pytest.mark.req("all-versioning-02", "all-versioning-03", "v2-versioning-01")
@pytest.mark.parametrize(("proposed", "answered"), [(0, 2), (1, 1), (2, 2), (3, 2), (65535, 2)])
async def test_each_proposal_gets_the_layout_of_its_answer(proposed: int, answered: int) -> None:
    talk = await Talk.open(Full(), answered)
    params = {"protocolVersion": proposed, "info": {"name": "c", "version": "1", "title": None}}
    result = (await talk.ask("initialize", params))["result"]
    assert result["protocolVersion"] == answered
    assert ("agentCapabilities" in result) is (answered == 1)
    assert ("capabilities" in result) is (answered == 2)
    assert await code(talk, "session/load" if answered == 2 else "auth/login") == -32601
    assert await talk.turn(await talk.new(), "hello") == Ended("end_turn")


def test_overriding_is_what_counts() -> None:
    assert Full().announces("fork_session") and Full().announces("prompt")
    assert not Scripted().announces("fork_session") and not Base().announces("prompt")
