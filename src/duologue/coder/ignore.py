"""Which files a listing leaves out: what `.gitignore` files say, and folders that nobody wrote by hand."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from duologue.local import globs

SKIPPED_FOLDERS = frozenset(
    (
        *(".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".nox", ".eggs"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".cache", ".gradle", ".terraform", ".next"),
    )
)

# A folder that holds one of these is a virtual environment or a cache, whatever its name.
SKIP_MARKS = ("pyvenv.cfg", "CACHEDIR.TAG")

# A line with more is matched without the library.
MOST_STARS = 8
MOST_STARS_OF_NAME = 3

Decide = Callable[[str], bool | None]


class Ignore:
    """One `.gitignore` file; `base` is its folder, relative to where paths start: empty, or with a slash at the end."""

    def __init__(self, lines: Iterable[str], base: str = "") -> None:
        self.base = base
        lines = list(lines)
        self._decide = (None if any(map(_is_slow, lines)) else pathspec_decide(lines)) or own_decide(lines)

    def decide(self, path: str) -> bool | None:
        """True: left out; False: expressly kept; None: not mentioned. A folder's path ends with a slash."""
        if not path.startswith(self.base):
            return None
        return self._decide(path[len(self.base) :])


def ignored(path: str, ignores: Sequence[Ignore]) -> bool:
    """Whether the nearest file that mentions the path leaves it out."""
    for ignore in reversed(ignores):
        decision = ignore.decide(path)
        if decision is not None:
            return decision
    return False


def _is_slow(line: str) -> bool:
    """Whether the library could try for ever: it goes back to each `*`, and holds everything else up meanwhile."""
    return line.count("*") > MOST_STARS or any(name.count("*") > MOST_STARS_OF_NAME for name in line.split("/"))


def pathspec_decide(lines: Iterable[str]) -> Decide | None:
    """The decision by the library `pathspec`, None where it is not installed or stumbles over a line."""
    make = _pathspec()
    try:
        spec = make(list(lines)) if make else None
    except (ValueError, re.error):
        return None
    if spec is None:
        return None

    def decide(path: str) -> bool | None:
        found: bool | None = spec.check_file(path).include
        return found

    return decide


@cache
def _pathspec() -> Callable[[list[str]], Any] | None:
    try:
        make: Callable[[list[str]], Any] = importlib.import_module("pathspec").GitIgnoreSpec.from_lines
    except (ImportError, AttributeError):
        return None
    return make


def own_decide(lines: Iterable[str]) -> Decide:
    """The decision without a library: the last pattern that fits wins."""
    patterns = [pattern for line in lines if (pattern := _pattern(line))]

    def decide(path: str) -> bool | None:
        for leaves_out, expression in reversed(patterns):
            if expression.fullmatch(path):
                return leaves_out
        return None

    return decide


def _pattern(line: str) -> tuple[bool, re.Pattern[str]] | None:
    line = re.sub(r"(?<!\\)[ \t]+$", "", line.rstrip("\r\n"))
    if line.startswith("#"):
        return None
    leaves_out = not line.startswith("!")
    line = line.removeprefix("!")
    folder = line.endswith("/")
    body = line.rstrip("/")
    if not body:
        return None
    anchored = "/" in body
    body = body.removeprefix("/")
    expression = globs.translate(body if anchored else f"**/{body}")
    try:
        return leaves_out, re.compile(expression + ("/" if folder else "/?"), re.DOTALL)
    except re.error:
        return None
