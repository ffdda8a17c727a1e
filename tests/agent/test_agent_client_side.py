"""Files and terminals of the client: what version 1 offers is asked for, what nobody offers is not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from agent_kit import Ended, Script, Scripted, Talk, settle

from duologue.agent import NotOffered, Turn
from duologue.jsonrpc.errors import RpcError

ALL = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}


async def begin(script: Script, offering: dict[str, Any] | None = None) -> tuple[Talk, str, int]:
    """A turn of a version 1 client that runs the script: the session, and the prompt's id."""
    talk = await Talk.begin(Scripted(go=script), 1, offering=ALL if offering is None else offering)
    session = await talk.new("/tmp")
    return talk, session, talk.prompt(session, "go")


async def answer(talk: Talk, method: str, result: Any) -> dict[str, Any]:
    """Answer the next request of a method; its params."""
    request = await talk.request(method)
    talk.send({"id": request["id"], **(result if "error" in result else {"result": result})})
    params: dict[str, Any] = request["params"]
    return params


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-fs-01", "v1-fs-02", "all-session-05")
async def test_reading_and_writing() -> None:
    read: list[str] = []

    async def go(turn: Turn) -> None:
        read.append(await turn.client_files.read("notes.txt"))
        read.append(await turn.client_files.read(Path("/etc/motd"), line=3, limit=2))
        await turn.client_files.write("sub/new.txt", "text\n")

    talk, session, id = await begin(go)
    params = await answer(talk, "fs/read_text_file", {"content": "unsaved"})
    assert params == {"sessionId": session, "path": "/tmp/notes.txt"}
    params = await answer(talk, "fs/read_text_file", {"content": ""})
    assert params == {"sessionId": session, "path": "/etc/motd", "line": 3, "limit": 2}
    params = await answer(talk, "fs/write_text_file", {})
    assert params == {"sessionId": session, "path": "/tmp/sub/new.txt", "content": "text\n"}
    assert await talk.ended(id) == [Ended("end_turn")]
    assert read == ["unsaved", ""]


async def test_a_file_that_is_not_there_is_an_error_of_the_client() -> None:
    async def go(turn: Turn) -> None:
        with pytest.raises(RpcError) as caught:
            await turn.client_files.read("nope")
        assert caught.value.code == -32002
        with pytest.raises(ValueError, match="lines count from one"):
            await turn.client_files.read("notes.txt", line=0)

    talk, _, id = await begin(go)
    await answer(talk, "fs/read_text_file", {"error": {"code": -32002, "message": "no such file"}})
    assert await talk.ended(id) == [Ended("end_turn")]


@pytest.mark.req("v2-fs-01", "v1-terminal-01", "all-initialize-02")
@pytest.mark.parametrize("offering", [{}, {"fs": {}}, {"fs": {"writeTextFile": False}, "terminal": False}, ALL])
async def test_what_is_not_offered_is_not_asked_for(version: int, offering: dict[str, Any]) -> None:
    if version == 1 and offering is ALL:
        return

    async def go(turn: Turn) -> None:
        files = turn.client_files
        assert not files.can_read and not files.can_write
        with pytest.raises(NotOffered, match="fs/read_text_file"):
            await files.read("a")
        with pytest.raises(NotOffered, match="fs/write_text_file"):
            await files.write("a", "")
        with pytest.raises(NotOffered, match="terminal/create"):
            async with turn.client_terminal("make"):
                raise AssertionError

    talk = await Talk.begin(Scripted(go=go), version, offering=offering)
    assert await talk.turn(await talk.new(), "go") == Ended("end_turn")
    assert [kind for kind in talk.kinds() if "/" in kind] == []


# --- terminals --------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-terminal-13", "v1-terminal-15")
async def test_a_command_from_its_start_to_its_release() -> None:
    seen: list[Any] = []

    async def go(turn: Turn) -> None:
        async with turn.tool_call("Build") as call:
            await call.text("building")
            terminal = turn.client_terminal("make", ["-j"], env={"CC": "gcc"}, cwd="sub", output_byte_limit=1000)
            async with terminal:
                await call.add(terminal.content)
                seen.append(await terminal.wait())
                seen.append(await terminal.output())
        await turn.say("built")

    talk, session, id = await begin(go)
    assert await answer(talk, "terminal/create", {"terminalId": "t1"}) == {
        "sessionId": session,
        "command": "make",
        "args": ["-j"],
        "cwd": "/tmp/sub",
        "outputByteLimit": 1000,
        "env": [{"name": "CC", "value": "gcc"}],
    }
    named = {"sessionId": session, "terminalId": "t1"}
    assert await answer(talk, "terminal/wait_for_exit", {"exitCode": 2}) == named
    assert await answer(talk, "terminal/output", {"output": "no rule", "truncated": True}) == named
    assert await answer(talk, "terminal/release", {}) == named
    assert await talk.ended(id) == [Ended("end_turn")]
    assert (seen[0].exit_code, seen[1].output, seen[1].truncated) == (2, "no rule", True)
    released = talk.kinds().index("terminal/release")
    assert '{"type": "terminal", "terminalId": "t1"}' in json.dumps(talk.seen[:released])


