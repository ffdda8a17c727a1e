"""Logging in: each kind of method, what is repeated afterwards, and what is never sent."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from client_kit import Host

from duologue.client import (
    Client,
    ClientConnection,
    Login,
    LoginFailed,
    NotOffered,
    TerminalLogin,
    connect,
)
from duologue.client.connecting import Protocol
from duologue.jsonrpc.errors import RpcError
from wire import PATIENCE, settle

#: An agent that is open to those who logged in by a request, by a variable, or in a terminal (which makes a file).
#: Each start is written down with its arguments and the variables that count.
AGENT = """
import json, os, sys
argv, home = sys.argv[2:], sys.argv[1]
seen = {name: os.environ[name] for name in ("KEY", "EXTRA", "BASE") if name in os.environ}
with open(home + "/starts", "a") as file:
    file.write(json.dumps([argv, seen]) + "\\n")
if "login" in argv:
    status = int(os.environ.get("EXTRA", "0"))
    if not status:
        open(home + "/file", "w").close()
    sys.exit(status)
open_ = seen.get("KEY") == "right" or os.path.exists(home + "/file")
for line in sys.stdin:
    message = json.loads(line)
    method, params = message["method"], message.get("params", {})
    result, error = {}, None
    if method == "initialize":
        version = params["protocolVersion"]
        name = "id" if version == 1 else "methodId"
        terminal = {"EXTRA": "0"} if version == 1 else [{"name": "EXTRA", "value": "0"}]
        failing = {"EXTRA": "3"} if version == 1 else [{"name": "EXTRA", "value": "3"}]
        variables = [{"name": "KEY"}, {"name": "EXTRA", "optional": True}]
        methods = [
            {"type": "agent", name: "agent", "name": "Agent"},
            {"type": "env_var", name: "key", "name": "Key", "vars": variables},
            {"type": "terminal", name: "terminal", "name": "Terminal", "args": ["login"], "env": terminal},
            {"type": "terminal", name: "failing", "name": "Failing", "args": ["login"], "env": failing},
            {"type": "_future", name: "future", "name": "Future"},
        ]
        result = {"protocolVersion": version, "authMethods": methods}
        if version == 1:
            result["agentCapabilities"] = {"auth": {"logout": {}}, "sessionCapabilities": {"list": {}}}
        else:
            result |= {"info": {"name": "a", "version": "1"}, "capabilities": {"session": {}, "auth": {}}}
    elif method in ("authenticate", "auth/login"):
        if params["methodId"] == "agent":
            open_ = True
    elif method in ("logout", "auth/logout"):
        open_ = False
    elif not open_:
        error = {"code": -32000, "message": "log in first"}
    elif method == "session/new":
        result = {"sessionId": "S"}
    elif method == "session/prompt":
        result = {"stopReason": "end_turn"} if version == 1 else {}
    elif method == "session/list":
        result = {"sessions": []}
    if "id" in message:
        answer = {"error": error} if error else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
    if method == "session/prompt" and version == 2 and not error:
        idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
        params = {"sessionId": "S", "update": idle}
        print(json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}), flush=True)
