"""Halves of UTF-16 pairs: legal in JSON escapes, impossible in UTF-8; so U+FFFD replaces them where text crosses."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import msgspec

from duologue.protocol.base import Unknown

# One alternative an escape, so that an escaped backslash before a `u` is never taken for the start of one.
_ESCAPE = re.compile(
    rb"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def mend_json(data: bytes) -> bytes:
    """JSON text with U+FFFD in place of each escaped half; pairs and all else stay as they are."""
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found["lone"] else found[0], data)


def mend_text(text: str) -> str:
    """`text` without halves: two that belong together are joined, others become U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def mend(value: Any) -> Any:
    """A copy of a wire value with each text in it mended; raw JSON stays as it is."""
    match value:
        case Enum():
            return type(value)(mend(value.value))
        case str():
            return mend_text(value)
        case list() | tuple():
            return [mend(item) for item in value]
        case dict():
            return {mend(key): mend(item) for key, item in value.items()}
        case Unknown():
            return Unknown(mend(value.raw))
        case msgspec.Struct():
            names = value.__struct_fields__
            return msgspec.structs.replace(value, **{name: mend(getattr(value, name)) for name in names})
        case _:
            return value
