"""Values of messages that came in; what one lost when it was read leniently is told to whoever looks for it."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import msgspec

from duologue import codec
from duologue.codec.reading import Json, decoders

log = logging.getLogger("duologue.peer")


def read(wanted: Any, data: Json, method: str, at: str) -> Any:
    """The value of a wire type from a part of a message, which stands `at` that path in it. Raises what `codec.decode`
    raises. The report of what was dropped names the place and the reason, never the value."""
    try:
        # What is as it should be costs no more than this.
        return decoders[wanted].decode(data)
    except (msgspec.DecodeError, RecursionError):
        lost = partial(log.debug, "a %s was read without what does not fit: %s", method)
        return codec.decode(wanted, data, lost, at)
