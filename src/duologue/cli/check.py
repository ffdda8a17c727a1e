"""`duologue check`: tells which requirements of the protocol a program keeps."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duologue.cli.given import add_env, command_words, count, seconds, variables
from duologue.cli.progress import Line, Lines
from duologue.cli.screen import Screen, can_erase, printable, wants_colour
from duologue.local.masking import mask_text

if TYPE_CHECKING:
    from duologue.check.reports import Report
    from duologue.check.run import Choice

DESCRIPTION = """\
Start a program, talk to it, and tell which requirements of the Agent Client Protocol it keeps.

An agent is started anew for each probe. It is asked, in plain words, to read a file and to run harmless commands in
folders made for that; what it does not do is not judged. The command of a client has {agent} where the agent's command
line goes: the check plays that agent."""

EPILOG = """\
examples:
  duologue check agent -- duologue agent --model offline
  duologue check agent --protocol 1 --only prompt --only all-jsonrpc-07 -- some-agent --acp
  duologue check agent --report report.html --report report.xml --env SOME_API_KEY -- some-agent
  duologue check client -- duologue run --agent '{agent}' --yes hello

exit status:
  0    nothing that was judged fails (there may be warnings)
  1    something fails
  2    the check could not be made: the command line is wrong, the program does not start or speaks another version
  130  interrupted (Ctrl-C, SIGTERM)"""

#: What the first words of a line are painted in.
STYLES = {"FAIL": "red", "WARN": "yellow"}
FAILED, IMPOSSIBLE, INTERRUPTED = 1, 2, 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    # An error names it by this, and by nothing that the help does not have.
    parser.add_argument("side", choices=("agent", "client"), metavar="agent|client", help="what the program is")
    parser.add_argument("program", nargs="+", metavar="CMD", help="its command line, after --")
    parser.add_argument("--protocol", choices=("1", "2", "both"), default="both", help="the version to check (both)")
    parser.add_argument(
        "--only",
        metavar="AREA|ID",
        action="append",
        default=[],
        help="judge this alone; may be repeated. Where what is said counts, all probes run all the same",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="write a report as .json, .xml (JUnit) or .html; may be repeated",
    )
    parser.add_argument("--timeout", metavar="S", type=seconds, default=30.0, help="how long an answer may take (30)")
    parser.add_argument("--jobs", metavar="N", type=count, default=4, help="probes that run side by side (4)")
    add_env(parser, "program")
    parser.add_argument("--verbose", action="store_true", help="name what was skipped, too")
    parser.add_argument("--quiet", action="store_true", help="do not say on standard error how far it has come")


def main(chosen: argparse.Namespace) -> int:
    """Check the command line, then the program; the exit status."""
    import asyncio

    try:
        choice, env = _choice(chosen), variables(chosen.env)
    except ValueError as error:
        print(f"duologue check: {error}", file=sys.stderr)
        return IMPOSSIBLE
    try:
        return asyncio.run(_until_stopped(_check(chosen, choice, env)))
    except KeyboardInterrupt:
        return INTERRUPTED


async def _until_stopped(work: Coroutine[Any, Any, int]) -> int:
    """The status of the work. A signal to stop ends what it started and deletes its folders; a second one hurries."""
    import asyncio

    from duologue.processes.stops import stop_signals

    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        loop.call_soon_threadsafe(task.cancel)

    with stop_signals(stop, stop):
        try:
            return await task
        except asyncio.CancelledError:
            return INTERRUPTED


def _choice(chosen: argparse.Namespace) -> Choice:
    from duologue.check.reports import FORMATS
    from duologue.check.rows import AREAS, ROWS
    from duologue.check.run import Choice

    for name in chosen.only:
        if name not in ROWS and name not in AREAS:
            raise ValueError(f"--only {name}: there is no such requirement; the areas are {', '.join(AREAS)}")
    for file in chosen.report:
        if file.suffix not in FORMATS:
            raise ValueError(f"--report {file}: give a name that ends in {', '.join(FORMATS)}")
        try:
            there = file.parent.is_dir()
        except PermissionError:
            raise ValueError(f"--report {file}: this user may not enter the folder") from None
        if not there:
            raise ValueError(f"--report {file}: there is no such folder")
    versions = (1, 2) if chosen.protocol == "both" else (int(chosen.protocol),)
    return Choice(versions, frozenset(chosen.only))


async def _check(chosen: argparse.Namespace, choice: Choice, env: Mapping[str, str]) -> int:
    from duologue.check.judging import Failed
    from duologue.check.programs import check_program
    from duologue.transports.base import TransportError

    progress = _progress(chosen.quiet)
    try:
        report = await check_program(
            chosen.side, _words(chosen.program), choice, chosen.timeout, jobs=chosen.jobs, env=env, progress=progress
        )
    except (Failed, TransportError, ValueError) as error:
        if progress is not None:
            progress.end()
        print(f"duologue check: {printable(mask_text(str(error)))}", file=sys.stderr)
        for line in error.lines if isinstance(error, Failed) else ():
            print(f"  {printable(str(line))}", file=sys.stderr)
        return IMPOSSIBLE
    if progress is not None:
        progress.end()
    return _tell(report, chosen)


def _words(program: list[str]) -> list[str]:
    """The command line; one word with spaces is taken apart as a shell would."""
    return command_words("CMD", program[0]) if len(program) == 1 else program


def _progress(quiet: bool) -> Line | Lines | None:
    """How far it has come, on standard error."""
    if quiet or sys.stderr is None:
        return None
    screen = Screen(sys.stderr, colour=wants_colour(sys.stderr))
    return Line(screen) if can_erase(sys.stderr) else Lines(screen)


def _tell(report: Report, chosen: argparse.Namespace) -> int:
    from duologue.check.reports import text, written

    # A stream is None when the program was started with it closed.
    stream = sys.stdout or sys.stderr or io.StringIO()
    told = io.StringIO()
    screen = Screen(told, colour=wants_colour(stream))
    for line in text(report, verbose=chosen.verbose):
        word, space, rest = printable(line).partition(" ")
        screen.line(screen.paint(word, STYLES[word]) + space + rest if word in STYLES else f"{word}{space}{rest}")
    lost = False
    try:
        stream.write(told.getvalue())
        stream.flush()
    except BrokenPipeError:
        # Its reader has seen enough.
        pass
    except OSError as error:
        lost = True
        print(f"duologue check: standard output: {error.strerror}", file=sys.stderr)
    for file in chosen.report:
        try:
            file.write_text(written(report, file.suffix), encoding="utf-8")
        except OSError as error:
            print(f"duologue check: {file}: {error.strerror}", file=sys.stderr)
            return IMPOSSIBLE
    return IMPOSSIBLE if lost else FAILED if report.failed else 0
