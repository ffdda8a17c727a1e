"""A method of the protocol as one frozen value; a side of a connection as an enum value.

Types are named lazily (a callable that imports), so that a program loads only the topics it uses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, Generic, TypeVar

P = TypeVar("P")
R = TypeVar("R")


class Side(Enum):
    """One end of a connection."""

    AGENT = "agent"
    CLIENT = "client"

    @property
    def other(self) -> Side:
        return Side.CLIENT if self is Side.AGENT else Side.AGENT


@dataclass(frozen=True, eq=False)
class Request(Generic[P, R]):
    """A method that is answered. `receivers` are the sides that answer it; `needs` the capability that opens it
    (a dotted path into the receiver's capabilities, spec names in snake case), or None for what is always there."""

    name: str
    load_params: Callable[[], type[P]]
    load_result: Callable[[], type[R]]
    receivers: frozenset[Side]
    needs: str | None = None
    stable: bool = True

    @cached_property
    def params(self) -> Any:
        """The type of `params`."""
        return self.load_params()

    @cached_property
    def result(self) -> Any:
        """The type of `result`."""
        return self.load_result()


@dataclass(frozen=True, eq=False)
class Notification(Generic[P]):
    """A method that is not answered."""

    name: str
    load_params: Callable[[], type[P]]
    receivers: frozenset[Side]
    needs: str | None = None
    stable: bool = True

    @cached_property
    def params(self) -> Any:
        """The type of `params`."""
        return self.load_params()


Method = Request[Any, Any] | Notification[Any]
