"""The programs of the documentation do what the pages say, between two ends in memory or in real processes."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest
from doc_pages import EXAMPLES

import duologue
from duologue import Agent, Turn, connect
from duologue.client import Session
from duologue.protocol import v2
from duologue.testing import Answers, connected, until
from duologue.transports.base import Transport
from procs import alive

Page = Callable[[str], ModuleType]
Protocol = Literal[1, 2]


def statuses(session: Session) -> list[str]:
    return [str(call.status) for call in session.transcript.tool_calls.values()]


# --- Writing an agent ------------------------------------------------------------------------------------------------


async def test_the_test_of_the_page_passes(page: Page) -> None:
    await page("agent").test_greeter()


@pytest.mark.parametrize("protocol", [1, 2])
async def test_researcher(page: Page, tmp_path: Path, protocol: Protocol) -> None:
    (tmp_path / "a.txt").touch()
    async with connected(page("agent").Researcher(), protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        turn = session.prompt("what is here?")
        assert await turn.text() == "- a.txt\n"
        assert turn.stop_reason == v2.StopReason.END_TURN
        assert session.transcript.title == "1 files"
        assert session.transcript.usage is not None and session.transcript.usage.used == 1200
        assert [message.role.value for message in session.transcript.messages] == ["user", "thought", "agent"]
        (plan,) = session.transcript.plans.values()
        assert isinstance(plan, v2.ItemsPlan)
        assert [str(entry.status) for entry in plan.entries] == ["completed", "in_progress"]


@pytest.mark.parametrize("protocol", [1, 2])
async def test_editor(page: Page, tmp_path: Path, protocol: Protocol) -> None:
    agent = page("agent").Editor()
    remembered: list[duologue.Permission] = []
    agent.remember = remembered.append
    client = Answers("allow_always")
    async with connected(agent, client, protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        await session.prompt("buy milk").text()
        client.kinds = ["reject_once"]
        await session.prompt("buy cake").text()
        assert statuses(session) == ["completed", "failed"]
    assert (tmp_path / "notes.txt").read_text() == "buy milk\n"
    assert "Always allow edits of notes.txt" in [option.name for option in client.questions[0].options]
    assert [permission.always for permission in remembered] == [True]


@pytest.mark.parametrize("protocol", [1, 2])
async def test_runner(page: Page, tmp_path: Path, protocol: Protocol) -> None:
    async with connected(page("agent").Runner(), Answers("allow_once"), protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        await session.prompt("go").text()
        assert statuses(session) == ["completed"]
        (terminal,) = session.transcript.terminals.values()
        assert terminal.text == "hello from a process\n"
        assert terminal.exit_status is not None and terminal.exit_status.exit_code == 0


async def test_remembering(page: Page, tmp_path: Path) -> None:
    agent = page("agent").Remembering
    async with connected(agent()) as first:
        session = await first.new_session(tmp_path)
        await session.prompt("my name is Ada").text()
        said = [message.text for message in session.transcript.messages]
    async with connected(agent()) as second:
        again = await second.resume_session(session.id, tmp_path)
        assert (
            [message.text for message in again.transcript.messages]
            == said
            == [
                "my name is Ada",
                "I shall remember that.",
            ]
        )
        with pytest.raises(duologue.RpcError, match="-32002"):
            await second.resume_session("other", tmp_path)


async def test_work_of_its_own(page: Page, tmp_path: Path) -> None:
    agent = page("agent").Greeter()
    async with connected(agent) as connection:
        session = await connection.new_session(tmp_path)
        (own,) = agent.connection.sessions.values()
        await page("agent").report(own)
        await until(lambda: session.transcript.stop_reason is not None)
        await session.prompt("hello").text()
        texts = [message.text for message in session.transcript.messages]
        assert texts == ["The build has finished.", "hello", "You said: hello"]


@pytest.mark.parametrize("protocol", [1, 2])
async def test_moody(page: Page, tmp_path: Path, protocol: Protocol) -> None:
    async with connected(page("agent").Moody(), protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        assert await session.prompt("hello").text() == "Hello."
        await session.set_mode("cheerful")
        assert await session.prompt("hello").text() == "Hello!"
        with pytest.raises(duologue.RpcError, match="-32602"):
            await session.set_config_option("mode", "angry")


async def test_closed(page: Page, tmp_path: Path) -> None:
    async with connected(page("agent").Closed()) as connection:
        with pytest.raises(duologue.RpcError, match="Log in first"):
            await connection.new_session(tmp_path)
        await connection.login("browser")
        await connection.new_session(tmp_path)


class Stubborn(Agent):
    """Says so when it is cancelled, and then fails."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def prompt(self, turn: Turn) -> None:
        if turn.text == "quick":
            await turn.say("done")
            return
        async with turn.tool_call("Wait"):
            try:
                await turn.say("waiting")
                self.begun.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await turn.say("one more word")
                raise ValueError("broken by the cancel") from None


