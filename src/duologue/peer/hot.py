"""`session/update`, the notification that dominates all traffic, decoded in one typed pass.

An update may go the quick way or the general one, in either direction. Both give the same, and these rules keep it so:

- In, the engine tries `update_decoder` on each line with the prefix; what that refuses `Hearing.on_notification` reads.
  The events of both stand in one list, in the order of the lines, and both ways end in `Hearing.on_update`. There alone
  the memory of the edge learns of an update (`Edge.update_in`): once.
- Out, `Channel.send` asks `Edge.fate_out`. What that lets pass (`SAME`) or drops (`NOTHING`) is noted in the memory by
  then; all else `Edge.update_out` notes, which `Peer.update` asks. (A state is noted twice, to the same effect.)
- Out, an update is written behind what is gathered in `Outbound.buffer`. A message that is sent past the buffer finds
  it empty: as long as something is in it, it is corked.
"""

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
