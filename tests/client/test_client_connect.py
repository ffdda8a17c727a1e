"""Connecting: programs that do not start, do not speak, or speak another version; and that nothing of them is left."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from duologue.client import AgentFailed, Client, VersionMismatch, connect
from duologue.jsonrpc.errors import RpcError
from duologue.peer import ConnectionClosed
from duologue.protocol.v2.capabilities import ClientCapabilities
from duologue.protocol.version import SUPPORTED
from duologue.transports.base import Transport
from duologue.transports.memory import memory_pair
from duologue.transports.spawn import SpawnTransport
from procs import alive
from spawn_kit import pids_in, python, shell
from wire import PATIENCE, Wire, until

#: Answers `initialize` as the test says; notes its process id, what it read, and each start.
AGENT = """
import json, os, sys, time
def note(text):
    with open({log!r}, "a") as file: file.write(text + "\\n")
def say(message):
    sys.stdout.write(json.dumps({{"jsonrpc": "2.0", **message}}) + "\\n"); sys.stdout.flush()
def read():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    message = json.loads(line)
    note(message["method"] + " " + str(message["params"].get("protocolVersion")))
    return message
V1 = {{"protocolVersion": 1, "agentCapabilities": {{}}}}
V2 = {{"protocolVersion": 2, "info": {{"name": "a", "version": "1"}}, "capabilities": {{"session": {{}}}}}}
with open({pids!r}, "a") as file: file.write(str(os.getpid()) + "\\n")
{code}
while True:
    message = read()
    if "id" in message: say({{"id": message["id"], "result": {{"sessionId": "S"}}}})
