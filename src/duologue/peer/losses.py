"""What a message lost when it was read leniently, told to whoever looks for it."""

from __future__ import annotations

import logging
from functools import lru_cache, partial

from duologue.codec import Report

log = logging.getLogger("duologue.peer")


@lru_cache(maxsize=512)
def losses_of(method: str) -> Report:
    """A report for `codec.decode`: names the place and the reason, never the value."""
    return partial(log.debug, "a %s was read without what does not fit: %s", method)
