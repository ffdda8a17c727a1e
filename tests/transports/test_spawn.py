"""Children: how they start, what is told of their end, what they may see, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from duologue.transports.base import TransportError
from duologue.transports.spawn import STDERR_TAIL, SpawnTransport
from procs import LINUX, alive, open_descriptors, zombies
from spawn_kit import Heard, pids_in, python, shell, spawned, until
from wire import PATIENCE

# --- the end of a child -----------------------------------------------------------------------------------------------


async def test_field_bug_143_the_reason_has_exit_code_stderr_and_command(tmp_path: Path) -> None:
    command = python(tmp_path, "import sys; sys.stderr.write('no licence\\n'); sys.exit(3)")
    async with spawned(command) as (_, heard):
        reason = await heard.end()
        assert (reason.exit_code, reason.signal) == (3, None)
        assert reason.stderr_tail == "no licence\n"
        text = str(reason)
        assert "exit code 3" in text and "no licence" in text and "agent.py" in text
    assert len(heard.reasons) == 1


async def test_a_child_that_was_killed_is_reported_by_its_signal(tmp_path: Path) -> None:
    command = python(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    async with spawned(command) as (_, heard):
        reason = await heard.end()
        assert (reason.exit_code, reason.signal) == (None, "SIGKILL")
        assert "ended by SIGKILL" in str(reason)


async def test_field_bug_143_a_child_that_closes_its_stdout_and_lives_on_ends_the_connection(tmp_path: Path) -> None:
    command = python(tmp_path, "import os, time; os.close(1); time.sleep(60)")
    async with spawned(command) as (transport, heard):
        reason = await heard.end()
        assert (reason.exit_code, reason.signal) == (None, None)
        assert "closed" in reason.detail
        assert transport.pid is not None and alive(transport.pid)
    assert not alive(transport.pid)


async def test_field_bug_150_a_child_that_died_is_noticed_though_a_grandchild_holds_its_stdout(tmp_path: Path) -> None:
    """The end of the stream does not come for a minute: the exit of the child counts."""
    code = """
        import subprocess, sys
        subprocess.Popen(["sleep", "60"], start_new_session=True)
        sys.stdout.write("last words"); sys.stdout.flush()
        sys.exit(4)
    """
    async with spawned(python(tmp_path, code)) as (_, heard):
        reason = await heard.end()
        assert reason.exit_code == 4
        assert bytes(heard.data) == b"last words"


async def test_field_bug_152_a_megabyte_of_stderr_does_not_block_the_child(tmp_path: Path) -> None:
    code = """
        import sys
        sys.stderr.write(("x" * 1023 + "\\n") * 1024 + "the end\\n")
        sys.stdout.write("ready"); sys.stdout.flush()
        sys.stdin.read()
    """
    pieces: list[int] = []
    async with spawned(python(tmp_path, code), on_stderr=lambda data: pieces.append(len(data))) as (_, heard):
        await until(lambda: heard.data == b"ready")
    await until(lambda: heard.reasons)
    assert sum(pieces) == 1024 * 1024 + len("the end\n")
    tail = heard.reasons[0].stderr_tail
    assert tail.endswith("the end\n")
    assert len(tail) <= STDERR_TAIL


async def test_stderr_that_is_no_text_is_shown_as_well_as_can_be(tmp_path: Path) -> None:
    command = python(tmp_path, "import os, sys; os.write(2, b'bad \\xff byte'); sys.exit(1)")
    async with spawned(command) as (_, heard):
        assert (await heard.end()).stderr_tail == "bad \ufffd byte"


# --- starting ---------------------------------------------------------------------------------------------------------


async def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(TransportError, match=r"command not found: no-such-agent \(command: no-such-agent --acp\)$"):
        await SpawnTransport(["no-such-agent", "--acp"]).start(Heard())
    with pytest.raises(TransportError, match=r"command not found: no-such-agent$"):
        await SpawnTransport(["no-such-agent"]).start(Heard())


async def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(TransportError, match=r"missing.*No such file"):
        await SpawnTransport([str(missing)]).start(Heard())


async def test_a_file_that_is_not_executable_is_named(tmp_path: Path) -> None:
    script = tmp_path / "agent"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(TransportError, match=r"agent.*Permission denied"):
        await SpawnTransport([str(script)]).start(Heard())


async def test_a_working_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TransportError, match=r"there is no folder .*/missing to start it in"):
        await SpawnTransport(["/bin/cat"], cwd=tmp_path / "missing").start(Heard())


async def test_a_launcher_that_finds_no_program_is_reported_with_127(tmp_path: Path) -> None:
    async with spawned(shell(tmp_path, "exec no-such-agent")) as (_, heard):
        reason = await heard.end()
        assert reason.exit_code == 127
        assert "no-such-agent" in reason.stderr_tail


def test_an_empty_command_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        SpawnTransport([])


async def test_closing_what_never_started_is_nothing() -> None:
    transport = SpawnTransport(["no-such-agent"])
    with pytest.raises(TransportError):
        await transport.start(Heard())
    await transport.close()
    transport.write(b"into the void")
    assert transport.buffered() == 0


async def test_field_bug_175_a_command_with_spaces_and_quotes_is_kept_as_a_list(tmp_path: Path) -> None:
    folder = tmp_path / "my dir 'é"
    folder.mkdir()
    command = python(folder, "import sys; sys.stdout.write(repr(sys.argv[1:])); sys.stdout.flush()")
    async with spawned([*command, "a b", '"c"', "$HOME", "*"], cwd=folder) as (_, heard):
        await heard.end()
        assert heard.data.decode() == repr(["a b", '"c"', "$HOME", "*"])


# --- nothing is left --------------------------------------------------------------------------------------------------


async def test_a_child_that_ends_when_its_stdin_does_is_told_nothing_else(tmp_path: Path) -> None:
    code = """
        import signal, sys
        signal.signal(signal.SIGTERM, lambda *_: sys.stdout.write("TERM"))
        sys.stdout.write("ready "); sys.stdout.flush()
        sys.stdin.read()
        sys.stdout.write("bye"); sys.stdout.flush()
    """
    async with spawned(python(tmp_path, code), grace_seconds=PATIENCE) as (_, heard):
        await until(lambda: heard.data == b"ready ")
    assert heard.data == b"ready bye"


async def test_what_was_written_before_the_close_still_reaches_the_child(tmp_path: Path) -> None:
    target = tmp_path / "got"
    code = f"import sys; open({str(target)!r}, 'wb').write(sys.stdin.buffer.read())"
    async with spawned(python(tmp_path, code), grace_seconds=PATIENCE) as (transport, _):
        transport.write(b"x" * 1_000_000)
    assert target.stat().st_size == 1_000_000


async def test_field_bug_151_a_child_that_ignores_eof_and_term_is_killed(tmp_path: Path) -> None:
    code = """
        import signal, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.stdout.write("ready"); sys.stdout.flush()
        while True: time.sleep(1)
    """
    async with spawned(python(tmp_path, code)) as (transport, heard):
        await until(lambda: heard.data == b"ready")
    assert transport.pid is not None
    assert not alive(transport.pid)


async def test_field_bug_146_a_launcher_that_does_not_exec_leaves_nothing(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    real = python(tmp_path, f"import os, time; open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n'); time.sleep(60)")
    launcher = shell(tmp_path, f"{' '.join(real)}\nexit 0\n")
    async with spawned(launcher) as (transport, _):
        (agent,) = await pids_in(pids)
        assert agent != transport.pid
    assert not alive(agent)


DEEP = """
    import os, subprocess, sys, time
    level = int(sys.argv[1])
    open({pids!r}, "a").write(f"{{os.getpid()}}\\n")
    if level:
        subprocess.Popen([sys.executable, "-S", __file__, str(level - 1)], **{options})
    while True: time.sleep(1)
