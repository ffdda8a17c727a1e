"""The request that is being answered: its id, its `_meta`, and the trace that further requests carry on."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, TypeVar

import msgspec

from duologue.late import late_pattern
from duologue.peer import Scope
from duologue.protocol.base import Unknown

P = TypeVar("P")

#: The members of `_meta` that carry a trace on, as W3C Trace Context and W3C Baggage define them.
TRACE_KEYS = ("traceparent", "tracestate", "baggage")

_IDS = "-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
#: Versions to come may have more behind it.
_TRACEPARENT = late_pattern(f"00{_IDS}|(?!00|ff)[0-9a-f]{{2}}{_IDS}(-.*)?")
_NOTHING: Mapping[str, Any] = {}


class Asked(msgspec.Struct, frozen=True):
    """A request of the client while its handler runs; `method` is its name on the wire."""

    id: int | str | None
    method: str
    meta: Mapping[str, Any] = _NOTHING


#: Set where a handler runs, and in the tasks that it starts, which may outlive the request.
_asked: ContextVar[tuple[Asked, Scope] | None] = ContextVar("duologue_asked", default=None)


def current_request() -> Asked | None:
    """The request that the running code answers, such as a login or `session/new`; None once it is answered, and
    elsewhere, in a turn too: a turn has its `meta` itself."""
    asked = _asked.get()
    return None if asked is None or asked[1].answered else asked[0]


def answering(scope: Scope, params: Any) -> None:
    """Note, for the rest of this task, which request it answers."""
    _asked.set((Asked(scope.id, scope.wire.name, meta_of(params)), scope))


def meta_of(params: Any) -> Mapping[str, Any]:
    """The `_meta` of params of any kind; empty when there is none."""
    match params:
        case Unknown(raw=dict(members)) | dict(members):
            meta = members.get("_meta")
        case _:
            meta = getattr(params, "meta", None)
    return meta if isinstance(meta, dict) else _NOTHING


def trace_of(meta: Mapping[str, Any]) -> dict[str, str]:
    """The trace in a `_meta`. A `traceparent` that is none is not passed on, nor the state that goes with it."""
    found = {key: meta[key] for key in TRACE_KEYS if isinstance(meta.get(key), str)}
    if "traceparent" not in found or not _TRACEPARENT.fullmatch(found["traceparent"]):
        found.pop("traceparent", None)
        found.pop("tracestate", None)
    return found


def traced(params: P, trace: Mapping[str, str]) -> P:
    """The same params with a trace in their `_meta`; what stands there already wins."""
    if not trace or not isinstance(params, msgspec.Struct) or "meta" not in params.__struct_fields__:
        return params
    return msgspec.structs.replace(params, meta={**trace, **meta_of(params)})
