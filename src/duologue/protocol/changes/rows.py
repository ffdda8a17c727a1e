"""A row of the table of differences."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import msgspec


class Kind(StrEnum):
    """How much a row keeps."""

    #: Nothing is lost either way.
    EXACT = "exact"
    #: Nothing is lost, given what the memory of the connection holds.
    STATE = "state"
    #: One version can say less; the row's reason tells what is shown instead.
    LOSSY = "lossy"


class Row(msgspec.Struct, frozen=True):
    """A difference: a method or an update of each version, and the functions between them."""

    v1: Any
    v2: Any
    down: Callable[..., Any] | None
    up: Callable[..., Any] | None
    kind: Kind
    reason: str
