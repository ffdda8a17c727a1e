"""What several subcommands take: command lines, variables and numbers. What is wrong is a ValueError in words, or
where argparse reads it an ArgumentTypeError."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Sequence
from typing import TypeVar

from duologue.local.masking import mask_text

N = TypeVar("N", int, float)


def add_env(parser: argparse.ArgumentParser, whom: str) -> None:
    """The option `--env`, for variables of `whom`."""
    parser.add_argument(
        "--env",
        metavar="NAME[=VALUE]",
        action="append",
        default=[],
        help=f"pass a variable on to the {whom}, which gets no others that may hold secrets; may be repeated",
    )


def variables(entries: Sequence[str]) -> dict[str, str]:
    """The variables that `--env` names, with their values here or those that stand beside them."""
    passed: dict[str, str] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not name or "\0" in entry:
            raise ValueError("--env: give NAME=VALUE, or NAME of a variable that is set here")
        if not equals and name not in os.environ:
            raise ValueError(f"--env {name}: there is no such variable here: set it, or give NAME=VALUE")
        passed[name] = value if equals else os.environ[name]
    return passed


def seconds(text: str) -> float:
    """A time, as argparse reads it."""
    return _above_zero(float, text, "a number of seconds")


def count(text: str) -> int:
    """How many of something, as argparse reads it."""
    return _above_zero(int, text, "a whole number")


def _above_zero(kind: Callable[[str | int], N], text: str, what: str) -> N:
    try:
        read = kind(text)
    except ValueError:
        read = kind(0)
    if not read > 0:  # Nor is NaN.
        raise argparse.ArgumentTypeError(f"give {what} above zero, not {text}")
    return read


def command_words(option: str, line: str) -> list[str]:
    """The words of a command line, as a shell takes it apart."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        told = mask_text(line)
        raise ValueError(f"{option} {told!r}: {error}; quote it as for a shell: {option} 'my-agent --flag'") from None
    if not words or not words[0]:
        raise ValueError(f"{option}: the command is empty")
    return words
