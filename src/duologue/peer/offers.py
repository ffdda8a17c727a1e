"""Whether the other side answers a method, by what it announced: in version 2's words, and in those only v1 has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from duologue.protocol.method import Method, Notification, Request

if TYPE_CHECKING:
    from duologue.protocol.changes.memory import AgentExtras, ClientExtras


@cache
def _by_v1() -> Mapping[str, Callable[[Any], bool]]:
    """Methods that version 1 opens by a word of its own: version 2 does not have them, or always has them."""
    from duologue.protocol.v1 import table as v1
    from duologue.protocol.v2 import table as v2

    terminals = (
        v1.TERMINAL_CREATE,
        v1.TERMINAL_OUTPUT,
        v1.TERMINAL_WAIT_FOR_EXIT,
        v1.TERMINAL_KILL,
        v1.TERMINAL_RELEASE,
    )
    words: Mapping[Method, Callable[[Any], bool]] = {
        v1.FS_READ_TEXT_FILE: lambda said: bool(said.read_text_file),
        v1.FS_WRITE_TEXT_FILE: lambda said: bool(said.write_text_file),
        **dict.fromkeys(terminals, lambda said: bool(said.terminal)),
        v2.SESSION_LIST: lambda said: bool(said.list),
        v2.SESSION_RESUME: lambda said: bool(said.load or said.resume),
        v2.SESSION_CLOSE: lambda said: bool(said.close),
        v2.AUTH_LOGOUT: lambda said: bool(said.logout),
    }
    return {method.name: says for method, says in words.items()}


def is_offered(
    method: Request[Any, Any] | Notification[Any], capabilities: Any, said: AgentExtras | ClientExtras | None
) -> bool:
    """Whether `capabilities` open a method; `said` is what the other side says in v1 alone, None when it speaks v2.

    Raises `TypeError` for what is no method: a name does not tell what opens it.
    """
    if not isinstance(method, Request | Notification):
        raise TypeError(f"ask for a method of a table, such as duologue.protocol.v2.SESSION_LIST, not {method!r:.60}")
    by_v1 = None if said is None else _by_v1().get(method.name)
    if by_v1 is not None:
        return by_v1(said)
    value = capabilities
    for member in method.needs.split(".") if method.needs else ():
        value = getattr(value, member, None)
    # What is absent is false, an empty object is not.
    return method.needs is None or bool(value)
