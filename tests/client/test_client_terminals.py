"""The client's terminals as an agent of version 1 uses them: real commands, bounded output, and an end for each."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from client_kit import OPTIONS, Host

from duologue.client import Client, LocalTerminals, Policy, Session
from duologue.local.rules import Run, Subject
from duologue.protocol.common.permission import RequestPermissionOutcome, SelectedOutcome
from duologue.protocol.v2.permission import RequestPermissionRequest
from wire import PATIENCE, until

CREATE, OUTPUT, WAIT = "terminal/create", "terminal/output", "terminal/wait_for_exit"
KILL, RELEASE = "terminal/kill", "terminal/release"

#: Says so, then goes on until it is ended.
SLEEPER = "import sys, time; print('up', flush=True); time.sleep(1000)"


class Runs(Client):
    """Runs every command without a question."""

    def __init__(self, terminals: LocalTerminals | None = None, policy: Policy | None = None) -> None:
        self.terminals = terminals or LocalTerminals()
        self.policy = policy or Policy(otherwise="allow")


async def begin(root: Path, client: Client | None = None) -> Host:
    return await Host.begin(1, client or Runs(), cwd=root)


async def create(host: Host, command: str, *args: str, **more: Any) -> str:
    reply = await host.replies(CREATE, command=command, args=list(args), **more)
    return str(reply["result"]["terminalId"])


async def python(host: Host, code: str, **more: Any) -> str:
    return await create(host, sys.executable, "-c", code, **more)


async def ended(host: Host, terminal: str) -> dict[str, Any]:
    """Wait for the end of a command; its output."""
    await host.replies(WAIT, terminalId=terminal)
    return dict((await host.replies(OUTPUT, terminalId=terminal))["result"])


async def up(host: Host, terminal: str) -> int:
    """Wait until a sleeper has begun; its process."""
    await until(lambda: "up" in host.session.terminals[terminal].output()[0])
    process = host.session.terminals[terminal]._process
    assert process is not None
    return process.pid


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


# --- what is offered --------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-terminal-16", "v1-initialize-11")
async def test_nothing_is_offered_until_the_author_says_so(tmp_path: Path) -> None:
    host = await begin(tmp_path, Client())
    assert host.introduced["clientCapabilities"]["terminal"] is False
    assert (await host.replies(CREATE, command="true"))["error"]["code"] == -32601
    for method in (OUTPUT, WAIT, KILL, RELEASE):
        assert (await host.replies(method, terminalId="t"))["error"]["code"] == -32601


@pytest.mark.req("v2-versioning-04", "v2-initialize-09")
async def test_version_2_knows_no_terminals_of_the_client(tmp_path: Path) -> None:
    host = await Host.begin(2, Runs(), cwd=tmp_path)
    assert "terminal" not in host.introduced["capabilities"]
    assert (await host.replies(CREATE, command="true"))["error"]["code"] == -32601


# --- a command --------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-terminal-02", "v1-terminal-04")
async def test_arguments_variables_and_folder_reach_the_command(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    host = await begin(tmp_path)
    code = "import os, sys; print(sys.argv[1:], os.environ['GIVEN'], os.getcwd())"
    env = [{"name": "GIVEN", "value": "a b"}]
    terminal = await create(host, sys.executable, "-c", code, "x y", "$HOME", env=env, cwd=str(tmp_path / "sub"))
    assert (await ended(host, terminal))["output"] == f"['x y', '$HOME'] a b {tmp_path / 'sub'}\n"
    bare = (await host.replies(CREATE, command="pwd"))["result"]["terminalId"]
    assert (await ended(host, bare))["output"] == f"{tmp_path}\n"


async def test_field_bug_169_a_command_sees_no_secret_of_the_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    monkeypatch.setenv("PLAIN", "plain")
    host = await begin(tmp_path, Runs(LocalTerminals(names=["PLAIN", "SOME_API_KEY"])))
    said = (await ended(host, await create(host, "env")))["output"]
    assert "hunter2" not in said
    assert "PLAIN=plain\n" in said
    given = await create(host, "env", env=[{"name": "SOME_API_KEY", "value": "given"}])
    assert "SOME_API_KEY=given\n" in (await ended(host, given))["output"]


@pytest.mark.req("v1-terminal-03", "v1-terminal-05", "v1-terminal-10")
async def test_a_running_command_holds_up_nothing(tmp_path: Path) -> None:
    host = await begin(tmp_path)
    terminal = await python(host, SLEEPER)
    await up(host, terminal)
    host.send({"id": "w", "method": WAIT, "params": {"sessionId": "S", "terminalId": terminal}})
    assert (await host.replies(OUTPUT, terminalId=terminal))["result"] == {"output": "up\n", "truncated": False}
    other = await create(host, "echo", "hi")
    assert (await ended(host, other))["output"] == "hi\n"
    host.send({"id": "k", "method": KILL, "params": {"sessionId": "S", "terminalId": terminal}})
    told = {reply["id"]: reply["result"] for reply in (await host.wire.read(), await host.wire.read())}
    assert told == {"w": {"exitCode": None, "signal": "SIGTERM"}, "k": {}}


@pytest.mark.req("v1-terminal-05", "v1-terminal-08", "v1-terminal-09")
async def test_how_a_command_ended_is_told_also_later(tmp_path: Path) -> None:
    host = await begin(tmp_path)
    terminal = await python(host, "import sys; sys.stderr.write('bad'); sys.exit(3)")
    for _ in range(2):
        assert (await host.replies(WAIT, terminalId=terminal))["result"] == {"exitCode": 3, "signal": None}
    told = (await host.replies(OUTPUT, terminalId=terminal))["result"]
    assert told == {"output": "bad", "truncated": False, "exitStatus": {"exitCode": 3, "signal": None}}


@pytest.mark.req("v1-terminal-09", "v1-terminal-11")
async def test_a_killed_command_keeps_its_output(tmp_path: Path) -> None:
    host = await begin(tmp_path)
    terminal = await python(host, SLEEPER)
    pid = await up(host, terminal)
    for _ in range(2):
        assert (await host.replies(KILL, terminalId=terminal))["result"] == {}
    assert gone(pid)
    assert (await host.replies(WAIT, terminalId=terminal))["result"] == {"exitCode": None, "signal": "SIGTERM"}
    assert (await host.replies(OUTPUT, terminalId=terminal))["result"]["output"] == "up\n"
    assert (await host.replies(RELEASE, terminalId=terminal))["result"] == {}


@pytest.mark.req("v1-terminal-12")
async def test_field_bug_142_a_released_terminal_is_gone(tmp_path: Path) -> None:
    host = await begin(tmp_path)
    terminal = await python(host, SLEEPER)
    pid = await up(host, terminal)
    host.send({"id": "w", "method": WAIT, "params": {"sessionId": "S", "terminalId": terminal}})
    host.send({"id": "r", "method": RELEASE, "params": {"sessionId": "S", "terminalId": terminal}})
    assert {(await host.wire.read())["id"] for _ in range(2)} == {"w", "r"}
    assert gone(pid)
    for method in (OUTPUT, WAIT, KILL, RELEASE):
        for id in (terminal, "never"):
            reply = await host.replies(method, terminalId=id)
            assert (reply["error"]["code"], reply["error"]["data"]) == (-32002, {"terminalId": id})


@pytest.mark.parametrize("end", ["connection", "session"])
async def test_what_still_runs_ends_with_the_connection_and_the_session(tmp_path: Path, end: str) -> None:
    host = await begin(tmp_path)
    pids = [await up(host, await python(host, SLEEPER)) for _ in range(2)]
    if end == "connection":
        await host.wire.near.close()
        await host.connection.peer.wait_closed()
        await host.connection.close()
    else:
        closing = asyncio.create_task(host.session.close())
        host.answer(await host.wire.read_method("session/close"), {})
        await asyncio.wait_for(closing, PATIENCE)
    assert all(map(gone, pids))
    assert host.session.terminals == {}


async def test_terminals_of_another_session_are_unknown(tmp_path: Path) -> None:
    host = await begin(tmp_path)
    await host.opened("T", tmp_path)
    terminal = await create(host, "echo", "hi")
    assert (await host.replies(OUTPUT, terminalId=terminal, sessionId="T"))["error"]["code"] == -32002
    assert (await host.replies(OUTPUT, terminalId=terminal, sessionId="ghost"))["error"]["code"] == -32002


# --- its output -------------------------------------------------------------------------------------------------------


@pytest.mark.req("v1-terminal-06", "v1-terminal-07")
@pytest.mark.parametrize("text", ["0123456789" * 1000, "\u20ac" * 3000, "\U0001f600" * 2000, "a\u00e9\u20ac" * 1500])
@pytest.mark.parametrize("limit", [10, 11, 12, 13, 1000])
async def test_field_bug_136_the_end_of_the_output_is_kept_in_whole_characters(
    tmp_path: Path, text: str, limit: int
) -> None:
    (tmp_path / "text").write_text(text, encoding="utf-8")
    host = await begin(tmp_path)
    told = await ended(host, await create(host, "cat", "text", outputByteLimit=limit))
    assert told["truncated"] is True
    assert text.endswith(told["output"]) and told["output"]
    assert limit - 4 < len(told["output"].encode()) <= limit


@pytest.mark.req("v1-terminal-07")
@pytest.mark.parametrize("limit", [5, 99, 1000])
async def test_field_bug_136_bytes_that_are_no_text_stay_within_the_limit(tmp_path: Path, limit: int) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x80" * 400)
    host = await begin(tmp_path)
    told = await ended(host, await create(host, "cat", "bytes", outputByteLimit=limit))
    assert told["truncated"] is True
    assert set(told["output"]) == {"\ufffd"} and len(told["output"].encode()) <= limit


async def test_field_bug_137_the_clients_own_limit_stands_above_the_agents(tmp_path: Path) -> None:
    host = await begin(tmp_path, Runs(LocalTerminals(output_bytes=50)))
    code = "print('x' * 1000)"
    for limit in ({"outputByteLimit": 10**12}, {}, {"outputByteLimit": None}):
        told = await ended(host, await python(host, code, **limit))
        assert (len(told["output"]), told["truncated"]) == (50, True)
    nothing = await ended(host, await python(host, code, outputByteLimit=0))
    assert (nothing["output"], nothing["truncated"]) == ("", True)
    assert (await ended(host, await create(host, "true", outputByteLimit=0)))["truncated"] is False


@pytest.mark.req("v1-terminal-14")
async def test_output_stays_in_the_transcript_after_the_release(tmp_path: Path) -> None:
    host = await begin(tmp_path)
    run, request = await host.prompt()
    terminal = await create(host, "echo", "hi")
    content = [{"type": "terminal", "terminalId": terminal}]
    host.send(host.update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "echo", "content": content}))
    await host.replies(WAIT, terminalId=terminal)
    await host.replies(RELEASE, terminalId=terminal)
    host.end(request)
    assert await run.end() == "end_turn"
    (shown,) = host.session.transcript.tool_calls["c"].content
    state = host.session.transcript.terminals[shown.terminal_id]  # type: ignore[union-attr]
    assert (state.text, state.command, state.cwd) == ("hi\n", "echo hi", str(tmp_path))
    assert state.exit_status is not None and state.exit_status.exit_code == 0


async def test_what_the_transcript_holds_of_a_talkative_command_is_bounded(tmp_path: Path) -> None:
    host = await begin(tmp_path, Runs(LocalTerminals(output_bytes=1000)))
    terminal = await python(host, "for n in range(100000): print(n)")
    await ended(host, terminal)
    state = host.session.transcript.terminals[terminal]
    assert len(state.output) <= 1000
    assert state.output.endswith(b"99998\n99999\n")


# --- what does not start ----------------------------------------------------------------------------------------------


@pytest.mark.req("v1-terminal-02")
async def test_field_bug_139_a_command_that_cannot_start_is_an_error_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    host = await begin(tmp_path)
    for wrong in (
        {"command": "no-such-cmd-xyz"},
        {"command": "true", "cwd": str(tmp_path / "missing")},
        {"command": "true", "cwd": str(tmp_path / "file")},
        {"command": "true", "cwd": "sub"},
        {"command": "true", "cwd": "/"},
        {"command": str(tmp_path / "file")},
        {"command": "a\0b"},
    ):
        assert (await host.replies(CREATE, **wrong))["error"]["code"] in (-32602, -32603)
    assert (await ended(host, await create(host, "echo", "hi")))["output"] == "hi\n"


async def test_field_bug_138_a_whole_line_without_arguments_is_for_the_shell(tmp_path: Path) -> None:
    tool = tmp_path / "my tool"
    tool.write_text("#!/bin/sh\necho tool\n")
    tool.chmod(0o755)
    host = await begin(tmp_path)
    assert (await ended(host, await create(host, "echo a && echo b")))["output"] == "a\nb\n"
    assert (await ended(host, await create(host, str(tool))))["output"] == "tool\n"
    assert (await ended(host, await create(host, "printf", "%s;", "a b", "&&")))["output"] == "a b;&&;"


async def test_a_session_has_so_many_terminals_and_no_more(tmp_path: Path) -> None:
    host = await begin(tmp_path, Runs(LocalTerminals(most=2)))
    first = await create(host, "true")
    await create(host, "true")
    assert "2 terminals" in (await host.replies(CREATE, command="true"))["error"]["message"]
    await host.replies(RELEASE, terminalId=first)
    await create(host, "true")


# --- who allows it ----------------------------------------------------------------------------------------------------


class Counting(Client):
    """Answers permission requests with yes; counts what it had to confirm."""

    def __init__(self, *rules: str, confirms: bool = False) -> None:
        self.terminals = LocalTerminals()
        self.policy = Policy(*rules)
        self.confirms = confirms
        self.confirmed: list[Subject] = []

    async def confirm(self, session: Session, subject: Subject) -> bool:
        self.confirmed.append(subject)
        return self.confirms

    async def request_permission(self, session: Session, request: RequestPermissionRequest) -> RequestPermissionOutcome:
        return SelectedOutcome(option_id="yes")


async def test_a_command_that_nobody_allowed_does_not_run(tmp_path: Path) -> None:
    for client in (Counting(), Counting("reject run:touch *", confirms=True), Counting("allow run:touch a")):
        host = await begin(tmp_path, client)
        reply = await host.replies(CREATE, command="touch", args=["b"])
        assert "not allowed" in reply["error"]["message"]
        assert host.session.terminals == {}
    assert not (tmp_path / "b").exists()


async def test_without_a_policy_each_command_is_for_the_client_to_confirm(tmp_path: Path) -> None:
    client = Counting(confirms=True)
    client.policy = None
    host = await begin(tmp_path, client)
    assert (await ended(host, await create(host, "echo", "a b")))["output"] == "a b\n"
    (asked,) = client.confirmed
    assert (asked.command, asked.cwd) == ("echo 'a b'", tmp_path)  # type: ignore[union-attr]


async def test_a_folder_that_leads_elsewhere_once_it_is_allowed_runs_nothing(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "out"
    (root / "sub").mkdir(parents=True)
    (root / "other").mkdir()
    outside.mkdir()
    for target in (outside, root / "other"):

        class Swapped(Client):
            terminals = LocalTerminals()

            async def confirm(self, session: Session, subject: Subject, target: Path = target) -> bool:
                (root / "sub").rename(root / f"was {target.name}")
                (root / "sub").symlink_to(target)
                return True

        host = await begin(root, Swapped())
        reply = await host.replies(CREATE, command="touch", args=["made"], cwd=str(root / "sub"))
        assert reply["error"]["code"] == -32602
        assert not (target / "made").exists() and host.session.terminals == {}
        (root / "sub").unlink()
        (root / "sub").mkdir()


async def test_a_line_for_the_shell_is_not_covered_by_a_rule_for_plain_words(tmp_path: Path) -> None:
    host = await begin(tmp_path, Counting("allow run:*"))
    assert "result" in await host.replies(CREATE, command="echo", args=["a; touch b"])
    assert "error" in await host.replies(CREATE, command="echo a; touch b")
    assert not (tmp_path / "b").exists()


async def test_a_yes_to_a_permission_request_is_good_for_one_run_of_that_command(tmp_path: Path) -> None:
    client = Counting()
    host = await begin(tmp_path, client)
    run, request = await host.prompt()
    call = {"toolCallId": "c", "title": "Run", "kind": "execute", "rawInput": {"command": "echo hi there"}}
    reply = await host.replies("session/request_permission", toolCall=call, options=OPTIONS)
    assert reply["result"]["outcome"] == {"outcome": "selected", "optionId": "yes"}
    assert "error" in await host.replies(CREATE, command="echo", args=["hi", "other"])
    assert "error" in await host.replies(CREATE, command="echo", args=["hi there"])
    assert (await ended(host, await create(host, "echo", "hi", "there")))["output"] == "hi there\n"
    assert "error" in await host.replies(CREATE, command="echo", args=["hi", "there"])
    assert len(client.confirmed) == 3
    await host.replies("session/request_permission", toolCall=call, options=OPTIONS)
    host.end(request)
    await run.end()
    # What was allowed for a turn is over with it.
    assert "error" in await host.replies(CREATE, command="echo", args=["hi", "there"])


HARMLESS = [{"name": "CLAUDECODE", "value": "1"}, {"name": "PAGER", "value": "cat"}]


async def test_a_rule_covers_no_command_with_variables_that_may_change_it(tmp_path: Path) -> None:
    host = await begin(tmp_path, Runs(policy=Policy("allow run:printf *")))
    await create(host, "printf", "%s", "x", env=HARMLESS)
    refused = await host.replies(CREATE, command="printf", args=["x"], env=[{"name": "PATH", "value": str(tmp_path)}])
    assert refused["error"]["message"] == "running this command was not allowed"


async def test_variables_stand_before_the_command_that_is_asked_about(tmp_path: Path) -> None:
    asked: list[Subject] = []

    class Asked(Runs):
        async def confirm(self, session: Session, subject: Subject) -> bool:
            asked.append(subject)
            return True

    host = await begin(tmp_path, Asked(policy=Policy()))
    await create(host, "printf", "x", env=[{"name": "LD_PRELOAD", "value": "/tmp/a b"}, *HARMLESS])
    assert asked == [Run("LD_PRELOAD='/tmp/a b' printf x", tmp_path)]
