"""A method of the protocol as one frozen value; a side of a connection as an enum value.

A table declares one method a line and says its types where a type checker reads them, in the annotation:

    SESSION_NEW: Request[NewSessionRequest, NewSessionResponse] = Request("session/new", AGENT, needs="session")

`declare` hands the annotation's names to the methods. They are looked up when first asked for, so that a program loads
only the topics whose methods it uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from duologue.protocol.topics import Topics

# Written out, since type checkers infer bracketed variables (3.12) as covariant here: nothing in the values below
# consumes a P, and a caller with the wrong params would pass.
P = TypeVar("P")
R = TypeVar("R")


class Side(Enum):
    """One end of a connection."""

    AGENT = "agent"
    CLIENT = "client"

    @property
    def other(self) -> Side:
        return Side.CLIENT if self is Side.AGENT else Side.AGENT


AGENT = frozenset({Side.AGENT})
CLIENT = frozenset({Side.CLIENT})
BOTH = AGENT | CLIENT


class Key(NamedTuple):
    """What tells the methods of a version apart: who receives it, its name, and whether it is answered."""

    receiver: Side
    name: str
    answered: bool


# A struct, as are the other values that a start needs: a dataclass takes ten times as long to define.
class _Named(msgspec.Struct, frozen=True, eq=False, dict=True):
    """What requests and notifications share. `needs` is the capability that opens the method: a dotted path of members
    of the receiver's capabilities, or None for what is always there. `stable`: whether the stable specification has it.
    """

    name: str
    receivers: frozenset[Side] = BOTH
    needs: str | None = None
    stable: bool = True

    @property
    def keys(self) -> frozenset[Key]:
        """One key a receiver."""
        return frozenset(Key(side, self.name, isinstance(self, Request)) for side in self.receivers)

    @cached_property
    def params(self) -> Any:
        """The type of `params`."""
        return self._type(0)

    def _type(self, index: int) -> Any:
        types: tuple[Topics, list[str]] | None = self.__dict__.get("types")
        if types is None:  # Outside of the tables, anything goes.
            return Any
        topics, names = types
        return topics.find(names[index])


class Request(_Named, Generic[P, R], frozen=True, eq=False):
    """A method that its `receivers` answer."""

    @classmethod
    def untyped(cls, name: str, receivers: frozenset[Side] = BOTH) -> Request[Any, Any]:
        """A method outside of the specification: anything in, anything out."""
        return Request(name, receivers)

    @classmethod
    def extension(cls, name: str, params: type[P], result: type[R], receivers: frozenset[Side] = BOTH) -> Request[P, R]:
        """A method of one's own, with types like any other. Raises `ValueError` unless it begins with an underscore."""
        made: Request[P, R] = Request(_own(name), receivers)
        made.__dict__.update(params=params, result=result)
        return made

    @cached_property
    def result(self) -> Any:
        """The type of `result`."""
        return self._type(1)


class Notification(_Named, Generic[P], frozen=True, eq=False):
    """A method that its `receivers` hear and do not answer."""

    @classmethod
    def untyped(cls, name: str, receivers: frozenset[Side] = BOTH) -> Notification[Any]:
        """A method outside of the specification: anything in."""
        return Notification(name, receivers)

    @classmethod
    def extension(cls, name: str, params: type[P], receivers: frozenset[Side] = BOTH) -> Notification[P]:
        """A method of one's own, with a type like any other. Raises `ValueError` if it begins with no underscore."""
        made: Notification[P] = Notification(_own(name), receivers)
        made.__dict__.update(params=params)
        return made


def _own(name: str) -> str:
    if not name.startswith("_"):
        raise ValueError(f"the name of a method of one's own begins with an underscore: {name!r}")
    return name


Method = Request[Any, Any] | Notification[Any]


def declare(table: Mapping[str, Any], types: Topics) -> Mapping[Key, Method]:
    """Give the methods of a table (the globals of its module) the types that their annotations name.

    Returns all methods of the table by key, those that it takes over from another table included.
    """
    for variable, annotation in table["__annotations__"].items():
        named = re.fullmatch(r"(?:Request|Notification)\[(.*)\]", annotation)
        if named:
            table[variable].__dict__["types"] = (types, named[1].split(", "))
    methods = [value for value in table.values() if isinstance(value, Request | Notification)]
    return {key: method for method in methods for key in method.keys}
