"""An agent that runs what it is told as a shell command, once the user has agreed, and shows the output as it comes."""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT

from duologue import Agent, Turn, run
from duologue.processes.environment import child_environment
from duologue.protocol import v2


class Runner(Agent):
    name = "runner"

    async def prompt(self, turn: Turn) -> None:
        line, folder = turn.text, turn.session.cwd
        async with turn.tool_call(line, kind=v2.ToolKind.EXECUTE) as call:
            subject = v2.CommandSubject(command=line, cwd=str(folder))
            if not await turn.ask_permission(f"Run this in {folder}?", subject=subject):
                await call.fail("not allowed")
                return
            terminal = await call.terminal(line, folder)
            # A session of its own, so that a cancel reaches all it starts; and no variable that may be a secret.
            process = await asyncio.create_subprocess_shell(
                line,
                cwd=folder,
                env=child_environment(),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
                start_new_session=True,
            )
            try:
                assert process.stdout is not None
                while data := await process.stdout.read(65536):
                    await terminal.write(data)
                status = await process.wait()
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
            await terminal.exited(status)
            if status:
                await call.fail()


if __name__ == "__main__":
    run(Runner())
