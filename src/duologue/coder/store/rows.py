"""What a listing knows of a session, of a row that may be damaged: a wrong one says so and spoils no other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from duologue.coder.store.errors import Unreadable


class SessionRow(NamedTuple):
    """What is known of a session. `used` is seconds since 1970 that a date can have; `roots` are further folders;
    `prompts` counts the turns that were answered."""

    number: int
    id: str
    conversation: str
    cwd: str
    roots: tuple[str, ...]
    title: str | None
    model: str
    mode: str
    used: float
    prompts: int


COLUMNS = ", ".join(SessionRow._fields)

_TEXTS = ("id", "conversation", "cwd", "model", "mode")


def columns(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members of a row as the database has them."""
    return {name: json.dumps(value) if name == "roots" else value for name, value in members.items()}


def row_of(found: tuple[Any, ...]) -> SessionRow:
    """The row of what the database gave. Without a title or a time a session is still one. Raises Unreadable."""
    row = SessionRow(*found)
    wrong = [name for name in _TEXTS if not (isinstance(getattr(row, name), str) and getattr(row, name))]
    roots = _roots(row.roots)
    wrong += [] if isinstance(row.prompts, int) else ["prompts"]
    wrong += ["roots"] if roots is None else []
    if roots is None or wrong:
        raise Unreadable(f"stored session {row.number} is damaged ({', '.join(wrong)}): delete it, or mend the row")
    title = row.title if isinstance(row.title, str) else None
    return row._replace(roots=roots, title=title, used=row.used if is_time(row.used) else 0.0)


def _roots(stored: object) -> tuple[str, ...] | None:
    try:
        roots = json.loads(stored) if isinstance(stored, str) else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(roots, list) or not all(isinstance(root, str) and root for root in roots):
        return None
    return tuple(roots)


def is_time(used: object) -> bool:
    """Whether these are seconds since 1970 that a date can have."""
    if not isinstance(used, int | float):
        return False
    try:
        datetime.fromtimestamp(used, UTC)
    except (ValueError, OverflowError, OSError):
        return False
    return True
