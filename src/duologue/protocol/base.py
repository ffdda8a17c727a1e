"""How every wire type of this package is written down.

Three states of a member stay apart: ``UNSET`` (absent), ``None`` (null) and a value. What the schema marks as lenient is
marked here too, so that one salvage pass (`duologue.codec`) can follow it without a second list:

- ``Maybe[T]``   optional; absent, null or a T. A value that does not fit is read as absent.
- ``Opt[T]``     optional, never null; absent or a T. A value that does not fit is read as absent.
- ``Lenient[T]`` required by the schema for senders, yet a reader that finds it missing or wrong takes its default.
- ``Items[T]``   a list whose items are judged one by one: an item that does not fit is dropped.

A plain ``T | None | UnsetType`` (no marker) is optional and strict: a wrong value is an error that names its path.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

T = TypeVar("T")

#: Marks a member that falls back to its default when its value does not fit.
ON_ERROR_DEFAULT = Meta(extra={"on_error": "default"})
#: Marks a list from which items that do not fit are dropped.
SKIP_INVALID = Meta(extra={"on_error": "skip"})

Maybe = Annotated[T | None | UnsetType, ON_ERROR_DEFAULT]
Opt = Annotated[T | UnsetType, ON_ERROR_DEFAULT]
Lenient = Annotated[T, ON_ERROR_DEFAULT]
Items = Annotated[list[T], SKIP_INVALID]

#: The extension object of a type: opaque, carried as it came, merged into nothing.
ExtensionMeta = dict[str, Any]


class Wire(msgspec.Struct, kw_only=True, frozen=True, gc=False, rename="camel"):
    """Root of all wire types: camel case on the wire, snake case here, immutable.

    ``gc=False`` is safe: a value is built from JSON or from other frozen values, so no cycle can reach back to it.
    """


class Extensible(Wire):
    """A wire type that has a ``_meta`` member."""

    meta: Maybe[ExtensionMeta] = msgspec.field(default=UNSET, name="_meta")


class OpenEnum(str, Enum):
    """A string enum that keeps what it does not know: an unknown value becomes a member that encodes back unchanged."""

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    @property
    def known(self) -> bool:
        """Whether the specification of this revision names the value."""
        return self._value_ in type(self)._value2member_map_


class Unknown:
    """A variant of an open union that this revision does not name; ``raw`` is its whole JSON object, tag included.

    It stands in each open union for the type checker only. The decoder's union holds the known structs, and the
    salvage pass makes an `Unknown` of what does not match any of their tags.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown) and self.raw == other.raw

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Unknown({self.raw!r})"