@pytest.mark.parametrize("protocol", [1, 2])
async def test_the_promises_about_cancelling(tmp_path: Path, protocol: Protocol) -> None:
    agent = Stubborn()
    async with connected(agent, protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        turns = [session.prompt("slow"), session.prompt("slow too")]
        running = [asyncio.create_task(turn.text()) for turn in turns]
        await agent.begun.wait()
        # Both prompts have arrived when an answer to a later request has.
        await connection.list_sessions()
        await session.cancel()
        texts = await asyncio.gather(*running)
        assert texts == ["waitingone more word", ""]
        assert [turn.stop_reason for turn in turns] == [v2.StopReason.CANCELLED] * 2
        assert await session.prompt("quick").text() == "done"


# --- Writing a client ------------------------------------------------------------------------------------------------

TELLER = """
import asyncio, sys
from duologue import Agent, RpcError, Turn, run

class Teller(Agent):
    async def prompt(self, turn: Turn) -> None:
        match turn.text:
            case "fail":
                raise RpcError(-32001, "no more paper")
            case "die":
                print("out of ink", file=sys.stderr)
                sys.stderr.flush()
                import os
                os._exit(3)
            case "wait":
                await asyncio.Event().wait()
        for number in range(1000):
            await turn.say(f"line {number}\\n")
            await asyncio.sleep(0)

run(Teller())
"""


@pytest.fixture
def teller(tmp_path: Path) -> list[str]:
    path = tmp_path / "teller.py"
    path.write_text(TELLER)
    return [sys.executable, str(path)]


async def test_ask_a_process(page: Page, teller: list[str]) -> None:
    assert (await page("client").ask(teller, "tell")).startswith("line 0\nline 1\n")


async def test_each_failure_is_told_apart(
    page: Page, teller: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = page("client")
    real = client.ask

    def asking(question: str) -> Callable[[list[str], str], Awaitable[str]]:
        return lambda command, _: real(command, question)

    assert (await client.careful(["no-such-agent"])).startswith("it did not start: command not found: no-such-agent")
    monkeypatch.setattr(client, "ask", asking("fail"))
    assert await client.careful(teller) == "it refused: no more paper (-32001)"
    monkeypatch.setattr(client, "ask", asking("die"))
    assert await client.careful(teller) == "it ended with exit code 3: out of ink\n"


async def test_a_failing_turn_has_an_error_of_its_own_in_version_2(teller: list[str], tmp_path: Path) -> None:
    async with connect(teller, protocol=2) as connection:
        session = await connection.new_session(tmp_path)
        with pytest.raises(duologue.TurnFailed, match="no more paper"):
            await session.prompt("fail").text()


async def test_browse(page: Page, tmp_path: Path) -> None:
    async with connected(page("agent").Researcher()) as connection:
        one = await connection.new_session(tmp_path)
        two = await connection.new_session(tmp_path)
        found = await page("client").browse(connection)
        assert [line.split(":")[0] for line in found] == [two.id, one.id]


async def test_show(page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with connected(page("agent").Editor(), Answers("allow_once")) as connection:
        session = await connection.new_session(tmp_path)
        await page("client").show(session, "buy milk")
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("[Edit notes.txt: ")
    assert "[Edit notes.txt: completed]" in out
    assert out[-1] == "Noted.end_turn"


@pytest.mark.parametrize("protocol", [1, 2])
async def test_leaving_early_sends_one_cancel(
    page: Page, teller: list[str], tmp_path: Path, protocol: Protocol
) -> None:
    sent: list[bytes] = []

    def trace(direction: str, line: bytes) -> None:
        if direction == "out" and b'"session/cancel"' in line:
            sent.append(line)

    async with connect(teller, protocol=protocol, trace=trace) as connection:
        session = await connection.new_session(tmp_path)
        assert await page("client").first_line(session, "tell") == "line 0"
        assert len(sent) == 1
        assert await page("client").at_most(session, "wait", 0.05) is None
        assert len(sent) == 2
        async for _ in session.prompt("tell"):
            break
        # A generator that was dropped is closed by the loop.
        await until(lambda: len(sent) == 3)
        assert (await session.prompt("tell").text()).startswith("line 0")
        assert len(sent) == 3


async def test_allows_edits_and_nothing_else(page: Page, tmp_path: Path) -> None:
    client = page("client").AllowsEdits
    async with connected(page("agent").Editor(), client()) as connection:
        session = await connection.new_session(tmp_path)
        await session.prompt("buy milk").text()
        assert statuses(session) == ["completed"]
    async with connected(page("agent").Runner(), client()) as connection:
        session = await connection.new_session(tmp_path)
        await session.prompt("go").text()
        assert statuses(session) == ["failed"]


async def test_watching(page: Page, tmp_path: Path) -> None:
    client = page("client").Watching()
    async with connected(page("agent").Researcher(), client) as connection:
        session = await connection.new_session(tmp_path)
        await session.prompt("what is here?").text()
        assert client.titles == {session.id: "0 files"}
        assert page("client").as_text(session).startswith("user: what is here?\n\nthought: ")


# --- A transport of one's own ----------------------------------------------------------------------------------------


@pytest.mark.req("all-framing-10", "all-framing-11")
async def test_sockets(page: Page, tmp_path: Path) -> None:
    transports, agent = page("transports"), page("agent")
    path = str(tmp_path / "agent.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        serving = asyncio.create_task(transports.listen(listener, agent.Greeter))

        def transport() -> Transport:
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(path)
            made: Transport = transports.SocketTransport(sock)
            return made

        async def talk(word: str) -> str:
            async with connect(transport) as connection:
                session = await connection.new_session(tmp_path)
                return await session.prompt(word).text()

        big = "x" * 1_000_000
        answers = await asyncio.gather(talk("one"), talk("two"), talk(big))
        assert list(answers) == [
            "You said: one",
            "You said: two",
            f"You said: {big}",
        ]
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving


# --- The examples ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [1, 2])
async def test_the_example_agent(tmp_path: Path, protocol: Protocol) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    command = [sys.executable, str(EXAMPLES / "agent.py")]
    async with connect(command, Answers("allow_once"), protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        text = await session.prompt("count").text()
    assert text == "This project has 2 lines of Python. I wrote that to LINES.txt."
    assert (tmp_path / "LINES.txt").read_text() == "2\n"


async def test_the_example_client_and_agent_together(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "client.py"), "count", sys.executable, str(EXAMPLES / "agent.py")]
    process = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert out.decode() == (
        "[Count lines]\nThis project has 0 lines of Python. [Write LINES.txt]\nI wrote that to LINES.txt.\n(end_turn)\n"
    )
    assert (tmp_path / "LINES.txt").read_text() == "0\n"


@pytest.mark.parametrize("name", ["client.py", "chat.py"])
async def test_an_example_without_arguments_tells_its_usage(name: str) -> None:
    command = [sys.executable, str(EXAMPLES / name)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, problem = await process.communicate()
    assert problem.decode().startswith(f"usage: {name} ")
    assert process.returncode == 1


RUNNER = [sys.executable, str(EXAMPLES / "runner.py")]


@pytest.mark.parametrize("protocol", [1, 2])
async def test_the_example_runner(tmp_path: Path, protocol: Protocol) -> None:
    async with connect(RUNNER, Answers("allow_once"), protocol=protocol) as connection:
        session = await connection.new_session(tmp_path)
        await session.prompt("echo one; pwd; exit 3").text()
        (terminal,) = session.transcript.terminals.values()
        assert terminal.text == f"one\n{tmp_path}\n"
        assert terminal.exit_status is not None and terminal.exit_status.exit_code == 3
        assert statuses(session) == ["failed"]


async def test_the_example_runner_gives_no_secrets_to_commands(tmp_path: Path) -> None:
    environment = {"SOME_API_KEY": "abc"}
    async with connect(RUNNER, Answers("allow_once"), env=environment) as connection:
        session = await connection.new_session(tmp_path)
        await session.prompt("env").text()
        (terminal,) = session.transcript.terminals.values()
        assert "PATH=" in terminal.text
        assert "SOME_API_KEY" not in terminal.text


async def test_a_cancel_ends_what_the_example_runner_started(tmp_path: Path) -> None:
    async with connect(RUNNER, Answers("allow_once"), protocol=2) as connection:
        session = await connection.new_session(tmp_path)
        turn = session.prompt("echo $$; sleep 60 & echo $!; wait")
        pids: list[str] = []
        async for _ in turn:
            for terminal in session.transcript.terminals.values():
                pids = terminal.text.split()
            if len(pids) == 2:
                await turn.cancel()
        assert turn.stop_reason == v2.StopReason.CANCELLED
        assert statuses(session) == ["cancelled"]
        await until(lambda: not any(alive(int(pid)) for pid in pids))


async def test_the_example_chat(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\n")
    command = [sys.executable, str(EXAMPLES / "chat.py"), sys.executable, str(EXAMPLES / "agent.py")]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=tmp_path, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    # The first question is answered with yes, the second is not answered.
    out, _ = await process.communicate(b"count\n1\ncount\n")
    text = out.decode()
    assert text.count("This project has 1 lines of Python.") == 2
    assert text.count("  1. Allow") == 2
    # What is asked about stands above each question.
    assert re.search(r"^--- /dev/null\n.*^\+1 *\n.*Write LINES.txt.*  1. Allow", text, re.DOTALL | re.MULTILINE)
    assert text.count("I wrote that to LINES.txt.") == 1
    assert text.count("(end_turn)") == 2
    assert process.returncode == 0
