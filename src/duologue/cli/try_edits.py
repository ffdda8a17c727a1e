"""`duologue try-edits`: what the offline model runs, with permission, to find the repair of a failing test."""

from __future__ import annotations

import argparse
import os
import sys

from duologue.cli.exits import Exit

DESCRIPTION = """\
Copy the project of this folder to a temporary one, try small edits of its code there, and run its tests with each.

The offline model runs this, after it was allowed to, to find out which edit repairs a failing test. It tells what it
found in a form for programs. Nothing in this folder is changed, as far as the tests change nothing; the copy is
deleted."""

EPILOG = """\
examples:
  duologue try-edits --suite=pytest tests/test_app.py::test_total
  duologue run --allow 'run:duologue try-edits *' "Fix the failing test"

It needs the project's own Python, which need not have Duologue. The status is that Python's, and 2 where there is no
such program."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from duologue.coder.models.offline.repair.command import OPTIONS

    parser.add_argument("failing", nargs="*", metavar="TEST", help="tests that are known to fail (all are run)")
    parser.add_argument("--python", metavar="CMD", default="python3", help="the project's Python (python3)")
    for option in OPTIONS:
        action = "append" if option.kind is list else "store"
        kind = str if option.kind is list else option.kind
        choices = ("pytest", "unittest") if option.member == "kind" else None
        parser.add_argument(
            option.name,
            dest=option.member,
            metavar=option.metavar,
            action=action,
            type=kind,
            choices=choices,
            required=choices is not None,
            help=option.help,
        )


def main(chosen: argparse.Namespace) -> int:
    """Become the program that does it."""
    from duologue.coder.models.offline.repair.command import OPTIONS, lab_words

    given = {option.member: getattr(chosen, option.member) for option in OPTIONS}
    job = {member: value for member, value in given.items() if value is not None}
    try:
        root = os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        print("duologue try-edits: the folder that this program works in was removed", file=sys.stderr)
        return Exit.USAGE
    words = lab_words(chosen.python, {**job, "failing": chosen.failing, "root": root})
    sys.stdout.flush()
    try:
        os.execvp(words[0], words)
    except OSError as error:
        print(f"duologue try-edits: --python {chosen.python}: {error.strerror}", file=sys.stderr)
        return Exit.USAGE
