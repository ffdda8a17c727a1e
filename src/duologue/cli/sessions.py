"""`duologue sessions`: the sessions that an agent has kept, which `duologue run` can go on with."""

from __future__ import annotations

import argparse
import sys

from duologue.cli import starting
from duologue.cli.exits import Exit

DESCRIPTION = """\
List the sessions that an agent has kept of a folder, the last used first.

`duologue run --continue` goes on with the first of them, `duologue run --resume ID` with any."""

EPILOG = """\
examples:
  duologue sessions
  duologue sessions --all --json
  duologue sessions --agent "some-agent --acp"
  duologue run --continue "Run the tests"
  duologue run --resume ID "Run the tests"

It ends with the statuses of `duologue run`; 11 is an agent that does not list its sessions."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    starting.add_arguments(parser)
    parser.add_argument("--all", action="store_true", help="those of all folders, with their folders")
    parser.add_argument("--json", action="store_true", help="print what the agent tells of each as JSON, one a line")


def main(chosen: argparse.Namespace) -> int:
    """Check the command line, list, and give the exit status."""
    import asyncio

    from duologue.cli.listing import Everywhere, Listing
    from duologue.cli.visit import Start

    try:
        start = Start(json=chosen.json, **starting.start_of(chosen, "duologue sessions"))
    except ValueError as error:
        print(f"duologue sessions: {error}", file=sys.stderr)
        return Exit.USAGE
    return asyncio.run((Everywhere if chosen.all else Listing)(start).main())
