"""`duologue agent`: the coding agent, for an editor to start. Standard output is claimed before this loads."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from duologue.local.state import state_folder

if TYPE_CHECKING:
    import argparse

    from duologue.coder.store.settings import StoreSettings
    from duologue.peer.link import Trace

DESCRIPTION = """\
Serve the coding agent over standard input and output, for an ACP editor or client to start.

It speaks both versions of the protocol. Nothing but protocol messages reaches standard output; what is logged goes to
standard error, and with --log to a file. To see it work without an editor, use `duologue run`."""

EPILOG = """\
examples:
  duologue agent
  duologue agent --model anthropic:claude-sonnet-4-5
  duologue agent --model offline --log /tmp/duologue.log

environment:
  DUOLOGUE_MODEL       the model, as --model
  DUOLOGUE_BASE_URL    a server with models, and DUOLOGUE_API_KEY its key
  DUOLOGUE_CONFIG      the config file, see README.md
  DUOLOGUE_SESSIONS    the folder in which sessions are kept, or off
  DUOLOGUE_PROFILE=1   print on standard error how long the start took"""

#: Said to a person, who sees nothing else of an agent that waits for its client.
AT_TERMINAL = """\
duologue agent: waiting for an editor on standard input (Ctrl-C ends it)
  in an editor: name the command `duologue agent` in its settings; README.md has them for each editor
  in this terminal: duologue run "Explain this project"
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", metavar="M", help="the model to begin with, such as offline or openai:NAME")
    parser.add_argument("--sessions", metavar="DIR", help="keep sessions in this folder; off: keep none")
    parser.add_argument("--log", metavar="FILE", type=Path, help="append every message to FILE, without keys")


def main(argv: Sequence[str], *, at_terminal: bool = False) -> int:
    """Serve until the client has gone away. A person `at_terminal` may not expect that, and is told."""
    model, log, sessions = _options(argv)
    with _without_collections():
        _import_msgspec()
        from duologue.agent import run
        from duologue.codec.sending import trust_own_values
        from duologue.coder.acp import CodingAgent

    trust_own_values()
    try:
        trace = _trace(log)
    except ValueError as error:
        print(f"duologue agent: {error}", file=sys.stderr)
        return 2
    if at_terminal:
        print(AT_TERMINAL, end="", file=sys.stderr, flush=True)
    agent = CodingAgent(model, permissions=permissions_path(os.environ), sessions=lambda: _sessions_settings(sessions))
    run(agent, trace=trace)
    return 0


@contextmanager
def _without_collections() -> Iterator[None]:
    """What is loaded stays: the collector would look through it again and again, for a twentieth of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _sessions_settings(option: str | None) -> StoreSettings | None:
    from duologue.coder.store.settings import store_settings

    return store_settings(option, os.environ)


def _import_msgspec() -> None:
    """Import msgspec without `typing_extensions`: it would use it if it is there, needs nothing of it on Python 3.11
    and later, and it takes a fifth of the time to the first answer."""
    if "typing_extensions" in sys.modules or "msgspec" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


def _trace(log: Path | None) -> Trace | None:
    trace: Trace | None = None
    if os.environ.get("DUOLOGUE_PROFILE") == "1":
        from duologue.cli.profile import Profile

        trace = Profile().trace
    if log is not None:
        from duologue.cli.log import log_to

        trace = log_to(log, "duologue agent", trace)
    return trace


def _options(argv: Sequence[str]) -> tuple[str | None, Path | None, str | None]:
    if not argv:  # The usual start: argparse would take a tenth of the time to the first answer.
        return None, None, None
    import argparse

    parser = argparse.ArgumentParser(prog="duologue agent")
    add_arguments(parser)
    chosen = parser.parse_args(argv)
    return chosen.model, chosen.log, chosen.sessions


def permissions_path(env: Mapping[str, str]) -> Path | None:
    """Where answers of "always" are kept; None without a home, and then they hold for this process only."""
    folder = state_folder(env)
    return None if folder is None else folder / "permissions.json"