@pytest.mark.parametrize("meta", [False, True])
async def test_the_client_is_told_nothing_of_a_terminal_that_it_runs_itself(meta: bool) -> None:
    async def go(turn: Turn) -> None:
        async with turn.client_terminal("make") as terminal, turn.tool_call("Build") as call:
            await call.add(terminal.content)

    talk, _, id = await begin(go, {**ALL, "_meta": {"terminal_output": meta}})
    await answer(talk, "terminal/create", {"terminalId": "t1"})
    await answer(talk, "terminal/release", {})
    await talk.ended(id)
    assert not [update for update in talk.updates() if "_meta" in update]


@pytest.mark.req("v1-terminal-13")
async def test_a_command_that_takes_too_long_is_killed_and_released() -> None:
    seen: list[Any] = []

    async def go(turn: Turn) -> None:
        async with turn.client_terminal("sleep", ["1000"]) as terminal:
            seen.append(await terminal.wait(0))
            seen.append(await terminal.output())

    talk, _, id = await begin(go)
    await answer(talk, "terminal/create", {"terminalId": "t1"})
    waiting = await talk.request("terminal/wait_for_exit")
    await answer(talk, "terminal/kill", {})
    talk.send({"id": waiting["id"], "result": {"exitCode": None, "signal": "SIGKILL"}})
    await answer(talk, "terminal/output", {"output": "", "truncated": False})
    await answer(talk, "terminal/release", {})
    assert await talk.ended(id) == [Ended("end_turn")]
    assert seen[0].signal == "SIGKILL"


@pytest.mark.req("v1-terminal-13")
async def test_a_cancelled_turn_releases_its_terminal() -> None:
    async def go(turn: Turn) -> None:
        async with turn.client_terminal("sleep", ["1000"]) as terminal:
            await terminal.wait()

    talk, session, id = await begin(go)
    await answer(talk, "terminal/create", {"terminalId": "t1"})
    await talk.request("terminal/wait_for_exit")
    talk.cancel(session)
    assert (await answer(talk, "terminal/release", {}))["terminalId"] == "t1"
    assert await talk.ended(id) == [Ended("cancelled")]


@pytest.mark.req("v1-terminal-13")
async def test_a_terminal_that_is_made_while_its_turn_is_cancelled_is_released() -> None:
    async def go(turn: Turn) -> None:
        async with turn.client_terminal("sleep", ["1000"]):
            raise AssertionError

    talk, session, id = await begin(go)
    create = await talk.request("terminal/create")
    talk.cancel(session)
    await settle()
    talk.send({"id": create["id"], "result": {"terminalId": "t1"}})
    assert (await answer(talk, "terminal/release", {}))["terminalId"] == "t1"
    assert await talk.ended(id) == [Ended("cancelled")]


@pytest.mark.req("v1-terminal-13")
@pytest.mark.parametrize("result", [{}, {"error": {"code": -32603, "message": "broken"}}])
async def test_a_failing_turn_releases_its_terminal_once(result: dict[str, Any]) -> None:
    async def go(turn: Turn) -> None:
        async with turn.client_terminal("make"):
            raise RpcError(-32050, "no disk")

    talk, _, id = await begin(go)
    await answer(talk, "terminal/create", {"terminalId": "t1"})
    await answer(talk, "terminal/release", result)
    (ended,) = await talk.ended(id)
    assert ended.error is not None and ended.error["code"] == -32050
    assert talk.kinds().count("terminal/release") == 1


async def test_a_terminal_has_no_id_before_it_is_started() -> None:
    async def go(turn: Turn) -> None:
        with pytest.raises(RuntimeError, match="not started"):
            _ = turn.client_terminal("make").content

    talk, _, id = await begin(go)
    assert await talk.ended(id) == [Ended("end_turn")]


async def test_many_terminals_at_once() -> None:
    async def one(turn: Turn, number: int) -> None:
        async with turn.client_terminal("echo", [str(number)]) as terminal:
            assert terminal.id == f"t{number}"
            await terminal.wait()

    async def go(turn: Turn) -> None:
        await asyncio.gather(*(one(turn, number) for number in range(20)))

    talk, _, id = await begin(go)
    released: list[str] = []
    while len(released) < 20:
        message = await talk.read()
        match message.get("method"):
            case "terminal/create":
                talk.send({"id": message["id"], "result": {"terminalId": f"t{message['params']['args'][0]}"}})
            case "terminal/release":
                released.append(message["params"]["terminalId"])
                talk.send({"id": message["id"], "result": {}})
            case "terminal/wait_for_exit":
                talk.send({"id": message["id"], "result": {"exitCode": 0}})
    assert sorted(released) == sorted(f"t{number}" for number in range(20))
    assert await talk.ended(id) == [Ended("end_turn")]
