"""File patterns: `*` and `?` stay inside a name, `**` crosses folders, `[ab]` and `{this,that}` are choices."""

from __future__ import annotations

import re
from functools import lru_cache

# A pattern with more alternatives than this is a mistake or an attack.
MOST_ALTERNATIVES = 64

ANY = "[^/]*"


def matches(pattern: str, path: str) -> bool:
    """Whether the whole relative path fits."""
    return compiled(pattern).fullmatch(path) is not None


def matches_seen(pattern: str, path: str) -> bool:
    """Like `matches`, but wildcards pass no name that begins with a dot."""
    return compiled(pattern, dots=False).fullmatch(path) is not None


def may_match(pattern: str, path: str) -> bool:
    """Whether the path fits where a file system, as those of macOS and Windows do, takes two spellings for one name."""
    return matches(pattern, path) or _folded(_one_form(pattern)).fullmatch(_one_form(path)) is not None


def _one_form(text: str) -> str:
    """The text with each accented letter as one character; macOS takes both ways to write one for the same name."""
    import unicodedata  # a megabyte, and only rules that reject need it

    return unicodedata.normalize("NFC", text)


def matches_anywhere(pattern: str, path: str) -> bool:
    """Like `matches`; a pattern without a slash is tried against the last name alone."""
    return matches(pattern if "/" in pattern else f"**/{pattern}", path)


@lru_cache(maxsize=256)
def _folded(pattern: str) -> re.Pattern[str]:
    return re.compile(compiled(pattern).pattern, re.DOTALL | re.IGNORECASE)


@lru_cache(maxsize=256)
def compiled(pattern: str, dots: bool = True) -> re.Pattern[str]:
    """What fits a pattern, as a regular expression.

    Raises ValueError for a pattern with too many alternatives, or an impossible range of characters.
    """
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
    """The pattern as a regular expression for a whole path.

    Of several `*` in a name, and of several `**`, all but the last take the least that fits and never try again: what
    follows each is of a fixed length, so the first place that fits is as good as any. Trying all would take for ever.
    """
    name = "" if dots else r"(?!\.)"
    parts: list[str] = []
    # Where the last `*` of this name, and the last `**`, stand in `parts`.
    star: int | None = None
    across: int | None = None
    position = 0
    while position < len(pattern):
        start = position == 0 or pattern[position - 1] == "/"
        if start and (pattern.startswith("**/", position) or pattern[position:] == "**"):
            _take_first(parts, across)
            across = len(parts)
            parts.append(f"(?:{name}[^/]+/)*")
            if pattern[position:] == "**":
                parts.append(f"{name}[^/]+")
            position += 3
            continue
        text, position = _one(pattern, position)
        guard = name if start and pattern[position - 1] in "*?]" else ""
        if text == ANY:
            _take_first(parts, star)
        if text in (ANY, "/"):
            star = len(parts) if text == ANY else None
        parts.append(guard + text)
    return "".join(parts)


def _take_first(parts: list[str], repeat: int | None) -> None:
    """Let a repeat, with what follows it so far, take the first place that fits."""
    if repeat is not None:
        parts[repeat] = f"(?>{parts[repeat]}?"
        parts.append(")")


def _one(pattern: str, position: int) -> tuple[str, int]:
    """One wildcard, choice or character, and where the next begins."""
    character = pattern[position]
    if character == "*":
        while pattern[position : position + 1] == "*":
            position += 1
        return ANY, position
    if character == "?":
        return "[^/]", position + 1
    if character == "[" and (choice := re.compile(r"\[([!^]?)(\]?[^\]/]*)\]").match(pattern, position)):
        inside = re.sub(r"([\\\[\]&|~])", r"\\\1", choice[2])
        return f"(?!/)[{'^' if choice[1] else ''}{inside}]", choice.end()
    if character == "\\" and position + 1 < len(pattern):
        return re.escape(pattern[position + 1]), position + 2
    return re.escape(character), position + 1
