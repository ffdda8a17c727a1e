"""Run a command and show what it said."""

from __future__ import annotations

import re

from duologue.coder.models.offline.turn import Turn

SHOWN_LINES = 60


async def run(turn: Turn, command: str) -> None:
    """Run one shell line."""
    data = await turn.run(command)
    turn.has_run_commands = True
    await turn.say(
        f"`{command}` {ending(data['exit_code'], data['signal'], data['timed_out'])}.\n\n{block(str(data['output']))}"
    )


def ending(exit_code: int | None, signal: str | None, timed_out: bool) -> str:
    if timed_out:
        return "did not end in time and was stopped"
    if signal:
        return f"was ended by {signal}"
    return "ended well" if exit_code == 0 else f"ended with exit code {exit_code}"


def block(output: str, most: int = SHOWN_LINES) -> str:
    """The end of an output, in a code block."""
    lines = output.rstrip().splitlines()
    if not lines:
        return "It printed nothing.\n"
    cut = f"(the last {most} of {len(lines)} lines)\n" if len(lines) > most else ""
    return cut + fenced("\n".join(lines[-most:]))


def fenced(text: str, language: str = "") -> str:
    """A code block; its fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"
