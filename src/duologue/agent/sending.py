"""Updates that an author makes, as they are sent."""

from __future__ import annotations

from typing import Any, get_args

from duologue import codec
from duologue.protocol.base import Unknown
from duologue.protocol.v2 import updates

_KINDS: frozenset[type] = frozenset(get_args(get_args(updates.SessionUpdate)[0]))


def sent_update(update: updates.SessionUpdate) -> updates.SessionUpdate:
    """An update as the client reads it. Raises `TypeError` for what is none, `CodecError` for one that does not fit."""
    kind = update.__class__
    if kind in _KINDS:
        checked: updates.SessionUpdate = codec.sendable(kind, update)
        return checked
    given: Any = update
    if isinstance(given, Unknown) and isinstance(given.raw, dict) and isinstance(given.raw.get("sessionUpdate"), str):
        return update
    raise TypeError(f"an update is one of duologue.protocol.v2, such as ToolCallUpdateEvent, not {kind.__name__}")
