"""Wire types as the salvage pass walks them: what an object, a list and everything else may be in one place.

Built from the type hints when a message first needs them, and kept. Parts name their own parts late, so that one bad
message builds no more than what it touches, and recursive types end.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta, UnsetType
from msgspec.structs import FieldInfo

from duologue.protocol.base import Untagged

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Member:
    """A member of a struct. `lenient`: has a default for a value that does not fit; `second_tag`: names a variant."""

    info: FieldInfo
    lenient: bool
    second_tag: bool

    @cached_property
    def shape(self) -> Shape:
        return shape_of(self.info.type)

    def default(self) -> Any:
        """The value of an absent member, or ``NODEFAULT`` where the member is required."""
        if self.info.default_factory is not NODEFAULT:
            return self.info.default_factory()
        return self.info.default


@dataclass(frozen=True, eq=False)
class Struct:
    """An object with known members."""

    cls: type[msgspec.Struct]

    @cached_property
    def members(self) -> tuple[Member, ...]:
        return tuple(_member(info) for info in msgspec.structs.fields(self.cls))

    @cached_property
    def second_tag(self) -> Member | None:
        return next((member for member in self.members if member.second_tag), None)

    @property
    def tag_field(self) -> str | None:
        return self.cls.__struct_config__.tag_field

    @property
    def tag(self) -> Any:
        return self.cls.__struct_config__.tag


@dataclass(frozen=True, eq=False)
class Tagged:
    """An object whose member `field` says which struct it is. `unknown`: what other variants must have, if allowed."""

    field: str
    variants: Mapping[Any, Struct]
    unknown: Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class Table:
    """An object whose names are free and whose values are alike."""

    hint: Any

    @cached_property
    def values(self) -> Shape:
        return shape_of(self.hint)


@dataclass(frozen=True, eq=False)
class Items:
    """A list. `skips`: items that do not fit are dropped; `whole` judges the length, when there are bounds to it."""

    hint: Any
    skips: bool
    whole: Any

    def takes(self, items: list[Any]) -> bool:
        """Whether a list may be as long as this one, whose items fit."""
        if not self.whole:
            return True
        try:
            msgspec.convert(items, self.whole)
        except msgspec.ValidationError:
            return False
        return True

    @cached_property
    def item(self) -> Shape:
        return shape_of(self.hint)


@dataclass(frozen=True, eq=False)
class Shape:
    """What may stand in one place. `scalars` are the types of all that is walked neither as an object nor as a list."""

    objects: Struct | Tagged | Table | None = None
    lists: Items | None = None
    untagged: type[Untagged] | None = None
    scalars: tuple[Any, ...] = ()

    @cached_property
    def scalar(self) -> Any:
        """One type for all scalars, for msgspec to judge by."""
        return Union[self.scalars]  # noqa: UP007 - its members are known at run time only

    @property
    def nullable(self) -> bool:
        return NoneType in self.scalars


@cache
def shape_of(hint: Any) -> Shape:
    """The shape of a type: a struct, a list, a dict, a scalar, or a union of these, with or without marks."""
    options = list(_options(hint, ()))
    variants = _all(_Variant, options)
    return Shape(
        objects=_object(variants) if variants else _first(Table, options),
        lists=_first(Items, options),
        untagged=next((option.cls for option in _all(_Picked, options)), None),
        scalars=tuple(option.hint for option in _all(_Scalar, options)),
    )


@dataclass(frozen=True, eq=False)
class _Variant:
    struct: Struct
    open: Mapping[str, Any] | None


@dataclass(frozen=True, eq=False)
class _Picked:
    cls: type[Untagged]


@dataclass(frozen=True, eq=False)
class _Scalar:
    hint: Any


_Option = _Variant | Table | Items | _Picked | _Scalar


def _options(hint: Any, marks: tuple[Any, ...]) -> Iterator[_Option]:
    """The members of a union, flat; marks of a union hold for each."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _options(args[0], (*args[1:], *marks))
    if origin in (Union, UnionType):
        return chain.from_iterable(_options(arg, marks) for arg in args)
    return iter(() if hint is UnsetType else (_option(hint, marks),))


def _option(hint: Any, marks: tuple[Any, ...]) -> _Option:
    args = get_args(hint)
    bounds = tuple(mark for mark in marks if isinstance(mark, Meta) and mark != Meta(extra=mark.extra))
    match get_origin(hint) or hint:
        case builtins.list if args:
            return Items(args[0], "skip" in _said(marks, "on_error"), Annotated[list[Any], *bounds] if bounds else None)
        case builtins.dict if args[1:] not in ((), (Any,)):
            return Table(args[1])
        case type() as cls if issubclass(cls, msgspec.Struct):
            return _Variant(_struct(cls), next(iter(_said(marks, "open")), None))
        case type() as cls if issubclass(cls, Untagged):
            return _Picked(cls)
    return _Scalar(Annotated[hint, *bounds] if bounds else hint)


@cache
def _struct(cls: type[msgspec.Struct]) -> Struct:
    return Struct(cls)


def _all(wanted: type[P], options: Iterable[_Option]) -> list[P]:
    return [option for option in options if isinstance(option, wanted)]


def _first(wanted: type[P], options: Iterable[_Option]) -> P | None:
    return next(iter(_all(wanted, options)), None)


def _object(variants: list[_Variant]) -> Struct | Tagged:
    first = variants[0]
    if len(variants) == 1 and (first.open is None or first.struct.tag is None):
        return first.struct
    if first.struct.tag_field is None:
        raise TypeError(f"{first.struct.cls.__name__} has no tag that tells it from the others of its union")
    return Tagged(first.struct.tag_field, {each.struct.tag: each.struct for each in variants}, first.open)


def _member(info: FieldInfo) -> Member:
    marks = get_args(info.type)[1:] if get_origin(info.type) is Annotated else ()
    on_error = _said(marks, "on_error")
    return Member(info, lenient="default" in on_error, second_tag="unknown" in on_error)


def _said(marks: Iterable[Any], key: str) -> list[Any]:
    """What the marks say under `key`; a list that is lenient and drops items says two things."""
    return [mark.extra[key] for mark in marks if isinstance(mark, Meta) and mark.extra and key in mark.extra]