"""


class Program:
    """A command, and what became of its processes."""

    def __init__(self, folder: Path, code: str) -> None:
        self.log, self._pids = folder / "log", folder / "pids"
        self.log.touch()
        self.command = python(folder, AGENT.format(log=str(self.log), pids=str(self._pids), code=code))

    def read(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines()

    async def all_gone(self, count: int) -> bool:
        pids = await pids_in(self._pids, count)
        return len(pids) == count and not any(map(alive, pids))


ANSWER = "request = read(); say({'id': request['id'], 'result': %s})"


async def connected(command: list[str], **options: Any) -> str:
    """Connect and begin a session; the version spoken. A child that does not end by itself is soon killed."""

    def start() -> SpawnTransport:
        return SpawnTransport(command, grace_seconds=0.3)

    async with asyncio.timeout(PATIENCE), connect(start, **options) as connection:
        await connection.new_session("/tmp")
        return connection.version.name


# --- programs that work -----------------------------------------------------------------------------------------------


@pytest.mark.req("v1-initialize-01", "all-session-01", "v2-initialize-01")
@pytest.mark.parametrize("protocol", [1, 2])
async def test_an_agent_is_started_initialized_and_ended(tmp_path: Path, protocol: Any) -> None:
    program = Program(tmp_path, ANSWER % f"V{protocol}")
    assert await connected(program.command, protocol=protocol) == f"v{protocol}"
    assert program.read() == [f"initialize {protocol}", "session/new None"]
    assert await program.all_gone(1)


async def test_version_1_is_proposed_unless_told_otherwise(tmp_path: Path) -> None:
    program = Program(tmp_path, ANSWER % "V1")
    assert await connected(program.command) == "v1"


@pytest.mark.req("v1-initialize-02", "v1-initialize-03", "v1-initialize-11")
async def test_the_client_says_who_it_is_in_the_words_of_the_version(version: int) -> None:
    class Named(Client):
        name, title, version = "editor", "The Editor", "3"

    wire = await Wire().open()
    connecting = asyncio.create_task(hold(wire.far, Named(), version))
    params = (await wire.read())["params"]
    info = {"name": "editor", "version": "3", "title": "The Editor"}
    assert params["info" if version == 2 else "clientInfo"] == info
    if version == 1:
        fs = params["clientCapabilities"]["fs"]
        assert (fs.get("readTextFile", False), fs.get("writeTextFile", False)) == (False, False)
    else:
        assert "fs" not in params.get("capabilities", {})
    connecting.cancel()
    await asyncio.wait({connecting})


async def hold(transport: Transport, client: Client, protocol: Any) -> None:
    async with connect(lambda: transport, client, protocol=protocol):
        await asyncio.Event().wait()


async def test_field_bug_9_noise_before_the_first_message_is_skipped(tmp_path: Path) -> None:
    noise = "sys.stdout.write('\\x1b[?25l\\n\"ready\"\\n[boot] ok\\n42\\n\\n')\n"
    program = Program(tmp_path, noise + ANSWER % "V1")
    assert await connected(program.command) == "v1"


# --- "auto" -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("all-versioning-01")
async def test_auto_speaks_version_2_with_who_speaks_it(tmp_path: Path) -> None:
    """The first thing it says is the newest version that there is."""
    program = Program(tmp_path, ANSWER % "V2")
    assert await connected(program.command, protocol="auto") == "v2"
    assert await program.all_gone(1)
    newest = max(version.number for version in SUPPORTED)
    assert program.read()[0] == f"initialize {newest}"


@pytest.mark.parametrize(
    "code",
    [
        ANSWER % "V1",
        ANSWER % "{**V1, 'protocolVersion': request['params']['protocolVersion']}",
        "request = read()\n"
        "two = request['params']['protocolVersion'] == 2\n"
        "bad = {'error': {'code': -32602, 'message': 'unknown version'}}\n"
        "say({'id': request['id'], **(bad if two else {'result': V1})})",
        "request = read()\nif request['params']['protocolVersion'] == 2: sys.exit('version 2?')\n"
        "say({'id': request['id'], 'result': V1})",
    ],
    ids=["answers 1", "echoes 2 and means 1", "refuses 2", "crashes on 2"],
)
async def test_auto_starts_an_agent_of_version_1_anew(tmp_path: Path, code: str) -> None:
    program = Program(tmp_path, code)
    assert await connected(program.command, protocol="auto") == "v1"
    assert program.read() == ["initialize 2", "initialize 1", "session/new None"]
    assert await program.all_gone(2)


async def test_auto_tells_the_second_failure_and_leaves_nothing(tmp_path: Path) -> None:
    program = Program(tmp_path, "read(); sys.exit('no key')")
    with pytest.raises(AgentFailed, match="no key"):
        await connected(program.command, protocol="auto")
    assert await program.all_gone(2)


async def test_auto_does_not_wait_twice_for_an_agent_that_never_speaks(tmp_path: Path) -> None:
    program = Program(tmp_path, "time.sleep(60)")
    with pytest.raises(AgentFailed, match=r"silent for 0\.5 s"):
        await connected(program.command, protocol="auto", startup_seconds=0.5)
    assert await program.all_gone(1)


async def test_a_silent_agent_without_a_command_is_told_of_without_one() -> None:
    with pytest.raises(AgentFailed, match=r"silent for 0\.1 s") as caught:
        async with connect(lambda: memory_pair()[0], startup_seconds=0.1):
            pass
    assert "command" not in str(caught.value) and " at 0x" not in str(caught.value)


# --- other versions ---------------------------------------------------------------------------------------------------


@pytest.mark.req("v2-versioning-02", "all-versioning-04")
@pytest.mark.parametrize(
    ("protocol", "answered", "hint"), [(1, "V2", "try protocol=2"), (2, "V1", "try protocol=1")], ids=["1", "2"]
)
async def test_field_bug_96_another_version_is_a_clear_error_and_no_session_follows(
    tmp_path: Path, protocol: Any, answered: str, hint: str
) -> None:
    program = Program(tmp_path, ANSWER % answered)
    with pytest.raises((VersionMismatch, AgentFailed)) as caught:
        await connected(program.command, protocol=protocol)
    assert hint in str(caught.value)
    assert program.read() == [f"initialize {protocol}"]
    assert await program.all_gone(1)


@pytest.mark.req("all-versioning-04")
@pytest.mark.parametrize("answered", [0, 3, 99, 65535])
async def test_field_bug_96_a_version_that_nobody_asked_for_is_a_clear_error(
    tmp_path: Path, version: int, answered: int
) -> None:
    program = Program(tmp_path, ANSWER % f"{{**V{version}, 'protocolVersion': {answered}}}")
    with pytest.raises(VersionMismatch, match=f"version {answered}.*no version is shared"):
        await connected(program.command, protocol=version)
    assert await program.all_gone(1)


@pytest.mark.parametrize("result", ["{}", "None", "'ok'", "{'protocolVersion': 'latest'}", "{'protocolVersion': None}"])
async def test_an_answer_that_does_not_fit_is_a_clear_error(tmp_path: Path, version: int, result: str) -> None:
    program = Program(tmp_path, ANSWER % result)
    with pytest.raises(AgentFailed, match="initialize"):
        await connected(program.command, protocol=version)
    assert await program.all_gone(1)


async def test_a_refused_initialize_keeps_the_agents_error(tmp_path: Path, version: int) -> None:
    error = {"code": -32000, "message": "no licence", "data": {"url": "x"}}
    program = Program(tmp_path, f"request = read(); say({{'id': request['id'], 'error': {error!r}}})")
    with pytest.raises(RpcError) as caught:
        await connected(program.command, protocol=version)
    assert (caught.value.code, caught.value.message, caught.value.data) == (-32000, "no licence", {"url": "x"})
    assert await program.all_gone(1)


async def test_an_answer_with_neither_result_nor_error_is_a_clear_error(tmp_path: Path) -> None:
    program = Program(tmp_path, "request = read(); say({'id': request['id']})")
    with pytest.raises(AgentFailed, match="neither a result nor an error"):
        await connected(program.command)
    assert await program.all_gone(1)


def test_versions_that_do_not_exist_are_refused() -> None:
    async def nothing() -> None:
        await connected(["true"], protocol=3)

    with pytest.raises(ValueError, match="no protocol version 3: give one of 1, 2, or 'auto'"):
        asyncio.run(nothing())


# --- programs that do not start ---------------------------------------------------------------------------------------


async def test_field_bug_159_a_command_that_is_missing_is_named() -> None:
    with pytest.raises(AgentFailed, match="command not found: no-such-agent"):
        await connected(["no-such-agent"])


async def test_a_folder_to_start_in_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match=r"there is no folder .*/gone to start it in \(command: "):
        async with connect(["sh"], cwd=tmp_path / "gone"):
            pass


async def test_field_bug_159_a_launcher_that_finds_nothing_is_reported_with_127(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match="exit code 127") as caught:
        await connected(shell(tmp_path, "exec no-such-agent"))
    assert "no-such-agent" in str(caught.value)


async def test_field_bug_159_a_crash_has_its_last_lines_exit_code_and_command(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed) as caught:
        await connected(python(tmp_path, "import sys; sys.stderr.write('one\\ntwo\\nthree\\n'); sys.exit(7)"))
    text = str(caught.value)
    assert "exit code 7" in text and "agent.py" in text and "one\ntwo\nthree" in text


async def test_field_bug_158_an_agent_that_never_speaks_is_given_up(tmp_path: Path) -> None:
    program = Program(tmp_path, "time.sleep(60)")
    with pytest.raises(AgentFailed, match=r"silent for 0\.4 s.*agent\.py"):
        await connected(program.command, startup_seconds=0.4)
    assert await program.all_gone(1)


async def test_field_bug_158_the_time_counts_from_the_last_sign_of_life(tmp_path: Path) -> None:
    """Slow and healthy: it needs more than the limit and tells of its progress."""
    steps = "for step in range(10):\n    time.sleep(0.15); sys.stderr.write('step\\n'); sys.stderr.flush()\n"
    program = Program(tmp_path, steps + ANSWER % "V1")
    assert await connected(program.command, startup_seconds=1) == "v1"


async def test_a_program_that_asks_its_user_is_given_up_with_its_question(tmp_path: Path) -> None:
    program = Program(tmp_path, "sys.stderr.write('Password: '); sys.stderr.flush(); time.sleep(60)")
    with pytest.raises(AgentFailed, match="Password"):
        await connected(program.command, startup_seconds=0.4)


async def test_connecting_can_be_cancelled_and_leaves_nothing(tmp_path: Path) -> None:
    program = Program(tmp_path, "time.sleep(60)")
    connecting = asyncio.create_task(connected(program.command))
    await pids_in(tmp_path / "pids")
    connecting.cancel()
    await asyncio.wait({connecting}, timeout=PATIENCE)
    assert connecting.cancelled()
    assert await program.all_gone(1)


@pytest.mark.parametrize("protocol", [1, 2, "auto"])
async def test_whatever_ends_connecting_ends_what_was_opened(protocol: Any) -> None:
    class Broken(Client):
        def capabilities(self) -> ClientCapabilities:
            raise OSError("no settings")

    wires: list[Wire] = []

    def opened() -> Transport:
        wires.append(Wire())
        return wires[-1].far

    async def connecting(client: Client) -> None:
        async with connect(opened, client, protocol=protocol):
            raise AssertionError("nobody answers")

    with pytest.raises(OSError, match="no settings"):
        await connecting(Broken())
    task = asyncio.create_task(connecting(Client()))
    await until(lambda: len(wires) == 2)
    await wires[1].open()
    await wires[1].read_method("initialize")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(wires) == 2
    await wires[0].open()
    await until(lambda: all(wire.closed for wire in wires))


async def test_field_bug_174_a_command_as_one_string_is_a_mistake_that_is_explained() -> None:
    with pytest.raises(TypeError, match="as a list"):
        async with connect("some-agent --acp"):
            pass


# --- the end ----------------------------------------------------------------------------------------------------------


async def test_field_bug_87_an_agent_that_dies_ends_turns_and_calls_and_a_new_one_can_be_started(
    tmp_path: Path,
) -> None:
    code = (ANSWER % "V1") + "\nrequest = read(); say({'id': request['id'], 'result': {'sessionId': 'S'}})\n"
    program = Program(tmp_path, code + "read(); sys.stderr.write('out of memory\\n'); sys.exit(9)")
    async with asyncio.timeout(PATIENCE), connect(program.command) as connection:
        session = await connection.new_session("/tmp")
        with pytest.raises(ConnectionClosed, match="exit code 9") as caught:
            await session.prompt("go").text()
        assert "out of memory" in str(caught.value)
        with pytest.raises(ConnectionClosed):
            await connection.new_session("/tmp")
    async with asyncio.timeout(PATIENCE), connect(program.command) as connection:
        assert (await connection.new_session("/tmp")).id == "S"


async def test_an_exception_in_the_body_ends_the_agent_too(tmp_path: Path) -> None:
    program = Program(tmp_path, ANSWER % "V1")
    with pytest.raises(ZeroDivisionError):
        async with connect(program.command):
            raise ZeroDivisionError
    assert await program.all_gone(1)


async def test_the_environment_of_the_agent_is_what_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_X", "leaked")
    code = "note(json.dumps([os.environ.get('SECRET_X'), os.environ.get('GIVEN'), os.getcwd()]))\n" + ANSWER % "V1"
    program = Program(tmp_path, code)
    async with asyncio.timeout(PATIENCE), connect(program.command, env={"GIVEN": "yes"}, cwd=tmp_path):
        pass
    assert json.loads(program.read()[0]) == [None, "yes", str(tmp_path)]