"""


class LogsIn(Client):
    """Logs in as it is told to, and counts how often it was asked."""

    def __init__(self, *logins: Login | None) -> None:
        self.logins = list(logins)
        self.ran: list[TerminalLogin] = []

    async def log_in(self, agent: ClientConnection) -> Login | None:
        return self.logins.pop(0)

    async def run_in_terminal(self, login: TerminalLogin) -> int:
        self.ran.append(login)
        process = await asyncio.create_subprocess_exec(*login.command, env=dict(login.variables))
        return await process.wait()


class Place:
    """A folder with the agent's program, and what was written down there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sent: list[str] = []
        (folder / "agent.py").write_text(AGENT)
        self.command = [sys.executable, str(folder / "agent.py"), str(folder)]

    @asynccontextmanager
    async def connected(self, version: Protocol, client: Client) -> AsyncIterator[ClientConnection]:
        def trace(direction: str, line: bytes) -> None:
            if direction == "out":
                self.sent.append(json.loads(line).get("method"))

        async with connect(self.command, client, protocol=version, env={"BASE": "base"}, trace=trace) as agent:
            yield agent

    @property
    def starts(self) -> Sequence[Any]:
        return [json.loads(line) for line in (self.folder / "starts").read_text().splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


VERSIONS: list[Protocol] = [1, 2]
both = pytest.mark.parametrize("protocol", VERSIONS)


# --- what is asked ----------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-auth-02", "v1-auth-03", "all-auth-02")
@both
async def test_field_bug_165_a_blocked_call_is_made_again_after_the_login(place: Place, protocol: Protocol) -> None:
    client = LogsIn(Login("agent"))
    async with place.connected(protocol, client) as agent:
        assert (await agent.new_session(place.folder)).id == "S"
        assert client.logins == []
    login = "authenticate" if protocol == 1 else "auth/login"
    assert place.sent == ["initialize", "session/new", login, "session/new"]


@both
async def test_calls_that_are_blocked_together_log_in_once(place: Place, protocol: Protocol) -> None:
    client = LogsIn(Login("agent"))
    async with place.connected(protocol, client) as agent:
        session, page = await asyncio.gather(agent.new_session(place.folder), agent.list_sessions())
        assert (session.id, page.sessions) == ("S", [])
    assert client.logins == []


@both
async def test_field_bug_165_a_second_refusal_is_a_failure_and_no_loop(place: Place, protocol: Protocol) -> None:
    client = LogsIn(Login("key", {"KEY": "wrong"}), Login("agent"))
    async with place.connected(protocol, client) as agent:
        with pytest.raises(RpcError, match="log in first"):
            await agent.new_session(place.folder)
    assert len(client.logins) == 1


@both
async def test_a_client_that_gives_up_gets_the_refusal(place: Place, protocol: Protocol) -> None:
    for client in (LogsIn(None), Client()):
        async with place.connected(protocol, client) as agent:
            with pytest.raises(RpcError) as caught:
                await agent.new_session(place.folder)
            assert caught.value.code == -32000
    assert "authenticate" not in place.sent and "auth/login" not in place.sent


@pytest.mark.req("all-auth-01")
@both
async def test_after_a_logout_the_client_logs_in_anew(place: Place, protocol: Protocol) -> None:
    client = LogsIn(Login("agent"), Login("agent"), None)
    async with place.connected(protocol, client) as agent:
        session = await agent.new_session(place.folder)
        await agent.logout()
        turn = session.prompt("go")
        assert await asyncio.wait_for(turn.text(), PATIENCE) == ""
        assert turn.stop_reason == "end_turn"
        await agent.logout()
        with pytest.raises(RpcError, match="log in first"):
            await agent.list_sessions()
    assert client.logins == []


# --- variables --------------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-auth-04")
@both
async def test_variables_are_given_to_a_new_start_of_the_agent(place: Place, protocol: Protocol) -> None:
    client = LogsIn(Login("key", {"KEY": "right", "EXTRA": "more"}))
    async with place.connected(protocol, client) as agent:
        first = agent.peer
        assert (await agent.new_session(place.folder)).id == "S"
        assert agent.peer is not first and first.closed_reason is not None
        assert list(agent.sessions) == ["S"]
    base = {"BASE": "base"}
    assert place.starts == [[[], base], [[], {"KEY": "right", "EXTRA": "more", **base}]]
    # Version 2 has no login request for variables; in version 1 the agent is told to read them.
    assert place.sent.count("authenticate") == (1 if protocol == 1 else 0)
    assert "auth/login" not in place.sent


@pytest.mark.parametrize("variables", [{}, {"KEY": ""}, {"EXTRA": "x"}, {"KEY": "x", "PATH": "/evil"}])
async def test_variables_that_are_missing_or_not_asked_for_start_nothing(
    place: Place, variables: dict[str, str]
) -> None:
    async with place.connected(1, Client()) as agent:
        with pytest.raises(ValueError, match="KEY"):
            await agent.login("key", variables)
        with pytest.raises(ValueError, match="no variables"):
            await agent.login("agent", {"KEY": "x"})
    assert len(place.starts) == 1
    assert place.sent == ["initialize"]


def test_a_login_shows_no_values() -> None:
    assert "hunter2" not in repr(Login("key", {"KEY": "hunter2"}))
    assert "hunter2" not in repr(TerminalLogin(["agent"], {"KEY": "hunter2"}))


# --- a terminal -------------------------------------------------------------------------------------------------------


@pytest.mark.req("allu-auth-01", "allu-auth-02", "v1u-auth-03", "v2u-auth-03")
@both
async def test_a_login_in_a_terminal_runs_the_agents_own_command_and_starts_it_anew(
    place: Place, protocol: Protocol
) -> None:
    client = LogsIn(Login("terminal"))
    async with place.connected(protocol, client) as agent:
        assert (await agent.new_session(place.folder)).id == "S"
    (ran,) = client.ran
    assert (ran.command, ran.variables) == ([*place.command, "login"], {"EXTRA": "0"})
    assert [argv for argv, _ in place.starts] == [[], ["login"], []]
    assert place.sent == ["initialize", "session/new", "initialize", "session/new"]


@pytest.mark.req("allu-auth-01")
@both
async def test_a_login_in_a_terminal_that_fails_is_none(place: Place, protocol: Protocol) -> None:
    async with place.connected(protocol, LogsIn(Login("failing"))) as agent:
        with pytest.raises(LoginFailed, match="status 3"):
            await agent.new_session(place.folder)
        await asyncio.wait_for(agent.logout(), PATIENCE)
    assert place.sent.count("initialize") == 1


@pytest.mark.req("v1u-auth-02")
async def test_a_login_in_a_terminal_is_announced_only_where_it_can_be_done(version: int, place: Place) -> None:
    def told(introduced: dict[str, Any]) -> Any:
        said = introduced["clientCapabilities" if version == 1 else "capabilities"]
        return said.get("auth", {}).get("terminal"), said.get("_meta", {}).get("terminal-auth")

    # A connection over a transport of its own: nobody knows a command.
    host = await Host.begin(version, LogsIn())
    assert told(host.introduced) in ((None, None), (False, None))
    seen: list[dict[str, Any]] = []
    for client in (LogsIn(), Client()):
        async with connect(
            place.command,
            client,
            protocol=VERSIONS[version - 1],
            trace=lambda direction, line: seen.append(json.loads(line)) if direction == "out" else None,
        ):
            pass
    introductions = [message["params"] for message in seen if message.get("method") == "initialize"]
    assert told(introductions[0]) == (True if version == 1 else {}, True)
    assert told(introductions[1]) in ((None, None), (False, None))


async def test_a_command_that_an_agent_tells_for_its_login_is_run(version: int) -> None:
    method = {"name": "Log in", "_meta": {"terminal-auth": {"command": "/bin/x", "args": ["a", 5], "env": {"A": "b"}}}}
    method |= {"id": "m"} if version == 1 else {"methodId": "m", "type": "agent"}

    class Fails(LogsIn):
        async def run_in_terminal(self, login: TerminalLogin) -> int:
            self.ran.append(login)
            return 1

    client = Fails()
    host = await Host.begin(version, client, authMethods=[method])
    with pytest.raises(LoginFailed):
        await host.connection.login("m")
    assert client.ran == [TerminalLogin(["/bin/x", "a"], {"A": "b"})]
    await host.wire.silence()


# --- what is never sent -----------------------------------------------------------------------------------------------


@pytest.mark.req("v1-auth-03", "v2-auth-04", "v1u-auth-03", "v2u-auth-03", "all-auth-02")
@both
async def test_a_method_that_is_not_known_or_cannot_be_done_here_is_not_asked(place: Place, protocol: Protocol) -> None:
    async with place.connected(protocol, Client()) as agent:
        for method in ("future", "other", "terminal"):
            with pytest.raises(NotOffered):
                await agent.login(method)
    assert place.sent == ["initialize"]


@pytest.mark.req("v1-auth-07")
async def test_a_logout_that_is_not_offered_is_not_asked() -> None:
    methods = [{"id": "m", "name": "M"}]
    for auth in ({}, {"logout": None}):
        capabilities = {"auth": auth}
        host = await Host.begin(1, authMethods=methods, agentCapabilities=capabilities)
        with pytest.raises(NotOffered):
            await host.connection.logout()
        await host.wire.silence()
    host = await Host.begin(1, authMethods=methods, agentCapabilities={"auth": {"logout": {}}})
    leaving = asyncio.create_task(host.connection.logout())
    host.answer(await host.wire.read_method("logout"), {})
    await asyncio.wait_for(leaving, PATIENCE)


async def test_field_bug_166_a_login_that_is_not_answered_can_be_cancelled(version: int) -> None:
    method = {"name": "M", **({"id": "m"} if version == 1 else {"methodId": "m", "type": "agent"})}
    host = await Host.begin(version, authMethods=[method])
    asking = asyncio.create_task(host.connection.login("m"))
    request = await host.wire.read_method("authenticate" if version == 1 else "auth/login")
    asking.cancel()
    cancel = await host.wire.read_method("$/cancel_request")
    assert cancel["params"]["requestId"] == request["id"]
    await settle()
    assert asking.cancelled()


async def test_a_connection_that_connect_did_not_make_cannot_be_made_again(version: int) -> None:
    name = "id" if version == 1 else "methodId"
    method = {"name": "K", "type": "env_var", name: "k", "vars": [{"name": "KEY"}]}
    host = await Host.begin(version, authMethods=[method])
    with pytest.raises(LoginFailed, match="connect"):
        await host.connection.login("k", {"KEY": "x"})
    run, request = await host.prompt()
    host.accept(request)
    host.end(request)
    assert await run.end() == "end_turn"


# --- prompts ----------------------------------------------------------------------------------------------------------


def agent_method(version: int) -> dict[str, Any]:
    return {"name": "M", **({"id": "m"} if version == 1 else {"methodId": "m", "type": "agent"})}


async def test_a_prompt_that_is_blocked_is_sent_again_after_the_login(version: int) -> None:
    client = LogsIn(Login("m"))
    host = await Host.begin(version, client, authMethods=[agent_method(version)])
    run, blocked = await host.prompt()
    host.refuse(blocked, -32000, "log in first")
    host.answer(await host.wire.read_method("authenticate" if version == 1 else "auth/login"), {})
    again = await host.wire.read_method("session/prompt")
    assert again["params"] == blocked["params"]
    host.accept(again)
    host.say("in")
    host.end(again)
    assert await run.end() == "end_turn"
    assert run.said == "in"


async def test_a_prompt_that_is_cancelled_while_the_login_goes_on_is_not_sent_again(version: int) -> None:
    host = await Host.begin(version, LogsIn(Login("m")), authMethods=[agent_method(version)])
    run, blocked = await host.prompt()
    host.refuse(blocked, -32000, "log in first")
    login = await host.wire.read_method("authenticate" if version == 1 else "auth/login")
    await run.turn.cancel()
    host.answer(login, {})
    assert await run.end() == "cancelled"
    await settle()
    assert await host.heard("session/prompt") == []
    again, request = await host.prompt()
    host.accept(request)
    host.end(request)
    assert await again.end() == "end_turn"
