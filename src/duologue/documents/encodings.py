"""Position encodings: how a place in a line is counted, and which one two sides agree on."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UnsetType

from duologue.protocol.common.capabilities import PositionEncodingKind

#: What holds when either side says nothing.
DEFAULT_ENCODING = PositionEncodingKind.UTF_16

#: All of them, the one that costs least to convert first: it counts as `str` does.
POSITION_ENCODINGS = (PositionEncodingKind.UTF_32, PositionEncodingKind.UTF_8, PositionEncodingKind.UTF_16)

#: The codec and the bytes of a code unit. Text is counted as it is where code points are the units.
_CODECS = {PositionEncodingKind.UTF_8: ("utf-8", 1), PositionEncodingKind.UTF_16: ("utf-16-le", 2)}


def units(text: str, encoding: PositionEncodingKind) -> int:
    """The length of a text in code units. It must hold no halves of UTF-16 pairs."""
    if encoding not in _CODECS or text.isascii():
        return len(text)
    codec, width = _CODECS[encoding]
    return len(text.encode(codec)) // width


def index_at(text: str, count: int, encoding: PositionEncodingKind) -> int:
    """The index in `text` of what comes after `count` code units: the end when it has no more than that, and the start
    of a character when `count` ends inside of it."""
    if encoding not in _CODECS or text.isascii():
        return min(count, len(text))
    codec, width = _CODECS[encoding]
    data = text.encode(codec)
    if count * width >= len(data):
        return len(text)
    return len(data[: count * width].decode(codec, "ignore"))


def choose_encoding(
    offered: Sequence[PositionEncodingKind] | UnsetType | None, preferred: Sequence[PositionEncodingKind]
) -> PositionEncodingKind | None:
    """The first of `preferred` that the other side offers; None when there is none, and so `DEFAULT_ENCODING` holds."""
    return next((encoding for encoding in preferred if encoding in (offered or ())), None)


def known_encoding(answered: PositionEncodingKind | UnsetType | None) -> PositionEncodingKind:
    """The encoding that an agent's answer leads to; one that nobody knows counts as not said."""
    return answered if answered and answered.known else DEFAULT_ENCODING