"""


async def test_field_bug_147_a_tree_of_three_levels_is_ended(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = python(tmp_path, DEEP.format(pids=str(pids), options="{}"))
    async with spawned([*command, "2"]):
        tree = await pids_in(pids, 3)
    assert [pid for pid in tree if alive(pid)] == []


@LINUX
async def test_field_bug_148_a_grandchild_in_a_session_of_its_own_is_ended(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = python(tmp_path, DEEP.format(pids=str(pids), options="{'start_new_session': True}"))
    async with spawned([*command, "2"]):
        tree = await pids_in(pids, 3)
    assert [pid for pid in tree if alive(pid)] == []


@LINUX
async def test_a_tree_that_ignores_term_is_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    code = "    import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)" + DEEP
    command = python(tmp_path, code.format(pids=str(pids), options="{'start_new_session': True}"))
    async with spawned([*command, "1"]):
        tree = await pids_in(pids, 2)
    assert [pid for pid in tree if alive(pid)] == []


async def test_field_bug_150_a_grandchild_that_holds_the_pipes_does_not_hold_up_the_close(tmp_path: Path) -> None:
    """It left the group and lost its parent, so nobody may end it; nobody waits for it either."""
    pids = tmp_path / "pids"
    code = f"""
        import subprocess
        inner = 'sleep 60 & echo $! >> "{pids}"'
        subprocess.run(["setsid", "sh", "-c", inner])
    """
    async with spawned(python(tmp_path, code)) as (_, heard):
        (stray,) = await pids_in(pids)
        await heard.end()
    try:
        assert len(heard.reasons) == 1
    finally:
        os.kill(stray, signal.SIGKILL)


async def test_closing_twice_at_once_waits_for_the_one_end(tmp_path: Path) -> None:
    async with spawned(["/bin/cat"]) as (transport, _):
        await asyncio.wait_for(asyncio.gather(transport.close(), transport.close()), PATIENCE)
        assert transport.pid is not None and not alive(transport.pid)


async def test_a_close_that_is_cancelled_still_ends_the_child(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    async with spawned(python(tmp_path, code)) as (transport, heard):
        await until(lambda: heard.data)
        closing = asyncio.create_task(transport.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait({closing})
    assert transport.pid is not None and not alive(transport.pid)


async def test_field_bug_184_a_hundred_children_leave_no_zombie_and_no_descriptor() -> None:
    async with spawned(["/bin/cat"]):  # what the loop opens once is open now
        pass
    before = open_descriptors()
    for _ in range(10):
        await asyncio.gather(*(echo_once() for _ in range(10)))
    await until(lambda: open_descriptors() <= before)
    assert zombies() == []


async def echo_once() -> None:
    async with spawned(["/bin/cat"], grace_seconds=PATIENCE) as (transport, heard):
        transport.write(b"hello")
        await until(lambda: heard.data == b"hello")


async def test_failed_starts_leave_no_descriptor(tmp_path: Path) -> None:
    before = open_descriptors()
    for _ in range(20):
        with pytest.raises(TransportError):
            await SpawnTransport([str(tmp_path / "missing")]).start(Heard())
    assert open_descriptors() == before


# --- what a child sees ------------------------------------------------------------------------------------------------


async def test_field_bug_169_a_child_sees_no_secret_of_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "SECRET_X",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "LD_PRELOAD",
    ):
        monkeypatch.setenv(name, "leaked")
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    code = "import os, sys; sys.stdout.write(repr(dict(os.environ))); sys.stdout.flush()"
    async with spawned(python(tmp_path, code), env={"MY_KEY": "given"}) as (_, heard):
        await heard.end()
    seen = eval(heard.data.decode())
    assert "leaked" not in seen.values()
    assert seen["MY_KEY"] == "given"


async def test_the_callers_variables_win_over_the_inherited_ones(tmp_path: Path) -> None:
    code = "import os, sys; sys.stdout.write(os.environ['HOME']); sys.stdout.flush()"
    async with spawned(python(tmp_path, code), env={"HOME": "/elsewhere"}) as (_, heard):
        await heard.end()
        assert heard.data == b"/elsewhere"


async def test_the_command_is_looked_up_in_the_path_that_the_child_gets(tmp_path: Path) -> None:
    script = tmp_path / "my-agent"
    script.write_text("#!/bin/sh\necho found\n", encoding="utf-8")
    script.chmod(0o755)
    async with spawned(["my-agent"], env={"PATH": f"{tmp_path}:/bin:/usr/bin"}) as (_, heard):
        await heard.end()
        assert heard.data == b"found\n"


async def test_a_child_inherits_no_descriptor_but_its_three_streams(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    try:
        code = "import os, sys; sys.stdout.write(' '.join(sorted(os.listdir('/dev/fd')))); sys.stdout.flush()"
        async with spawned(python(tmp_path, code)) as (_, heard):
            await heard.end()
            # The fourth is the open folder itself.
            assert heard.data.decode().split() == ["0", "1", "2", "3"]
    finally:
        os.close(read_end)
        os.close(write_end)


# --- other event loops ------------------------------------------------------------------------------------------------


class WithoutSubprocesses(asyncio.SelectorEventLoop):
    """As Windows has it where a program asks for the selector loop: asyncio itself starts no process."""

    async def subprocess_exec(self, *args: Any, **more: Any) -> Any:
        raise NotImplementedError

    subprocess_shell = subprocess_exec


def test_field_bug_172_a_child_is_started_where_the_loop_starts_none(tmp_path: Path) -> None:
    async def talk() -> tuple[bytes, int | None]:
        with pytest.raises(NotImplementedError):
            await asyncio.create_subprocess_exec("true")
        async with spawned(python(tmp_path, "import sys; print(sys.stdin.readline().upper()); sys.exit(5)")) as both:
            transport, heard = both
            transport.write(b"hello\n")
            reason = await heard.end()
            return bytes(heard.data), reason.exit_code

    with asyncio.Runner(loop_factory=WithoutSubprocesses) as runner:
        data, code = runner.run(talk())
    assert (data.strip(), code) == (b"HELLO", 5)
