"""`duologue run`: one request to any ACP agent, shown in the terminal as the agent works on it."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from duologue.cli import servers, starting
from duologue.cli.exits import Exit, table

if TYPE_CHECKING:
    from duologue.cli.resuming import Resume

DESCRIPTION = """\
Start an agent, give it one request, and show what it says and does. It asks for permission here.

Without --agent it is the built-in coding agent, which needs no network with its offline model."""

EPILOG = f"""\
examples:
  duologue run "Find the failing test and fix it"
  duologue run --allow 'edit:src/**' --allow 'run:python3 -m pytest *' --allow 'run:duologue try-edits *' \
"Fix the failing test"
  duologue run --agent "some-agent --acp" --env SOME_API_KEY "Explain it"
  duologue run --yes --json "Add a test for parse()" | jq .sessionUpdate
  git diff | duologue run --reject -
  duologue run --continue "Now add a test for it"
  duologue run --mcp 'files=/path/to/server --root .' --mcp-env files=API_TOKEN "List the notes"
  duologue run --mcp docs=http://127.0.0.1:8000/mcp --allow 'use:docs__*' "Look it up"

rules (--allow):
  edit:src/**             change files below src
  delete:build/**         delete files, or move them away
  run:make test           this command
  run:pytest *            this command with any further words
  use:SERVER__*           the tools of an MCP server
  reject run:git push *   refuse it, whatever else allows it

A rule is held against the files and the command of a request, never against its title.

exit status:
{table()}"""


NO_TEXT = "the request is no text in UTF-8"


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
    servers.add_arguments(parser)
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

    own_model = () if chosen.agent is not None or chosen.model is None else ("--model", chosen.model)
    try:
        resume = _resume(chosen)
        if chosen.model is not None and not chosen.model.strip():
            raise ValueError("--model: the name is empty: give one such as offline or openai:NAME, or leave it out")
        if chosen.mcp and chosen.agent is None:
            servers.check_library()
        order = Order(
            request=_request(chosen.request),
            rules=tuple(parse_rule(rule) for rule in chosen.allow),
            otherwise="yes" if chosen.yes else "reject" if chosen.reject else "ask",
            # The built-in agent begins a session with it; one that is there has a model already.
            model=chosen.model if chosen.agent is not None or resume is not None else None,
            json=chosen.json,
            verbose=chosen.verbose,
            resume=resume,
            mcp_servers=servers.servers_of(chosen, os.environ),
            **starting.start_of(chosen, "duologue run", *own_model),
        )
    except ValueError as error:
        print(f"duologue run: {error}", file=sys.stderr)
        return Exit.USAGE
    return run_order(order)


def _resume(chosen: argparse.Namespace) -> Resume | None:
    if not chosen.last and chosen.resume is None:
        return None
    if chosen.resume is not None and not chosen.resume.strip():
        raise ValueError("--resume: the id is empty: `duologue sessions` lists those that there are")
    from duologue.cli.resuming import Resume

    return Resume(chosen.resume)


def _request(text: str) -> str:
    if text == "-":
        text = _standard_input()
    try:
        text.encode()
    except UnicodeEncodeError:  # bytes of another encoding, which the command line passes on as halves of characters
        raise ValueError(NO_TEXT) from None
    if not text.strip():
        raise ValueError("the request is empty: say what the agent is to do")
    return text


def _standard_input() -> str:
    if sys.stdin is None:
        raise ValueError("standard input is closed: give the request on the command line")
    if sys.stdin.isatty() and sys.stderr is not None:
        print("duologue run: type the request, and end it with Ctrl-D on a line of its own", file=sys.stderr)
    try:
        return sys.stdin.read()
    except UnicodeDecodeError:
        raise ValueError(NO_TEXT) from None
    except OSError as error:
        raise ValueError(f"standard input cannot be read: {error.strerror}") from None
