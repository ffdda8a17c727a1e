"""Text of files and of models: byte order marks, newline styles, and characters that are none.

A model sees plain text: no byte order mark, LF only. A file keeps what it had. `restyle` leads back from the one to the
other, so that a changed file differs from the old one only in the lines that were meant.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from duologue.local.lines import equal_blocks

BOM = "\ufeff"

MOST_DIGITS = 15


def plain(text: str) -> str:
    """The text as a model sees it."""
    return text.removeprefix(BOM).replace("\r\n", "\n")


def restyle(original: str, new: str) -> str:
    """`new` with the byte order mark, the newlines and the final newline of `original`.

    A line that both have, or that was changed in its place, keeps its own ending. An original without text has no
    style, so `new` stays as it is.
    """
    body = original.removeprefix(BOM)
    if not body:
        return original + new.removeprefix(BOM)
    flat = _same_end(body, plain(new))
    mark = BOM if original.startswith(BOM) else ""
    return mark + keep_endings(body, flat, newline_of(body))


def newline_of(text: str) -> str:
    """The newline that most lines of the text have; LF when there is none."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf * 2 > text.count("\n") else "\n"


def keep_endings(original: str, new: str, default: str) -> str:
    """`new` (LF only) with the endings of `original`: those of the same lines, else its only style, else `default`."""
    crlf, newlines = original.count("\r\n"), original.count("\n")
    if newlines and crlf in (0, newlines):
        return new.replace("\n", "\r\n" if crlf else "\n")
    if not newlines:
        return new.replace("\n", default)
    return _merge_endings(original, new, default)


def _merge_endings(original: str, new: str, default: str) -> str:
    old_lines = original.split("\n")
    endings = ["\r\n" if line.endswith("\r") else "\n" for line in old_lines[:-1]]
    old_lines[:-1] = [line.removesuffix("\r") for line in old_lines[:-1]]
    new_lines = new.split("\n")
    styles = [default] * (len(new_lines) - 1)
    for old, fresh in _pairs(equal_blocks(old_lines, new_lines)):
        if old < len(endings) and fresh < len(styles):
            styles[fresh] = endings[old]
    return "".join(line + end for line, end in zip(new_lines, [*styles, ""], strict=True))


def _pairs(blocks: list[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """Which lines belong together: the equal ones, and between them those that were changed one by one."""
    old_end = new_end = 0
    for old, new, size in blocks:
        if old - old_end == new - new_end:
            yield from zip(range(old_end, old), range(new_end, new), strict=True)
        yield from zip(range(old, old + size), range(new, new + size), strict=True)
        old_end, new_end = old + size, new + size


def _same_end(body: str, new: str) -> str:
    """A whole file comes from a model with or without its last newline by chance: the file's state is kept."""
    if not new:
        return new
    if body.endswith("\n"):
        return new if new.endswith("\n") else new + "\n"
    return new.removesuffix("\n")


class Flat:
    """A text with LF only, which knows where each of its characters stands in the original."""

    def __init__(self, original: str) -> None:
        self.original = original
        self.text = original.replace("\r\n", "\n")
        self._returns = [] if len(self.text) == len(original) else _dropped_returns(original)

    def place(self, index: int) -> int:
        """Where the character at `index` stands in the original; before the CR when it is the LF of a CRLF."""
        return index + bisect_left(self._returns, index)


def _dropped_returns(original: str) -> list[int]:
    found: list[int] = []
    position = original.find("\r\n")
    while position >= 0:
        found.append(position - len(found))
        position = original.find("\r\n", position + 2)
    return found


def counted(digits: str) -> int:
    """The number that stands in a text. Of one that Python would not read the first digits do: nothing has so many."""
    return int(digits[:MOST_DIGITS])


def line_of(text: str, index: int) -> int:
    """The 1-based number of the line that holds `index`."""
    return text.count("\n", 0, index) + 1


def scrub(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced, so that it can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def scrub_all(value: Any) -> Any:
    """`scrub` for each string in a JSON value."""
    match value:
        case str():
            return scrub(value)
        case dict():
            return {scrub_all(key): scrub_all(item) for key, item in value.items()}
        case list() | tuple():
            return [scrub_all(item) for item in value]
        case _:
            return value


def nests_deeper(value: Any, most: int) -> bool:
    """Whether arrays and objects of a JSON value nest deeper than that; however deep they do."""
    level = [value] if isinstance(value, dict | list | tuple) else []
    for _ in range(most):
        items = (item for each in level for item in (each.values() if isinstance(each, dict) else each))
        level = [item for item in items if isinstance(item, dict | list | tuple)]
    return bool(level)


def quoted(text: str) -> str:
    """A text in quotes, with a sign for what does not show. A backslash is one backslash, as in a pattern."""
    return "'" + "".join(char if char.isprintable() else repr(char)[1:-1] for char in text) + "'"


def shorten(text: str, most: int) -> str:
    """One line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
