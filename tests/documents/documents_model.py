"""What a document must do, written the slow and plain way."""

from __future__ import annotations

import re
from itertools import accumulate

from hypothesis import strategies as st

from duologue.documents import TextEdit
from duologue.protocol.common.capabilities import PositionEncodingKind

ENCODINGS = (PositionEncodingKind.UTF_8, PositionEncodingKind.UTF_16, PositionEncodingKind.UTF_32)

#: Line ends, what only looks like one, and characters of each length.
PIECES = ["a", "b", "\n", "\r", "\r\n", "\u2028", "\x0b", "\x85", "é", "中", "😀", "\U0010ffff", "\ud83d", "\ude00"]
texts = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)


def mended(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def lines(text: str) -> list[str]:
    return re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)


def width(character: str, encoding: PositionEncodingKind) -> int:
    match encoding:
        case PositionEncodingKind.UTF_8:
            return len(character.encode())
        case PositionEncodingKind.UTF_16:
            return len(character.encode("utf-16-be")) // 2
    return 1


def offset(text: str, line: int, character: int, encoding: PositionEncodingKind) -> int:
    """The offset of a position: character by character."""
    split = lines(text)
    if line >= len(split):
        return len(text)
    at = sum(map(len, split[:line]))
    for one in split[line].rstrip("\r\n"):
        character -= width(one, encoding)
        if character < 0:
            break
        at += 1
    return at


def position(text: str, at: int, encoding: PositionEncodingKind) -> tuple[int, int]:
    """The last line that starts at `at` or before it, and the units from there."""
    starts = [0, *accumulate(map(len, lines(text)))][:-1]
    number = max(number for number, start in enumerate(starts) if start <= at)
    content = lines(text)[number].rstrip("\r\n")
    return number, sum(width(one, encoding) for one in content[: at - starts[number]])


@st.composite
def edits_of(draw: st.DrawFn, length: int) -> TextEdit:
    start, end = sorted(draw(st.tuples(*[st.integers(0, length)] * 2)))
    return TextEdit(start, end, draw(texts))
