"""How a failed turn is said in v2, which has no other place for it: v1 has the error of the prompt."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

#: The stop reason of a turn that failed; `_meta` of the idle update holds the error, see `error_meta`.
ERROR_STOP = "_error"

Meta = dict[str, Any] | UnsetType | None


def error_meta(code: int, message: str, data: Any = UNSET) -> dict[str, Any]:
    """The `_meta` of the idle update that ends a failed turn."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not UNSET:
        error["data"] = data
    return {"duologue": {"error": error}}


def error_of(meta: Meta) -> tuple[int, str, Any] | None:
    """Code, message and data of the error that `error_meta` put into a `_meta`."""
    match meta:
        case {"duologue": {"error": {"code": int(code), "message": str(message), **rest}}}:
            return code, message, rest.get("data", UNSET)
    return None
