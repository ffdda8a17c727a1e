"""File patterns: `*` and `?` stay inside a name, `**` crosses folders, `[ab]` and `{this,that}` are choices."""

from __future__ import annotations

import re
from functools import lru_cache

# A pattern with more alternatives than this is a mistake or an attack.
MOST_ALTERNATIVES = 64


def matches(pattern: str, path: str, *, dots: bool = True) -> bool:
    """Whether the whole relative path fits. Without `dots`, wildcards pass no name that begins with a dot."""
    return compiled(pattern, dots).fullmatch(path) is not None


def matches_anywhere(pattern: str, path: str) -> bool:
    """Like `matches`; a pattern without a slash is tried against the last name alone."""
    return matches(pattern if "/" in pattern else f"**/{pattern}", path)


@lru_cache(maxsize=256)
def compiled(pattern: str, dots: bool = True) -> re.Pattern[str]:
    """Raises ValueError for a pattern with too many alternatives, or an impossible range of characters."""
    try:
        return re.compile("|".join(translate(each, dots) for each in alternatives(pattern)), re.DOTALL)
    except re.error as error:
        raise ValueError(f"the pattern {pattern!r} means nothing ({error})") from None


def alternatives(pattern: str) -> list[str]:
    """The pattern with its braces written out."""
    done: list[str] = []
    todo = [pattern]
    while todo:
        current = todo.pop(0)
        if len(done) + len(todo) >= MOST_ALTERNATIVES:
            raise ValueError(f"the pattern {pattern!r} has too many alternatives (at most {MOST_ALTERNATIVES})")
        braces = re.search(r"(?<!\\)\{([^{}]*,[^{}]*)\}", current)
        if braces is None:
            done.append(current)
            continue
        before, after = current[: braces.start()], current[braces.end() :]
        todo += [before + word + after for word in braces[1].split(",")]
    return done


def translate(pattern: str, dots: bool = True) -> str:
    """The pattern as a regular expression for a whole path."""
    name = "" if dots else r"(?!\.)"
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        start = position == 0 or pattern[position - 1] == "/"
        if start and pattern.startswith("**/", position):
            parts.append(f"(?:{name}[^/]+/)*")
            position += 3
        elif start and pattern[position:] == "**":
            parts.append(f"(?:{name}[^/]+/)*{name}[^/]+")
            position += 2
        else:
            text, position = _one(pattern, position)
            guard = name if start and pattern[position - 1] in "*?]" else ""
            parts.append(guard + text)
    return "".join(parts)


def _one(pattern: str, position: int) -> tuple[str, int]:
    """One wildcard, choice or character, and where the next begins."""
    character = pattern[position]
    if character == "*":
        while pattern[position : position + 1] == "*":
            position += 1
        return "[^/]*", position
    if character == "?":
        return "[^/]", position + 1
    if character == "[" and (choice := re.compile(r"\[([!^]?)(\]?[^\]/]*)\]").match(pattern, position)):
        inside = re.sub(r"([\\\[\]&|~])", r"\\\1", choice[2])
        return f"(?!/)[{'^' if choice[1] else ''}{inside}]", choice.end()
    if character == "\\" and position + 1 < len(pattern):
        return re.escape(pattern[position + 1]), position + 2
    return re.escape(character), position + 1
