"""Updates of version 1 whose chunks of the agent's message are read as version 2 has them.

Where an agent puts ids on its chunks, such a chunk is the same JSON in both versions: it is decoded in v2's words and
passes unchanged while it goes on with the message before it. All other updates are decoded in v1's words. With the
first update that this refuses, `Hearing` goes over to v1's words for all.
"""

from __future__ import annotations

from typing import Any, get_args

from duologue.protocol.v1 import updates as v1
from duologue.protocol.v2.updates import AgentMessageChunk, UpdateSessionNotification

_VARIANTS: tuple[Any, ...] = get_args(get_args(v1.SessionUpdate)[0])  # of the union inside the annotation
_QUICK: Any = AgentMessageChunk
for _variant in _VARIANTS:
    if _variant is not v1.AgentMessageChunk:
        _QUICK = _QUICK | _variant


class QuickNotification(UpdateSessionNotification, kw_only=True):
    """A session update of which only the chunks of the agent's message are in v2's words."""

    update: _QUICK
