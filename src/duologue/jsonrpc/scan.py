"""Questions about the text of a message, answered without building its value.

Each runs at the speed of C over the bulk of the text, in time linear in it and in memory bounded by a constant.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from duologue.late import late_pattern

#: Bytes that a piece-wise scan looks at together; at least one character.
PIECE = 64 * 1024
#: Bytes kept from the beginning and from the end of a message that is not read.
HEAD = 4096
TAIL = 1280

_OUTSIDE = bytes(byte for byte in range(256) if byte not in b'[]{},"')
_STEP = tuple((byte in b"[{") - (byte in b"]}") for byte in range(256))

# A line is taken for a message when it starts like an object or like an array of objects or arrays; `[tool] done` and
# `{tool} done` are log lines.
_MESSAGE_START = late_pattern(rb'\s*(?:\{\s*(?:["}]|\Z)|\[\s*(?:[\[{\]]|\Z))')
_TOKEN = late_pattern(rb'\s*("(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^\s"{}\[\]:,]++)', re.DOTALL)
_LAST_ID = late_pattern(rb'[,{]\s*+"id"\s*+:\s*+("(?:[^"\\]++|\\.)*+"|-?\d++|null)\s*+\}\s*+\Z', re.DOTALL)
_LONE_SURROGATE = late_pattern(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def looks_like_message(line: bytes) -> bool:
    """Whether a line that is no JSON was meant as a message."""
    return _MESSAGE_START.match(line) is not None


def is_utf8(text: bytes) -> bool:
    """Whether the text is valid UTF-8 throughout."""
    if text.isascii():
        return True
    view = memoryview(text)
    start = 0
    try:
        while start < len(text):
            last = start + PIECE >= len(text)
            start += codecs.utf_8_decode(view[start : start + PIECE], "strict", last)[1]
    except UnicodeDecodeError:
        return False
    return True


def repair_surrogates(text: bytes) -> bytes:
    """Replace each escaped lone surrogate by the escape of U+FFFD: text with one can never be written as UTF-8."""
    # Escaped backslashes are set aside as NUL, which no JSON text can hold, so that what follows them is no escape.
    if b"\\u" not in text or b"\0" in text:
        return text
    bare = text.replace(b"\\\\", b"\0\0")
    return _LONE_SURROGATE.sub(rb"\\ufffd", bare).replace(b"\0\0", b"\\\\")


def repair_text(text: str) -> str:
    """The text without halves of surrogate pairs: two that belong together are joined, others become U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def deeper_than(text: bytes, limit: int) -> bool:
    """Whether arrays and objects nest deeper than `limit`."""
    # A level takes two bytes, and the first `limit` bytes hold at most `limit` levels: most messages end here.
    if len(text) <= 2 * limit or (text.find(b"{", limit) < 0 and text.find(b"[", limit) < 0):
        return False
    if text.count(b"{") + text.count(b"[") <= limit:
        return False
    depth = 0
    for piece in _outside_strings(text):
        levels = list(accumulate(map(_STEP.__getitem__, piece), initial=depth))
        if max(levels) > limit:
            return True
        depth = levels[-1]
    return False


def more_members_than(array: bytes, limit: int) -> bool:
    """Whether an array has more than `limit` members."""
    if array.count(b",") < limit:
        return False
    depth = commas = 0
    for piece in _outside_strings(array):
        for byte in piece:
            depth += _STEP[byte]
            commas += byte == 0x2C and depth == 1
        if commas >= limit:
            return True
    return False


def more_values_than(text: bytes, limit: int) -> bool:
    """Whether arrays and objects hold more than `limit` values together; an empty one counts as one value more."""
    if _values(text) <= limit:
        return False
    values = 0
    for piece in _outside_strings(text):
        values += _values(piece)
        if values > limit:
            return True
    return False


def _values(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _outside_strings(text: bytes) -> Iterator[bytes]:
    """Brackets and commas that are not part of a string, piece by piece."""
    start = 0
    inside = 0
    while start < len(text):
        piece = text[start : start + PIECE]
        # An escape is not cut in two: of an odd run of backslashes at the end the last one goes to the next piece.
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and len(piece) > 1:
            piece = piece[:-1]
        start += len(piece)
        bare = piece.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OUTSIDE)
        parts = bare.split(b'"')
        yield b"".join(parts[inside::2])
        inside ^= (len(parts) - 1) & 1


class Glance(NamedTuple):
    """What can be told of a message that is not read: the JSON text of its id, and which members it shows."""

    id: bytes | None
    is_call: bool
    is_answer: bool


def glance(head: bytes, tail: bytes) -> Glance:
    """Look at the first and the last bytes of a message for its id and its kind."""
    members = _root_members(head)
    last = _LAST_ID.search(tail)
    is_call = b'"method"' in members or b'"params"' in members
    is_answer = not is_call and (b'"result"' in members or b'"error"' in members)
    return Glance(last[1] if last else members.get(b'"id"') or None, is_call, is_answer)


def _root_members(head: bytes) -> dict[bytes, bytes]:
    """The members of the outermost object that begin in `head`: key and scalar, or empty for a value not seen whole."""
    members: dict[bytes, bytes] = {}
    row: list[bytes] = []
    depth = at = 0
    while token := _TOKEN.match(head, at):
        at, text = token.end(), token[1]
        depth += text in (b"{", b"[")
        if depth == 1:
            # A row is key, colon, value.
            row = [] if text in (b"{", b",") else [*row, text]
        elif depth == 2 and len(row) == 2:
            row.append(b"")
        depth -= text in (b"}", b"]")
        # A scalar at the very end may go on in what is not here.
        if len(row) == 3 and at < len(head):
            members[row[0]] = row[2]
    if len(row) in (2, 3):
        members.setdefault(row[0], b"")
    return members
