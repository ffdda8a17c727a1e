"""What a change of version asks the peer to do: an ordered sequence of frozen steps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import Enum
from typing import Any

import msgspec
from msgspec import UNSET

from duologue.protocol.method import Notification, Request


class Notify(msgspec.Struct, frozen=True):
    """Pass on a notification.

    The method says where it goes: one of v1's table goes to the wire, one of v2's table to the local side. A method
    that both tables share goes the way of the message at hand.
    """

    method: Notification[Any]
    params: Any


class Ask(msgspec.Struct, frozen=True):
    """Pass on the request at hand, under its key: to the wire if the local side asked it, else to the local side."""

    method: Request[Any, Any]
    params: Any


class Answer(msgspec.Struct, frozen=True):
    """Answer an open request, the one at hand or an older one, on the side that asked it."""

    key: Hashable
    result: Any


class Refuse(msgspec.Struct, frozen=True):
    """Answer an open request with an error, on the side that asked it."""

    key: Hashable
    code: int
    message: str
    data: Any = UNSET


class Unspeakable(Exception):
    """A request that the other version has no way to make; it is refused where it was made."""

    def __init__(self, code: int, message: str, data: Any = UNSET) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Fate(Enum):
    """What the other version gets of an update: the same JSON, nothing, or what its row of the table makes of it."""

    SAME = "same"
    NOTHING = "nothing"
    CHANGED = "changed"


# As globals, since they are looked up for each update that is sent.
SAME, NOTHING, CHANGED = Fate

Step = Notify | Ask | Answer | Refuse
Steps = Sequence[Step]
