"""Halves of UTF-16 pairs: legal in JSON escapes, impossible in UTF-8; so U+FFFD replaces them where text crosses."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec

from duologue.jsonrpc.scan import repair_text
from duologue.protocol.base import Unknown


def mend(value: Any) -> Any:
    """A copy of a wire value with each text in it mended; raw JSON stays as it is."""
    match value:
        case Enum():
            return type(value)(mend(value.value))
        case str():
            return repair_text(value)
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
