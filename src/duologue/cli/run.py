"""`duologue run`: one request to any ACP agent, shown in the terminal as the agent works on it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from duologue.cli import starting
from duologue.cli.exits import Exit, table

if TYPE_CHECKING:
    from duologue.cli.resuming import Resume

DESCRIPTION = """\
Start an agent, give it one request, and show what it says and does. It asks for permission here.

Without --agent it is the built-in coding agent, which needs no network with its offline model."""

EPILOG = f"""\
examples:
  duologue run "Find the failing test and fix it"
  duologue run --cwd ~/project --allow 'edit:src/**' --allow 'run:pytest *' "Fix the failing test"
  duologue run --agent "some-agent --acp" --env SOME_API_KEY "Explain it"
  duologue run --yes --json "Add a test for parse()" | jq .sessionUpdate
  git diff | duologue run --reject -
  duologue run --continue "Now add a test for it"

rules (--allow):
  edit:src/**             change files below src
  delete:build/**         delete files, or move them away
  run:make test           this command
  run:pytest *            this command with any further words
  reject run:git push *   refuse it, whatever else allows it

A rule is held against the files and the command of a request, never against its title.

exit status:
{table()}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("request", help="what the agent is to do; - reads it from standard input")
    starting.add_arguments(parser)
    earlier = parser.add_mutually_exclusive_group()
    earlier.add_argument(
        "--continue", dest="last", action="store_true", help="go on with the last session of the project folder"
    )
    earlier.add_argument("--resume", metavar="ID", help="go on with this session; `duologue sessions` lists them")
    parser.add_argument("--model", metavar="M", help="the model, such as offline or openai:NAME")
    parser.add_argument(
        "--allow", metavar="RULE", action="append", default=[], help="allow what the rule covers; may be repeated"
    )
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--yes", action="store_true", help="allow everything else, once each")
    others.add_argument("--reject", "--deny", action="store_true", help="refuse everything else")
    parser.add_argument("--json", action="store_true", help="print session updates (version 2) as JSON, one a line")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="show all that tools give, and what the agent writes to standard error",
    )


def main(chosen: argparse.Namespace) -> int:
    """Check the command line, run the turn, and give the exit status."""
    from duologue.cli.running import Order, run_order
    from duologue.local.rules import parse_rule

    resume = _resume(chosen)
    own_model = () if chosen.agent is not None or chosen.model is None else ("--model", chosen.model)
    try:
        order = Order(
            request=_request(chosen.request),
            rules=tuple(parse_rule(rule) for rule in chosen.allow),
            otherwise="yes" if chosen.yes else "reject" if chosen.reject else "ask",
            # The built-in agent begins a session with it; one that is there has a model already.
            model=chosen.model if chosen.agent is not None or resume is not None else None,
            json=chosen.json,
            verbose=chosen.verbose,
            resume=resume,
            **starting.start_of(chosen, "duologue run", *own_model),
        )
    except ValueError as error:
        print(f"duologue run: {error}", file=sys.stderr)
        return Exit.USAGE
    return run_order(order)


def _resume(chosen: argparse.Namespace) -> Resume | None:
    if not chosen.last and chosen.resume is None:
        return None
    from duologue.cli.resuming import Resume

    return Resume(chosen.resume)


def _request(text: str) -> str:
    if text == "-" and sys.stdin is None:
        raise ValueError("standard input is closed: give the request on the command line")
    request = sys.stdin.read() if text == "-" else text
    if not request.strip():
        raise ValueError("the request is empty: say what the agent is to do")
    return request
