"""Whether the other side answers a method, by what it announced: in version 2's words, and in those only v1 has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from duologue.protocol.method import Notification, Request

if TYPE_CHECKING:
    from duologue.protocol.changes.memory import AgentExtras, ClientExtras

_TERMINAL: Callable[[Any], bool] = lambda said: bool(said.terminal)  # noqa: E731

#: Methods that version 1 opens by a word of its own: version 2 does not have them, or always has them.
_BY_V1: Mapping[str, Callable[[Any], bool]] = {
    "fs/read_text_file": lambda said: bool(said.read_text_file),
    "fs/write_text_file": lambda said: bool(said.write_text_file),
    **dict.fromkeys(
        ("terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"), _TERMINAL
    ),
    "session/list": lambda said: bool(said.list),
    "session/resume": lambda said: bool(said.load or said.resume),
    "session/close": lambda said: bool(said.close),
    "auth/logout": lambda said: bool(said.logout),
}


def announced(
    method: Request[Any, Any] | Notification[Any], capabilities: Any, said: AgentExtras | ClientExtras | None
) -> bool:
    """Whether `capabilities` open a method; `said` is what the other side says in v1 alone, None when it speaks v2."""
    by_v1 = _BY_V1.get(method.name)
    if said is not None and by_v1 is not None:
        return by_v1(said)
    value = capabilities
    for member in method.needs.split(".") if method.needs else ():
        value = getattr(value, member, None)
    # What is absent is false, an empty object is not.
    return method.needs is None or bool(value)
