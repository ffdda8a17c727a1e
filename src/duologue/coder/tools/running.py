"""`run_command`."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from duologue.coder.commands import Command, Exit
from duologue.coder.errors import BadArguments, Stale
from duologue.coder.events import Location, ToolOutput
from duologue.coder.excerpt import Excerpt
from duologue.coder.texts import shorten
from duologue.coder.tools.base import CALL_TITLE_CHARACTERS, Arguments, Context, Outcome, Plan, tool
from duologue.local.rules import Run

#: Of what a model says for a person: what a command is for, and what it does.
PURPOSE_CHARACTERS = 80
DESCRIPTION_CHARACTERS = 1000


class RunCommand(Arguments, frozen=True):
    command: Annotated[str, Meta(min_length=1, description="Command line for `sh`.")]
    cwd: Annotated[str, Meta(description="Folder to run it in; the working folder when left out.")] = "."
    timeout: Annotated[float, Meta(gt=0, description="Seconds it may take.")] | None = None
    title: Annotated[str, Meta(description="What it is for, in a few words; shown beside the command.")] = ""
    description: Annotated[
        str, Meta(description="What it does and why, in plain words, where the command does not say it; for a person.")
    ] = ""


@tool(
    "run_command",
    "Run a shell command and wait for its end. Standard input is empty. What it leaves in the background is stopped "
    "when it ends. Long output is given with its middle left out.",
    "execute",
    RunCommand,
)
async def run_command(arguments: RunCommand, context: Context) -> Plan:
    place = context.workspace.folder(arguments.cwd)
    if not arguments.command.strip() or "\0" in arguments.command:
        raise BadArguments("the command is empty or holds a NUL character")
    seconds = min(arguments.timeout or context.limits.command_seconds, context.limits.command_seconds_most)
    command = Command(arguments.command, place.shown, seconds)

    async def perform(call: str) -> Outcome:
        if context.workspace.folder(place.shown).real != place.real:
            raise Stale(f"{place.name}: the folder is another one than when the command was shown; nothing was run")
        watch = Watch(call, context)
        end = await context.runner.run(command, watch.output)
        return outcome_of(watch.excerpt, end, seconds)

    return Plan(
        title=shorten(arguments.title, PURPOSE_CHARACTERS)
        or shorten(f"Run {arguments.command}", CALL_TITLE_CHARACTERS),
        subject=Run(arguments.command, place.real),
        perform=perform,
        locations=() if place.real == context.workspace.project else (Location(place.shown),),
        command=arguments.command,
        cwd=place.shown,
        description=shorten(arguments.description, DESCRIPTION_CHARACTERS),
    )


class Watch:
    """Passes a command's output on to the outside, and keeps what the model will get."""

    def __init__(self, call: str, context: Context) -> None:
        self._call = call
        self._context = context
        self._room = context.limits.output_stream
        self.excerpt = Excerpt(context.limits.output_head, context.limits.output_tail)

    async def output(self, data: bytes) -> None:
        self.excerpt.add(data)
        if self._room <= 0:
            return
        shown = data[: self._room]
        self._room -= len(data)
        await self._context.emit(ToolOutput(self._call, shown))
        if self._room <= 0:
            await self._context.emit(ToolOutput(self._call, b"\n[further output is not shown]\n"))


def outcome_of(excerpt: Excerpt, end: Exit, seconds: float) -> Outcome:
    output = excerpt.text()
    data: dict[str, Any] = {
        "exit_code": end.code,
        "signal": end.signal,
        "output": output,
        "truncated": excerpt.truncated,
        "timed_out": end.timed_out,
    }
    newline = "" if not output or output.endswith("\n") else "\n"
    text = f"{output}{newline}[{ending(end, seconds)}]"
    ok = end.code == 0 and not end.timed_out
    return Outcome(text, data, ok, shown=output, exit_code=end.code, signal=end.signal)


def ending(end: Exit, seconds: float) -> str:
    """How a command ended, in words for the model."""
    lingers = "; some of its processes could not be stopped" if end.lingers else ""
    if end.timed_out:
        return f"stopped after {seconds:g} seconds{lingers}"
    if end.signal:
        return f"ended by {end.signal}{lingers}"
    return f"exit code {end.code}{lingers}"
