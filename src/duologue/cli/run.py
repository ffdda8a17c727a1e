"""`duologue run`: one request to any ACP agent, shown in the terminal as the agent works on it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from duologue.cli.exits import Exit, table

if TYPE_CHECKING:
    from duologue.peer.link import Trace

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
    parser.add_argument("--agent", metavar="CMD", help="the agent's command line (the built-in agent)")
    parser.add_argument("--cwd", metavar="DIR", type=Path, default=Path(), help="the project folder (this one)")
    parser.add_argument("--protocol", choices=("1", "2", "auto"), default="1", help="the version to propose (1)")
    parser.add_argument("--model", metavar="M", help="the model, such as offline or openai:NAME")
    parser.add_argument(
        "--allow", metavar="RULE", action="append", default=[], help="allow what the rule covers; may be repeated"
    )
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--yes", action="store_true", help="allow everything else, once each")
    others.add_argument("--reject", "--deny", action="store_true", help="refuse everything else")
    parser.add_argument("--json", action="store_true", help="print session updates (version 2) as JSON, one a line")
    parser.add_argument(
        "--env",
        metavar="NAME[=VALUE]",
        action="append",
        default=[],
        help="pass a variable on to the agent, which gets no others that may hold secrets",
    )
    parser.add_argument("--timeout", metavar="S", type=float, help="cancel when it takes more than S seconds")
    parser.add_argument("--log", metavar="FILE", type=Path, help="append every message to FILE, without keys")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="show all that tools give, and what the agent writes to standard error",
    )


def main(chosen: argparse.Namespace) -> int:
    """Check the command line, run the turn, and give the exit status."""
    from duologue.cli.running import Order, run_order
    from duologue.local.rules import parse_rule

    try:
        order = Order(
            request=_request(chosen.request),
            command=_command(chosen.agent, chosen.model),
            cwd=_folder(chosen.cwd),
            protocol="auto" if chosen.protocol == "auto" else 2 if chosen.protocol == "2" else 1,
            env=_environment(chosen.env, own=chosen.agent is None),
            rules=tuple(parse_rule(rule) for rule in chosen.allow),
            otherwise="yes" if chosen.yes else "reject" if chosen.reject else "ask",
            model=chosen.model if chosen.agent is not None else None,
            json=chosen.json,
            timeout=_seconds(chosen.timeout),
            verbose=chosen.verbose,
            trace=_trace(chosen.log),
        )
    except ValueError as error:
        print(f"duologue run: {error}", file=sys.stderr)
        return Exit.USAGE
    return run_order(order)


def _request(text: str) -> str:
    if text == "-" and sys.stdin is None:
        raise ValueError("standard input is closed: give the request on the command line")
    request = sys.stdin.read() if text == "-" else text
    if not request.strip():
        raise ValueError("the request is empty: say what the agent is to do")
    return request


def _command(agent: str | None, model: str | None) -> list[str]:
    if agent is None:
        # -P: the project folder must not be searched for modules of ours.
        own = [sys.executable, "-P", "-m", "duologue", "agent"]
        return own if model is None else [*own, "--model", model]
    import shlex

    try:
        words = shlex.split(agent)
    except ValueError as error:
        raise ValueError(f"--agent {agent!r}: {error}; quote it as for a shell: --agent 'my-agent --flag'") from None
    if not words:
        raise ValueError("--agent: the command is empty")
    return words


def _seconds(timeout: float | None) -> float | None:
    if timeout is not None and not timeout > 0:
        raise ValueError("--timeout: give a number of seconds above zero")
    return timeout


def _trace(log: Path | None) -> Trace | None:
    if log is None:
        return None
    from duologue.cli.log import log_to

    return log_to(log.expanduser(), "duologue run")


def _folder(path: Path) -> Path:
    folder = path.expanduser().absolute()
    if not folder.is_dir():
        raise ValueError(f"--cwd: there is no such folder: {path}")
    return folder


#: What the built-in agent is configured by; it gets these without --env.
OWN_VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "PYTHONPATH")
OWN_PREFIX = "DUOLOGUE_"


def _environment(named: list[str], *, own: bool) -> Mapping[str, str]:
    import os

    passed: dict[str, str] = {}
    if own:
        passed = {
            name: value for name, value in os.environ.items() if name in OWN_VARIABLES or name.startswith(OWN_PREFIX)
        }
    for entry in named:
        name, equals, value = entry.partition("=")
        if not name or (not equals and name not in os.environ):
            raise ValueError(f"--env {entry}: give NAME=VALUE, or NAME of a variable that is set here")
        passed[name] = value if equals else os.environ[name]
    return passed
