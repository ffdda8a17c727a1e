"""Ids that nobody else has."""

from __future__ import annotations

import os


def fresh_id() -> str:
    """128 random bits as 32 hexadecimal digits; a part of them does where few ids meet.

    The library for this takes as long to import as all of the agent side's own types.
    """
    return os.urandom(16).hex()
