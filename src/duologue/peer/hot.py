"""`session/update`, the notification that dominates all traffic, decoded in one typed pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from duologue import codec
from duologue.protocol.method import Side
from duologue.protocol.v2 import table as v2
from duologue.protocol.version import Version

#: Its wire name, the same in every version.
SESSION_UPDATE = v2.SESSION_UPDATE.name
#: A line that begins so is probably an update that `update_decoder` takes; the general path takes all others.
UPDATE_PREFIX = b'{"jsonrpc":"2.0","method":"%b",' % SESSION_UPDATE.encode()
#: What surrounds the params of an update that is sent.
UPDATE_HEAD = UPDATE_PREFIX + b'"params":'
UPDATE_TAIL = b"}\n"


def update_decoder(version: Version, inner: Version | None = None) -> tuple[type[Any], Callable[[bytes], Any]]:
    """A class with a `params` member, and a function that decodes a whole line to it, strictly.

    Members that a notification does not have (an `id`, a `result`) are refused, so that such a line takes the general
    path and is judged there. With another `inner` version, chunks of text are read in its words at once: most agents
    of version 1 send them as version 2 has them.
    """
    method = version.notification(Side.CLIENT, SESSION_UPDATE)
    assert method is not None
    params = method.params
    if inner is not None and inner is not version:
        from duologue.protocol.changes.quick import QuickNotification

        params = QuickNotification
    update = msgspec.defstruct(
        "UpdateMessage",
        [("jsonrpc", Literal["2.0"]), ("method", Literal[SESSION_UPDATE]), ("params", params)],
        forbid_unknown_fields=True,
        gc=False,
        frozen=True,
    )
    return update, codec.decoder_for(update).decode
