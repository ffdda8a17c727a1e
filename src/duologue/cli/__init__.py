"""The `duologue` command. One file a subcommand; what a subcommand needs is imported when it is chosen."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit status. `argv` is what follows the program's name."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == ["agent"] and not {"-h", "--help"} & set(arguments):
            return _agent(arguments[1:])
        from duologue.cli.commands import dispatch

        return dispatch(arguments)
    except KeyboardInterrupt:  # before the subcommand looks out for it by itself
        return 130
    except RuntimeError as error:
        # Before Python 3.12, what `__set_name__` raises becomes this: classes are made while a command is loaded.
        if isinstance(error.__cause__, KeyboardInterrupt):
            return 130
        raise


def _agent(arguments: list[str]) -> int:
    # Before anything else is loaded: from here on nothing that prints can reach the wire.
    from duologue.transports.claim import claim_stdio

    at_terminal = sys.stdin is not None and sys.stdin.isatty()
    try:
        claim_stdio()
    except OSError as error:
        if sys.stderr is not None:
            print(f"duologue agent: {error.strerror}", file=sys.stderr)
        return 2
    from duologue.cli.agent import main as agent

    return agent(arguments, at_terminal=at_terminal)
