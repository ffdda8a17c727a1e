"""Ways to log in as each client is told of them, and the error that asks for one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pytest
from agent_kit import Ended, Scripted, Talk

from duologue.agent import Session, Turn
from duologue.protocol.base import Unknown
from duologue.protocol.common.auth import AuthEnvVar
from duologue.protocol.common.terminal import EnvVariable
from duologue.protocol.v2.auth import AgentAuthMethod, AuthMethod, EnvVarAuthMethod, TerminalAuthMethod

LOGIN = {1: ("authenticate", "logout"), 2: ("auth/login", "auth/logout")}
TERMINAL: dict[int, dict[str, Any]] = {1: {"auth": {"terminal": True}}, 2: {"auth": {"terminal": {}}}}
BY_META = {"_meta": {"terminal-auth": True}}


class Closed(Scripted):
    """Works for nobody who has not logged in."""

    ways: Sequence[AuthMethod] = (
        AgentAuthMethod(method_id="browser", name="Browser"),
        EnvVarAuthMethod(method_id="key", name="Key", vars=[AuthEnvVar(name="KEY")], link="https://example.org/keys"),
        TerminalAuthMethod(
            method_id="term",
            name="Terminal",
            description="Asks in the terminal.",
            args=["login", "--for me"],
            env=[EnvVariable(name="ASK", value="1")],
        ),
    )
    logged_in = False

    def command(self) -> Sequence[str]:
        return ("/bin/agent", "serve")

    def auth_methods(self) -> Sequence[AuthMethod]:
        return self.ways

    async def login(self, method_id: str) -> None:
        self.logged_in = True

    async def logout(self) -> None:
        self.logged_in = False

    async def new_session(self, session: Session) -> None:
        if not self.logged_in:
            raise self.auth_required()


async def told(version: int, offering: dict[str, Any], agent: Scripted | None = None) -> list[dict[str, Any]]:
    talk = await Talk.open(agent or Closed(), version)
    result = (await talk.initialize(offering))["result"]
    methods: list[dict[str, Any]] = result["authMethods"]
    return methods


@pytest.mark.req("v1-auth-01", "v1u-auth-01", "v1u-auth-04", "v2-auth-01", "v2u-auth-01", "v2u-auth-02", "v2u-auth-04")
async def test_the_ways_as_a_client_with_a_terminal_is_told_of_them(version: int) -> None:
    id = "id" if version == 1 else "methodId"
    browser, key, terminal = await told(version, TERMINAL[version])
    assert browser == {id: "browser", "name": "Browser", **({} if version == 1 else {"type": "agent"})}
    assert key == {
        id: "key",
        "type": "env_var",
        "name": "Key",
        "vars": [{"name": "KEY"}],
        "link": "https://example.org/keys",
    }
    assert terminal == {
        id: "term",
        "type": "terminal",
        "name": "Terminal",
        "description": "Asks in the terminal.",
        "args": ["login", "--for me"],
        "env": {"ASK": "1"} if version == 1 else [{"name": "ASK", "value": "1"}],
    }


@pytest.mark.req("v1u-auth-01", "v2u-auth-01")
@pytest.mark.parametrize(
    "offering",
    [{}, {"auth": {}}, {"auth": {"terminal": None}}, {"terminal": True}, {"_meta": {"terminal-auth": "yes"}}],
)
async def test_field_bug_167_a_client_without_a_terminal_is_told_what_to_run(
    version: int, offering: dict[str, Any]
) -> None:
    _, key, terminal = await told(version, offering)
    assert terminal.get("type", "agent") == "agent"
    assert "args" not in terminal and "env" not in terminal and "_meta" not in terminal
    run = "ASK=1 /bin/agent serve login '--for me'"
    assert terminal["description"] == f"Asks in the terminal. Run this in a terminal, then log in again: {run}"
    assert key["type"] == "env_var"


@pytest.mark.req("v1u-auth-01", "v2u-auth-01")
@pytest.mark.parametrize("with_terminal", [False, True])
async def test_a_client_that_runs_commands_by_meta_finds_the_whole_command(version: int, with_terminal: bool) -> None:
    *_, terminal = await told(version, {**BY_META, **(TERMINAL[version] if with_terminal else {})})
    run = {"command": "/bin/agent", "args": ["serve", "login", "--for me"], "env": {"ASK": "1"}, "label": "Terminal"}
    assert terminal["_meta"] == {"terminal-auth": run}
    assert (terminal.get("type") == "terminal") is with_terminal


async def test_by_default_the_command_is_the_one_that_runs() -> None:
    assert [*Scripted().command()] == [sys.executable, *sys.orig_argv[1:]]


@pytest.mark.req("v2-auth-08", "v2u-auth-02")
@pytest.mark.parametrize(
    "ways",
    [
        [Unknown({"type": "oauth", "methodId": "x", "name": "X"})],
        [AgentAuthMethod(method_id="x", name="X"), AgentAuthMethod(method_id="x", name="Y")],
        [
            TerminalAuthMethod(
                method_id="x", name="X", env=[EnvVariable(name="A", value="1"), EnvVariable(name="A", value="2")]
            )
        ],
    ],
)
async def test_ways_that_may_not_be_told_are_a_mistake_of_the_author(version: int, ways: list[AuthMethod]) -> None:
    agent = Closed()
    agent.ways = ways
    talk = await Talk.open(agent, version)
    assert (await talk.initialize())["error"]["code"] == -32603


@pytest.mark.req("v2-auth-08")
async def test_a_way_of_ones_own_type_is_told_as_it_is(version: int) -> None:
    agent = Closed()
    agent.ways = [Unknown({"type": "_oauth", "methodId": "x", "name": "X", "scopes": ["a"]})]
    (way,) = await told(version, {}, agent)
    assert (way["type"], way["scopes"], way["id" if version == 1 else "methodId"]) == ("_oauth", ["a"], "x")
    talk = await Talk.begin(agent2 := Closed(), version)
    agent2.ways = agent.ways
    assert (await talk.ask(LOGIN[version][0], {"methodId": "x"}))["result"] == {}


@pytest.mark.req(*("v1-auth-04", "v1-auth-06", "v1-auth-08", "v2-auth-02", "v2-auth-05", "v2-auth-06", "all-errors-01"))
async def test_a_login_opens_and_a_logout_closes(version: int) -> None:
    talk = await Talk.begin(Closed(), version, offering=TERMINAL[version])
    login, logout = LOGIN[version]
    refused = (await talk.ask("session/new", {"cwd": "/", "mcpServers": []}))["error"]
    assert (refused["code"], refused["message"]) == (-32000, "Log in first")
    ids = [way["id" if version == 1 else "methodId"] for way in refused["data"]["authMethods"]]
    assert ids == ["browser", "key", "term"]
    assert (await talk.ask(login, {"methodId": "key"}))["result"] == {}
    assert await talk.turn(await talk.new(), "hello") == Ended("end_turn")
    assert (await talk.ask(logout, {}))["result"] == {}
    assert (await talk.ask("session/new", {"cwd": "/", "mcpServers": []}))["error"]["code"] == -32000


@pytest.mark.req("all-errors-01")
async def test_a_turn_may_ask_for_a_login(version: int) -> None:
    async def go(turn: Turn) -> None:
        raise turn.session.connection.agent.auth_required("The key has run out")

    agent = Closed(go=go)
    agent.logged_in = True
    talk = await Talk.begin(agent, version)
    error = (await talk.turn(await talk.new(), "go")).error
    assert error is not None
    assert (error["code"], error["message"]) == (-32000, "The key has run out")
    assert error["data"]["authMethods"][0]["id" if version == 1 else "methodId"] == "browser"


@pytest.mark.req("v1-auth-05")
async def test_a_way_that_was_not_told_is_refused(version: int) -> None:
    agent = Closed()
    talk = await Talk.begin(agent, version)
    for params in ({"methodId": "random"}, {"methodId": ""}, {}, {"methodId": 5}):
        assert (await talk.ask(LOGIN[version][0], params))["error"]["code"] == -32602
    assert not agent.logged_in


@pytest.mark.req("v2-auth-02", "v2-auth-07", "all-errors-07")
async def test_without_an_override_a_logout_is_announced_to_nobody_and_does_nothing(version: int) -> None:
    class Forever(Scripted):
        def auth_methods(self) -> Sequence[AuthMethod]:
            return (AgentAuthMethod(method_id="x", name="X"),)

    talk = await Talk.open(Forever(), version)
    result = (await talk.initialize())["result"]
    answer = await talk.ask(LOGIN[version][1], {})
    if version == 1:
        assert "logout" not in result["agentCapabilities"].get("auth", {})
        assert answer["error"]["code"] == -32601
    else:
        # Whoever has a way to log in serves it there.
        assert answer["result"] == {}
