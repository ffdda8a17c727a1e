"""How every wire type of this package is written down.

Three states of a member stay apart: ``UNSET`` (absent), ``None`` (null) and a value. What the schema marks as lenient
is marked here too, so that one salvage pass (`duologue.codec`) can follow it without a second list:

- ``Maybe[T]``   optional; absent, null or a T. A value that does not fit is read as absent.
- ``Opt[T]``     optional, never null; absent or a T. A value that does not fit is read as absent.
- ``Lenient[T]`` required by the schema for senders, yet a reader that finds it missing or wrong takes the empty value.
- ``Items[T]``   a list whose items are judged one by one: an item that does not fit is dropped.

A plain ``T | UnsetType | None`` (no marker) is optional and strict: a wrong value is an error that names its path.

Unions come in three forms:

- **Tagged.** Each variant is a struct with the same tag field. The runtime alias is ``Annotated[A | B, OPEN]`` and
  holds the known variants only, so the strict pass finds a variant by its tag alone; the type checker's alias adds
  `Unknown`. The salvage pass turns an object with another tag into an `Unknown`. ``open_with(name=type)`` states the
  members such an object must have all the same.
- **Tagged twice.** A variant with a second tag is one struct; the second tag is marked ``SECOND_TAG``, and a value it
  does not know makes the whole object an `Unknown`.
- **Untagged.** Shapes that no tag tells apart are an `Untagged` class at run time: its `pick` names the type of a raw
  value. The strict pass reaches it through `decode_hook`, the salvage pass asks `pick` itself. Nothing is to be undone
  on the way out: the structs that `pick` names encode as they are.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self, TypeVar, dataclass_transform, get_origin

import msgspec
from msgspec import UNSET, Meta, UnsetType

T = TypeVar("T")

#: Marks a member that falls back to its default when its value does not fit.
ON_ERROR_DEFAULT = Meta(extra={"on_error": "default"})
#: Marks a list from which items that do not fit are dropped.
SKIP_INVALID = Meta(extra={"on_error": "skip"})
#: Marks the second tag of a struct that is told apart twice: a value that does not fit makes the object an `Unknown`.
SECOND_TAG = Meta(extra={"on_error": "unknown"})
#: Marks a union of tagged structs that also takes an `Unknown`.
OPEN = Meta(extra={"open": {}})


def open_with(**required: Any) -> Meta:
    """Mark a union as `OPEN` whose unknown variants must have the given members (wire name and type)."""
    return Meta(extra={"open": required})


def default(value: Any) -> Meta:
    """State what the schema lets a reader assume when the member is absent. Decoding does not fill it in."""
    return Meta(extra={"default": value})


def only_v2(**bounds: Any) -> Meta:
    """State bounds (in the words of JSON Schema) that only version 2 sets on a member which both versions share.

    Senders keep them; the decoder, which serves both versions, does not ask.
    """
    return Meta(extra={"v2": bounds})


Maybe = Annotated[T | UnsetType | None, ON_ERROR_DEFAULT]
Opt = Annotated[T | UnsetType, ON_ERROR_DEFAULT]
Lenient = Annotated[T, ON_ERROR_DEFAULT]
Items = Annotated[list[T], SKIP_INVALID]
#: A list that is not empty.
AtLeastOne = Annotated[list[T], Meta(min_length=1)]

#: A switch that is off when absent.
Flag = Annotated[bool | UnsetType, ON_ERROR_DEFAULT, default(False)]

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
UInt16 = Annotated[int, Meta(ge=0, le=2**16 - 1)]
UInt32 = Annotated[int, Meta(ge=0, le=2**32 - 1)]
#: Bounded below only: the decoder's bounds are 64 bit signed.
UInt64 = Annotated[int, Meta(ge=0)]

#: The extension object of a type: opaque, carried as it came, merged into nothing.
ExtensionMeta = dict[str, Any]


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class Wire(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Root of all wire types: camel case on the wire, snake case here, keyword arguments only, immutable.

    A struct does not hand ``kw_only`` down, so each type states it for its own members. A metaclass could do that, but
    Python 3.11 calls a class that has one four times slower.

    ``gc=False`` is safe: a value is built from JSON or from other frozen values, so no cycle can reach back to it.
    """


class Extensible(Wire, kw_only=True):
    """A wire type that has a ``_meta`` member."""

    meta: Maybe[ExtensionMeta] = msgspec.field(default=UNSET, name="_meta")


class Secretive(Extensible, kw_only=True):
    """A wire type with members that must not show up in a log: `hidden` names them, and `repr` leaves them out."""

    hidden: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(name, "***" if name in self.hidden else getattr(self, name)) for name in self.__struct_fields__]


class _Words:
    """Words that no enum of this revision names. `met` grows with each, so values need not be searched for some."""

    def __init__(self) -> None:
        self.met = 0


words_of_ones_own = _Words()


class OpenEnum(StrEnum):
    """A string enum that keeps what it does not know: an unknown value becomes a member that encodes back unchanged."""

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, str):
            return None
        words_of_ones_own.met += 1
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    @classmethod
    def named(cls, word: object) -> Self:
        """The member for a word of this side: a member, the text of one, or (beginning with an underscore) a word of
        one's own. Raises `ValueError` for any other text, `TypeError` for what is none."""
        if isinstance(word, cls):
            return word
        if not isinstance(word, str):
            raise TypeError(f"a {cls.__name__} is one of {', '.join(cls)}, not {type(word).__name__}")
        found = cls(word)
        if found.known or word.startswith("_"):
            return found
        raise ValueError(f"{word!r} is no {cls.__name__}: give one of {', '.join(cls)}")

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


class _ByVariant(type):
    """Makes what `decode_hook` returns for an `Untagged` class an instance of it, as the decoder demands."""

    variants: tuple[Any, ...]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, (Unknown, *(get_origin(variant) or variant for variant in cls.variants)))


class Untagged(metaclass=_ByVariant):
    """A union whose shapes carry no common tag; a class only in the decoder's eyes, and never instantiated."""

    #: Every type that `pick` may name, apart from `Unknown`.
    variants = ()

    @classmethod
    def pick(cls, raw: Any) -> Any:
        """Name the type of a raw JSON value: one of `variants`, or `Unknown` to keep it as it is.

        A value that is no variant at all gets the variant whose error says best what is wrong.
        """
        raise NotImplementedError


def decode_hook(expected: type, raw: Any) -> Any:
    """Decode what msgspec cannot tell apart by itself; to be passed as ``dec_hook`` to every decoder of wire types."""
    if not issubclass(expected, Untagged):
        raise NotImplementedError(f"{expected.__name__} is not a wire type")
    chosen = expected.pick(raw)
    return Unknown(raw) if chosen is Unknown else msgspec.convert(raw, chosen, dec_hook=decode_hook)


def encode_hook(value: Any) -> Any:
    """Encode an `Unknown` as it came; to be passed as ``enc_hook`` to every encoder of wire types."""
    if isinstance(value, Unknown):
        return value.raw
    raise NotImplementedError(f"{type(value).__name__} is not a wire type")
