"""The command line as a whole: its help, and the way to a subcommand."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from duologue.cli import agent, check, run, sessions, try_edits
from duologue.cli.exits import Exit
from duologue.cli.help import Help
from duologue.version import __version__

DESCRIPTION = "The Agent Client Protocol on the command line: a coding agent for editors, and a client for any agent."

EPILOG = """\
examples:
  duologue run "Explain this project"        the built-in agent works in the current folder
  duologue run "Fix the failing test"        it asks before it changes a file or runs a command
  duologue run --continue "Now add a test"   it goes on with the last session of this folder
  duologue run --agent "some-agent --acp" "Explain this project"
  duologue agent                             what an editor starts
  duologue check agent -- some-agent --acp   which requirements of the protocol an agent keeps

`duologue COMMAND --help` tells more, with examples of its own."""


def dispatch(argv: Sequence[str]) -> int:
    """Read the command line and run the subcommand; the exit status."""
    parser = argparse.ArgumentParser(
        prog="duologue",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=Help,
    )
    parser.add_argument("--version", action="version", version=f"duologue {__version__}")
    parsers: dict[str, argparse.ArgumentParser] = {}
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, module, summary in (
        ("run", run, "let an agent work on one request, in this terminal"),
        ("sessions", sessions, "list the sessions that an agent has kept"),
        ("agent", agent, "serve the coding agent, for an editor to start"),
        ("check", check, "tell which requirements of the protocol a program keeps"),
        ("try-edits", try_edits, "what the offline model runs to find the repair of a failing test"),
    ):
        command = commands.add_parser(
            name,
            help=summary,
            description=module.DESCRIPTION,
            epilog=module.EPILOG,
            formatter_class=Help,
        )
        module.add_arguments(command)
        command.set_defaults(main=module.main)
        parsers[name] = command
    if argv[:1] == ["help"]:
        argv = [*argv[1:], "--help"]
    chosen, left = parser.parse_known_args(argv)
    if left:
        # By the subcommand, whose usage is the one that helps.
        command = parsers.get(chosen.command, parser)
        command.error(f"unrecognized arguments: {' '.join(left)}{_advice(command, left[0])}")
    if chosen.command is None:
        # The whole help, and still the status of a command line that asks for nothing.
        parser.print_help(sys.stderr)
        return Exit.USAGE
    # `agent` does not come here but for its help, see `duologue.cli.main`.
    status: int = chosen.main(chosen)
    return status


def _advice(command: argparse.ArgumentParser, word: str) -> str:
    """What may have been meant by a word that the command does not know."""
    if not word.startswith("-"):
        return "; put the request in quotes" if command.prog == "duologue run" else ""
    import difflib

    options = re.findall(r"--[a-z-]+", command.format_help())
    near = difflib.get_close_matches(word.partition("=")[0], options, n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""
