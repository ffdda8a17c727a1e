"""What can go wrong between bytes and values, and what may get lost.

    CodecError            a DuologueError and a ValueError
    ├── NotJson           the bytes are no JSON text
    ├── DoesNotFit        the JSON is not of the wanted type
    ├── TooDeep           nested deeper than the interpreter can follow, in either direction
    └── NotEncodable      a value of ours has no JSON form, or not the one of its place

Texts name the place, what was expected and the kind of what was found, never a value: it may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from duologue.errors import DuologueError
from duologue.late import late_pattern

_PLAIN_KEY = late_pattern(r"[A-Za-z_$][\w$-]*", re.ASCII)
_LONGEST_KEY = 60


class CodecError(DuologueError, ValueError):
    """Parent of all errors of this package; raised only as one of its children."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        #: Where, in the names of the wire: ``$.update.content[0].type``.
        self.path = path
        #: What was expected there and what was found.
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class NotJson(CodecError):
    """The bytes are not one JSON text in UTF-8."""


class DoesNotFit(CodecError):
    """The JSON is valid, yet not of the wanted type, and the schema allows no default in this place."""


class TooDeep(CodecError):
    """The value is nested deeper than the interpreter can follow, or holds itself."""


class NotEncodable(CodecError):
    """The value to send holds something that has no JSON form, or not the form that its place asks for."""


class Dropped(msgspec.Struct, frozen=True):
    """Something of a message that was read as absent, replaced or left out of its list, and why."""

    #: In the names of the wire: ``$.update.content[3]``.
    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


#: Is told each loss of a message that could be read, in the order of the message. ``list.append`` will do.
Report = Callable[[Dropped], object]


def member(path: str, key: str) -> str:
    """The path of a member of the object at `path`."""
    if len(key) > _LONGEST_KEY:
        key = key[:_LONGEST_KEY] + "…"
    return f"{path}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{path}[{quoted(key)}]"


def quoted(text: str) -> str:
    """A text as JSON in plain ASCII, so that what a peer chose cannot reach a terminal as it is."""
    import json  # late: only error texts need it

    return json.dumps(text)


def kind(value: Any) -> str:
    """What a JSON value is, without saying what it holds."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case _:
            return "object"
