"""Commands: output as it comes, an end in any case, nothing left behind, and no secrets in the environment."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from pathlib import Path

import pytest
from coder_kit import Bench, gone, written
from hypothesis import given
from hypothesis import strategies as st

from duologue.coder.commands import Command, Shell
from duologue.coder.environment import command_environment
from duologue.coder.errors import BadArguments, Stale, ToolError
from duologue.coder.events import ToolOutput
from duologue.coder.excerpt import Excerpt
from duologue.coder.limits import CoderLimits
from duologue.local.errors import PathRefused
from duologue.local.rules import Run
from procs import alive, zombies

QUICK = CoderLimits(stop_grace=0.5)


def streamed(bench: Bench) -> bytes:
    return b"".join(event.data for event in bench.events if isinstance(event, ToolOutput))


async def test_output_and_errors_come_in_order_with_the_exit_code(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    outcome = await bench.run("run_command", command="echo out; echo err >&2; echo end; exit 3")
    assert streamed(bench) == b"out\nerr\nend\n"
    assert outcome.data == {
        "exit_code": 3,
        "signal": None,
        "output": "out\nerr\nend\n",
        "truncated": False,
        "timed_out": False,
    }
    assert not outcome.ok
    assert outcome.text.endswith("[exit code 3]")


async def test_a_plan_says_command_and_folder_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    plan = await Bench(tmp_path).plan("run_command", command="touch x", cwd="sub")
    assert (plan.title, plan.command, plan.cwd) == ("Run touch x", "touch x", tmp_path / "sub")
    assert plan.subject == Run("touch x", tmp_path / "sub")
    assert not (tmp_path / "sub" / "x").exists()
    await plan.perform("c1")
    assert (tmp_path / "sub" / "x").exists()


async def test_output_is_passed_on_while_the_command_runs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    bench = Bench(tmp_path)
    work = asyncio.create_task(bench.run("run_command", command="echo first; read x < go; echo $x", timeout=20))
    for _ in range(500):
        if bench.events:
            break
        await asyncio.sleep(0.01)
    assert streamed(bench) == b"first\n"
    assert not work.done()
    await asyncio.to_thread((tmp_path / "go").write_text, "second\n")
    assert (await work).data["output"] == "first\nsecond\n"


async def test_standard_input_is_empty(tmp_path: Path) -> None:
    outcome = await Bench(tmp_path).run("run_command", command="cat; echo end", timeout=20)
    assert outcome.data["output"] == "end\n"


async def test_a_command_out_of_time_is_stopped_with_all_its_children(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=QUICK)
    command = "echo begun; (trap '' TERM; sh -c 'echo $$ > child; exec sleep 60'; sleep 60) & echo $! > sub; wait"
    outcome = await bench.run("run_command", command=command, timeout=0.6)
    assert outcome.data["timed_out"]
    assert outcome.data["exit_code"] is None
    assert not outcome.ok
    assert "stopped after 0.6 seconds" in outcome.text
    for name in ("child", "sub"):
        assert await gone(int((tmp_path / name).read_text()))


async def test_a_command_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=QUICK)
    outcome = await bench.run("run_command", command="trap '' TERM; while :; do sleep 0.1; done", timeout=0.3)
    assert outcome.data["signal"] == "SIGKILL"
    assert outcome.signal == "SIGKILL"


async def test_what_is_said_after_the_polite_signal_is_heard(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=QUICK)
    command = "trap 'echo bye; exit 7' TERM; echo hi; while :; do sleep 0.05; done"
    outcome = await bench.run("run_command", command=command, timeout=0.4)
    assert outcome.data["output"].endswith("bye\n")
    assert streamed(bench).decode() == outcome.data["output"]


async def test_a_child_that_keeps_the_pipe_open_does_not_hold_the_command_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=QUICK)
    begun = time.monotonic()
    outcome = await bench.run("run_command", command="sleep 60 & echo $! > pid; echo done", timeout=50)
    assert time.monotonic() - begun < 30
    assert outcome.data["output"] == "done\n"
    assert outcome.ok
    assert await gone(int((tmp_path / "pid").read_text()))


async def test_a_child_that_writes_for_ever_does_not_hold_the_command_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=QUICK)
    outcome = await bench.run("run_command", command="yes & echo $! > pid; exit 0", timeout=50)
    assert outcome.data["exit_code"] == 0
    assert await gone(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="descendants in other sessions are known on Linux only")
@pytest.mark.parametrize("how", ["time", "cancel"])
async def test_a_child_in_a_session_of_its_own_is_stopped_with_a_stopped_command(tmp_path: Path, how: str) -> None:
    bench = Bench(tmp_path, limits=QUICK)
    script = "import os; os.setsid(); print(os.getpid(), file=open('pid', 'w')); os.execlp('sleep', 'sleep', '60')"
    command = f'{sys.executable} -c "{script}" > /dev/null 2>&1 & sleep 60'
    work = asyncio.create_task(bench.run("run_command", command=command, timeout=2 if how == "time" else 60))
    pid = int(await written(tmp_path / "pid"))
    if how == "cancel":
        work.cancel()
    await asyncio.wait([work])
    assert await gone(pid)


async def test_cancelling_stops_the_group_before_the_caller_hears_of_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=QUICK)
    work = asyncio.create_task(bench.run("run_command", command="sleep 60 & echo $! > pid; wait"))
    pid = int(await written(tmp_path / "pid"))
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not alive(pid)


async def test_a_cancel_during_the_stop_still_kills(tmp_path: Path) -> None:
    shell = Shell(command_environment(), grace=30)
    command = Command("trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done", tmp_path, 60)

    async def ignore(data: bytes) -> None:
        pass

    work = asyncio.create_task(shell.run(command, ignore))
    pid = int(await written(tmp_path / "pid"))
    work.cancel()
    await asyncio.sleep(0.1)
    assert alive(pid)
    work.cancel()
    await asyncio.wait([work])
    assert await gone(pid)


async def test_no_zombies_stay(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=QUICK)
    for command, timeout in (("true", 9), ("kill -9 $$", 9), ("sleep 9", 0.1)):
        await bench.run("run_command", command=command, timeout=timeout)
    assert zombies() == []


async def test_a_signal_is_named(tmp_path: Path) -> None:
    outcome = await Bench(tmp_path).run("run_command", command="kill -9 $$")
    assert (outcome.exit_code, outcome.signal, outcome.ok) == (None, "SIGKILL", False)


async def test_a_large_output_is_streamed_whole_and_kept_at_both_ends(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=CoderLimits(output_head=100, output_tail=100))
    outcome = await bench.run("run_command", command="i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done")
    assert streamed(bench).count(b"\n") == 20000
    assert outcome.data["truncated"]
    assert outcome.data["output"].startswith("line 0\n")
    assert outcome.data["output"].endswith("line 19999\n")
    assert re.search(r"\[\.\.\. \d+ bytes left out \.\.\.\]", outcome.data["output"])


async def test_the_live_stream_has_a_limit_but_the_command_runs_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=CoderLimits(output_stream=100_000))
    outcome = await bench.run("run_command", command="head -c 3000000 /dev/zero; echo; echo end", timeout=60)
    assert len(streamed(bench)) < 100_100
    assert streamed(bench).endswith(b"[further output is not shown]\n")
    assert outcome.data["output"].endswith("end\n")


async def test_a_slow_reader_makes_the_command_wait(tmp_path: Path) -> None:
    taken = 0
    hold = asyncio.Event()

    async def slow(data: bytes) -> None:
        nonlocal taken
        taken += len(data)
        await hold.wait()

    work = asyncio.create_task(Shell().run(Command("yes", tmp_path, 60), slow))
    await asyncio.sleep(0.5)
    assert 0 < taken <= 64 * 1024
    hold.set()
    work.cancel()
    await asyncio.wait([work])


async def test_other_work_goes_on_while_a_command_floods(tmp_path: Path) -> None:
    bench = Bench(tmp_path, limits=CoderLimits(output_stream=1000))
    work = asyncio.create_task(bench.run("run_command", command="yes", timeout=1))
    turns = 0
    while not work.done():
        turns += 1
        await asyncio.sleep(0.01)
    assert turns > 10


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"command": "  "}, BadArguments),
        ({"command": ""}, BadArguments),
        ({"command": "a\0b"}, BadArguments),
        ({"command": "true", "timeout": 0}, BadArguments),
        ({"command": "true", "timeout": "5"}, BadArguments),
        ({"command": "true", "cwd": "none"}, PathRefused),
        ({"command": "true", "cwd": "file"}, PathRefused),
        ({"command": "true", "cwd": ".."}, PathRefused),
    ],
)
async def test_commands_that_cannot_be_meant_are_refused(
    tmp_path: Path, arguments: dict[str, object], error: type[Exception]
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(error):
        await Bench(tmp_path).plan("run_command", **arguments)


async def test_a_command_that_cannot_start_is_an_error_of_the_call(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="could not be started"):
        await Bench(tmp_path).run("run_command", command="true " + "x" * 3_000_000)


async def test_a_folder_swapped_for_another_since_the_question_is_not_used(tmp_path: Path) -> None:
    for name in ("sub", "other"):
        (tmp_path / name).mkdir()
    plan = await Bench(tmp_path).plan("run_command", command="touch x", cwd="sub")
    (tmp_path / "sub").rmdir()
    (tmp_path / "sub").symlink_to("other")
    with pytest.raises(Stale):
        await plan.perform("c1")
    assert not (tmp_path / "other" / "x").exists()


async def test_secrets_do_not_reach_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "ANTHROPIC_API_KEY": "leak1",
        "GITHUB_TOKEN": "leak2",
        "SECRET_X": "leak3",
        "DATABASE_URL": "leak4",
        "LC_API_KEY": "leak5",
        "https_proxy": "http://user:leak6@proxy",
        "BASH_ENV": "leak7",
        "LD_PRELOAD": "",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    command = "env; cat /proc/self/environ 2>/dev/null | tr '\\0' '\\n'"
    outcome = await Bench(tmp_path).run("run_command", command=command)
    seen = dict(line.split("=", 1) for line in outcome.data["output"].splitlines() if "=" in line)
    assert "leak" not in outcome.data["output"]
    assert not secrets.keys() & seen.keys()
    assert (seen["TERM"], seen["LC_TIME"], seen["http_proxy"]) == ("dumb", "C", "http://proxy:3128")
    assert seen["HOME"] == os.environ["HOME"]
    assert seen["PWD"] == str(tmp_path)


def test_a_host_can_pass_names_but_not_secrets_by_name_and_anything_by_value() -> None:
    parent = {"EDITOR_HOME": "/e", "MY_TOKEN": "t", "PATH": "/bin:.::bin:/usr/bin"}
    seen = command_environment(parent, names=["EDITOR_HOME", "MY_TOKEN"], values={"OTHER_TOKEN": "given"})
    assert seen["EDITOR_HOME"] == "/e"
    assert "MY_TOKEN" not in seen
    assert seen["OTHER_TOKEN"] == "given"
    assert seen["PATH"] == "/bin:/usr/bin"


async def test_a_program_of_the_project_does_not_stand_in_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ls").write_text("#!/bin/sh\necho mine\n")
    (tmp_path / "ls").chmod(0o755)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    outcome = await Bench(tmp_path).run("run_command", command="ls")
    assert outcome.data["output"] == "ls\n"


@given(st.text("aé→😀", max_size=30), st.integers(0, 12), st.integers(0, 12), st.integers(1, 5))
def test_an_excerpt_cuts_no_character(text: str, head: int, tail: int, size: int) -> None:
    excerpt = Excerpt(head, tail)
    data = text.encode()
    for position in range(0, len(data), size):
        excerpt.add(data[position : position + size])
    shown = excerpt.text()
    assert "�" not in shown
    if len(data) <= head + tail:
        assert shown == text
        assert not excerpt.truncated
        return
    assert excerpt.truncated
    start, notice, end = re.split(r"\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n", shown)
    assert text.startswith(start)
    assert text.endswith(end)
    assert len(start.encode()) <= head
    assert len(end.encode()) <= tail
    assert int(notice) == len(data) - len(start.encode()) - len(end.encode())


def test_bytes_that_are_no_text_are_replaced() -> None:
    excerpt = Excerpt(4, 4)
    excerpt.add(b"\xff\x80\x80\x80\x80ab\xe9\x80\x80\x80")
    assert "�" in excerpt.text()
