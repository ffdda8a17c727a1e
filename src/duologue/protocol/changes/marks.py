"""What a change of version says under `_meta`, so that nothing is lost on the way through v1 and back."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

#: The member of `_meta` that holds everything said here.
OURS = "duologue"

#: The stop reason of a turn that failed; `_meta` of the idle update holds the error, see `error_meta`.
ERROR_STOP = "_error"

Meta = dict[str, Any] | UnsetType | None


def noted(meta: Meta, **notes: Any) -> Meta:
    """Add notes to a `_meta` value."""
    base = meta or {}
    ours = base.get(OURS)
    return {**base, OURS: {**(ours if isinstance(ours, dict) else {}), **notes}}


def note(meta: Meta, name: str) -> Any:
    """Read a note back, UNSET if there is none."""
    ours = meta.get(OURS) if meta else None
    return ours.get(name, UNSET) if isinstance(ours, dict) else UNSET


def unnoted(meta: Meta, *names: str) -> Meta:
    """Take notes out again; what held nothing else is absent afterwards."""
    ours = meta.get(OURS) if meta else None
    if not meta or not isinstance(ours, dict):
        return meta
    left = {name: value for name, value in ours.items() if name not in names}
    rest = {name: value for name, value in meta.items() if name != OURS}
    if left:
        rest[OURS] = left
    return rest or UNSET


def error_meta(code: int, message: str, data: Any = UNSET) -> dict[str, Any]:
    """The `_meta` of the idle update that ends a failed turn."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not UNSET:
        error["data"] = data
    return {OURS: {"error": error}}


def error_of(meta: Meta) -> tuple[int, str, Any] | None:
    """Code, message and data of the error that `error_meta` put into a `_meta`."""
    error = note(meta, "error")
    if not isinstance(error, dict):
        return None
    code, message = error.get("code"), error.get("message")
    if not isinstance(code, int) or not isinstance(message, str):
        return None
    return code, message, error.get("data", UNSET)
