"""`initialize` on the agent's side: the version that is answered, the shapes of either version, and once only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import AgentConnection, Session
from duologue.protocol.changes.memory import AgentExtras
from duologue.protocol.common import table as common
from duologue.protocol.v1 import table as v1
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.auth import AgentAuthMethod, AuthMethod
from duologue.protocol.v2.capabilities import McpCapabilities, PromptCapabilities

INFO = {"name": "c", "version": "1"}


class Rich(Scripted):
    """Offers all there is to offer."""

    name, title, version = "rich", "Rich Agent", "1.2"

    def prompt_capabilities(self) -> PromptCapabilities:
        from duologue.protocol.v2.capabilities import (
            PromptAudioCapabilities,
            PromptEmbeddedContextCapabilities,
            PromptImageCapabilities,
        )

        return PromptCapabilities(
            image=PromptImageCapabilities(),
            audio=PromptAudioCapabilities(),
            embedded_context=PromptEmbeddedContextCapabilities(),
        )

    def mcp_capabilities(self) -> McpCapabilities:
        from duologue.protocol.v2.capabilities import McpHttpCapabilities, McpStdioCapabilities

        return McpCapabilities(stdio=McpStdioCapabilities(), http=McpHttpCapabilities())

    def auth_methods(self) -> Sequence[AuthMethod]:
        return (AgentAuthMethod(method_id="key", name="API key"),)

    async def resume_session(self, session: Session, *, replay: bool) -> None:
        pass

    async def login(self, method_id: str) -> None:
        self.log.append(f"login {method_id}")

    async def logout(self) -> None:
        self.log.append("logout")


async def initialize(talk: Talk, version: Any, **more: Any) -> dict[str, Any]:
    return await talk.ask("initialize", {"protocolVersion": version, **more})


# --- which version ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("proposed", "answered"), [(1, 1), (2, 2), (0, 2), (3, 2), (65535, 2)])
async def test_the_proposed_version_or_the_newest_is_answered(proposed: int, answered: int) -> None:
    talk = await Talk.open(Scripted(), 2)
    answer = await initialize(talk, proposed, info=INFO)
    assert answer["result"]["protocolVersion"] == answered


@pytest.mark.parametrize("proposed", [0, 3, 65535])
async def test_field_bug_96_a_client_of_another_version_is_told_ours_whatever_it_sends(proposed: int) -> None:
    talk = await Talk.open(Scripted(), 2)
    answer = await initialize(talk, proposed, info=5, capabilities="all", clientInfo=[])
    assert answer["result"]["protocolVersion"] == 2


@pytest.mark.parametrize("proposed", ["1", None, 1.0, 1.5, -1, 65536, 2**64, True, False, [], {}, "latest"])
async def test_field_bug_96_a_version_that_is_no_number_of_16_bits_is_invalid_and_may_be_corrected(
    proposed: Any,
) -> None:
    talk = await Talk.open(Scripted(), 2)
    refused = await initialize(talk, proposed, info=INFO)
    assert refused["error"]["code"] == -32602
    assert refused["error"]["data"] == {"path": "$.params.protocolVersion"}
    assert (await initialize(talk, 2, info=INFO))["result"]["protocolVersion"] == 2


async def test_params_of_a_version_of_ours_that_do_not_fit_are_refused_with_the_place() -> None:
    talk = await Talk.open(Scripted(), 2)
    refused = await initialize(talk, 2, info={"name": 5, "version": "1"})
    assert (refused["error"]["code"], refused["error"]["data"]) == (-32602, {"path": "$.params.info.name"})


@pytest.mark.parametrize("params", [{}, {"info": INFO}, None, [], [2]])
async def test_a_version_that_is_missing_is_invalid(params: Any) -> None:
    talk = await Talk.open(Scripted(), 2)
    assert (await talk.ask("initialize", params))["error"]["code"] == -32602
    assert (await initialize(talk, 1))["result"]["protocolVersion"] == 1


async def test_a_version_written_as_a_float_is_invalid() -> None:
    talk = await Talk.open(Scripted(), 1)
    talk.wire.send(b'{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1.0}}\n')
    assert (await talk.answer(7))["error"]["code"] == -32602


@pytest.mark.req("all-initialize-06")
async def test_a_second_initialize_is_refused_and_changes_nothing(version: int) -> None:
    talk = await Talk.begin(Scripted(), version)
    other = 3 - version
    assert (await initialize(talk, other, info=INFO))["error"]["code"] == -32600
    assert (await initialize(talk, version, info=INFO))["error"]["code"] == -32600
    assert await talk.turn(await talk.new(), "hello") == Ended("end_turn")
    assert talk.kinds()[0] == ("agent_message_chunk" if version == 1 else "answer")


async def test_two_initializes_in_one_read_are_one(version: int) -> None:
    talk = await Talk.open(Scripted(), version)
    first = talk.call("initialize", {"protocolVersion": version, "info": INFO})
    second = talk.call("initialize", {"protocolVersion": 3 - version, "info": INFO})
    talk.send(first, second)
    assert (await talk.answer(first["id"]))["result"]["protocolVersion"] == version
    assert (await talk.answer(second["id"]))["error"]["code"] == -32600


@pytest.mark.req("all-initialize-05")
async def test_nothing_is_served_before_initialize() -> None:
    agent = Scripted()
    talk = await Talk.open(agent, 1)
    for method in ("session/new", "session/prompt", "session/load", "authenticate", "no/such"):
        answer = await talk.ask(method, {"cwd": "/", "mcpServers": []})
        assert answer["error"]["code"] == -32600
        assert "initialize" in answer["error"]["message"]
    talk.send({"method": "session/cancel", "params": {"sessionId": "S"}})
    await talk.wire.silence()
    assert talk.connection.sessions == {}


@pytest.mark.req("all-initialize-04")
async def test_a_session_may_be_asked_for_in_the_same_write_as_initialize(version: int) -> None:
    talk = await Talk.open(Scripted(), version)
    first = talk.call("initialize", {"protocolVersion": version, "info": INFO})
    second = talk.call("session/new", {"cwd": "/", "mcpServers": []})
    talk.send(first, second)
    answers = [await talk.read(), await talk.read()]
    assert [answer["id"] for answer in answers] == [first["id"], second["id"]]
    assert "sessionId" in answers[1]["result"]


# --- what is answered -------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-initialize-04", "v1-initialize-05", "v1-initialize-08", "v1-initialize-09", "v1-initialize-10")
async def test_the_shape_of_version_1() -> None:
    talk = await Talk.open(Rich(), 1)
    result = (await initialize(talk, 1, clientCapabilities={}, clientInfo=INFO))["result"]
    assert result["agentInfo"] == {"name": "rich", "version": "1.2", "title": "Rich Agent"}
    assert "info" not in result and "capabilities" not in result
    capabilities = result["agentCapabilities"]
    assert capabilities["promptCapabilities"] == {"image": True, "audio": True, "embeddedContext": True}
    assert capabilities["mcpCapabilities"]["http"] is True
    assert capabilities["loadSession"] is True
    assert capabilities["sessionCapabilities"].keys() >= {"list", "resume", "close"}
    assert all(isinstance(marker, dict) for marker in capabilities["sessionCapabilities"].values())
    assert result["authMethods"] == [{"id": "key", "name": "API key"}]


@pytest.mark.req("v2-initialize-02", "v2-initialize-04", "v2-initialize-06", "v2-initialize-08")
async def test_the_shape_of_version_2() -> None:
    talk = await Talk.open(Rich(), 2)
    result = (await initialize(talk, 2, info=INFO))["result"]
    assert result["info"] == {"name": "rich", "version": "1.2", "title": "Rich Agent"}
    assert not [name for name in result if name.startswith("agent")]
    session = result["capabilities"]["session"]
    assert session["prompt"] == {"image": {}, "audio": {}, "embeddedContext": {}}
    assert session["mcp"] == {"stdio": {}, "http": {}}
    assert isinstance(result["capabilities"]["auth"], dict)
    assert result["authMethods"] == [{"type": "agent", "methodId": "key", "name": "API key"}]


async def test_an_agent_that_offers_nothing_says_so(version: int) -> None:
    talk = await Talk.open(Scripted(), version)
    result = (await talk.initialize())["result"]
    if version == 2:
        assert result["capabilities"]["session"].get("prompt", {}) == {}
        assert "auth" not in result["capabilities"]
        assert result.get("authMethods", []) == []
    else:
        assert not any(result["agentCapabilities"].get("promptCapabilities", {}).values())


@pytest.mark.req("v1-initialize-08")
async def test_reopening_is_offered_to_version_1_by_an_agent_that_has_it() -> None:
    talk = await Talk.open(Scripted(), 1)
    capabilities = (await talk.initialize())["result"]["agentCapabilities"]
    assert capabilities["loadSession"] is False
    assert "resume" not in capabilities["sessionCapabilities"]
    assert capabilities["sessionCapabilities"].keys() >= {"list", "close"}


async def test_what_only_version_1_says_is_the_authors(version: int) -> None:
    class Narrow(Rich):
        def v1_capabilities(self) -> AgentExtras:
            return AgentExtras(sse=True, resume=False, list=False, logout=False)

    talk = await Talk.open(Narrow(), version)
    result = (await talk.initialize())["result"]
    if version == 2:
        assert "sse" not in str(result)
        return
    capabilities = result["agentCapabilities"]
    assert capabilities["mcpCapabilities"]["sse"] is True
    assert capabilities["loadSession"] is True
    assert capabilities["sessionCapabilities"].keys() == {"close"}
    assert "logout" not in capabilities["auth"]


@pytest.mark.req("v2-initialize-03")
async def test_on_version_2_info_is_required() -> None:
    talk = await Talk.open(Scripted(), 2)
    assert (await initialize(talk, 2))["error"]["code"] == -32602
    assert (await initialize(talk, 2, info={"name": "c"}))["error"]["code"] == -32602
    assert (await initialize(talk, 2, info=INFO))["result"]["protocolVersion"] == 2


@pytest.mark.req("v1-initialize-02", "v1-initialize-07", "v2-initialize-05", "all-initialize-03")
@pytest.mark.parametrize("wrong", [None, [], "all", 5, {"fs": 7}, {"unknown": {"x": 1}}])
async def test_capabilities_that_do_not_fit_count_as_none(version: int, wrong: Any) -> None:
    talk = await Talk.open(Scripted(), version)
    member = "clientCapabilities" if version == 1 else "capabilities"
    result = (await initialize(talk, version, info=INFO, **{member: wrong}))["result"]
    assert result["protocolVersion"] == version


async def test_the_author_sees_who_the_client_is(version: int) -> None:
    agent = Scripted()
    talk = await Talk.open(agent, version)
    await initialize(talk, version, **{"info" if version == 2 else "clientInfo": {"name": "editor", "version": "9"}})
    assert agent.connection.client_info is not None
    assert (agent.connection.client_info.name, agent.connection.client_info.version) == ("editor", "9")


async def test_the_author_may_ask_what_the_client_answers(version: int) -> None:
    agent = Scripted()
    talk = await Talk.open(agent, version)
    connection = talk.connection
    assert not connection.offers(v1.FS_READ_TEXT_FILE)
    offered = {"fs": {"readTextFile": True, "writeTextFile": False}, "terminal": True, "elicitation": {"form": {}}}
    await initialize(talk, version, info=INFO, capabilities=offered, clientCapabilities=offered)
    assert connection.offers(v1.FS_READ_TEXT_FILE) is (version == 1)
    assert not connection.offers(v1.FS_WRITE_TEXT_FILE)
    assert connection.offers(v1.TERMINAL_KILL) is (version == 1)
    assert connection.offers(v2.SESSION_REQUEST_PERMISSION)
    assert connection.offers(common.ELICITATION_CREATE)
    assert not connection.offers(common.ELICITATION_COMPLETE)


async def test_an_agent_serves_one_connection() -> None:
    agent = Scripted()
    AgentConnection(agent)
    with pytest.raises(RuntimeError, match="Scripted serves a connection already"):
        AgentConnection(agent)


# --- login ------------------------------------------------------------------------------------------------------------

LOGIN = {1: ("authenticate", "logout"), 2: ("auth/login", "auth/logout")}


async def test_login_and_logout(version: int) -> None:
    agent = Rich()
    talk = await Talk.begin(agent, version)
    login, logout = LOGIN[version]
    assert (await talk.ask(login, {"methodId": "key"}))["result"] == {}
    refused = (await talk.ask(login, {"methodId": "nope"}))["error"]
    assert (refused["code"], refused["data"]) == (-32602, {"methodId": "nope", "path": "$.params.methodId"})
    assert (await talk.ask(logout, {}))["result"] == {}
    assert agent.log == ["login key", "logout"]


async def test_a_login_is_served_as_long_as_there_is_a_way_to_log_in(version: int) -> None:
    class Later(Rich):
        ways: Sequence[AuthMethod] = ()

        def auth_methods(self) -> Sequence[AuthMethod]:
            return self.ways

    agent = Later()
    talk = await Talk.begin(agent, version)
    for method in LOGIN[version]:
        assert (await talk.ask(method, {"methodId": "key"}))["error"]["code"] == -32601
    agent.ways = (AgentAuthMethod(method_id="key", name="API key"),)
    login, logout = LOGIN[version]
    assert (await talk.ask(login, {"methodId": "key"}))["result"] == {}
    if version == 1:
        # Version 1 has a word for it, which the handshake did not say.
        assert (await talk.ask(logout, {}))["error"]["code"] == -32601
    else:
        assert (await talk.ask(logout, {}))["result"] == {}
    assert agent.log == ["login key", "logout"][:version]


@pytest.mark.parametrize(
    "method", ["auth/login", "auth/logout", "session/set_mode", "session/fork", "fs/read_text_file"]
)
async def test_a_method_that_is_not_served_is_not_found(version: int, method: str) -> None:
    talk = await Talk.begin(Scripted(), version)
    session = await talk.new()
    params = {"sessionId": session, "methodId": "key", "modeId": "m", "cwd": "/", "path": "/a"}
    assert (await talk.ask(method, params))["error"]["code"] in (-32601, -32602)
    assert await talk.turn(session, "on") == Ended("end_turn")


async def test_names_of_the_other_version_are_not_found() -> None:
    for version, name in ((1, "auth/login"), (2, "authenticate"), (2, "session/load")):
        agent = Rich()
        talk = await Talk.begin(agent, version)
        assert (await talk.ask(name, {"methodId": "key"}))["error"]["code"] == -32601
        assert agent.log == []


async def test_a_crash_of_the_author_in_initialize_is_answered(version: int) -> None:
    class Broken(Scripted):
        def mcp_capabilities(self) -> McpCapabilities | None:
            raise OSError("no settings")

    talk = await Talk.open(Broken(), version)
    assert (await talk.initialize())["error"]["code"] == -32603
