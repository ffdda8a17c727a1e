"""Whether two types say the same on the wire, as deep as they go."""

from __future__ import annotations

from enum import Enum
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta

Pairs = frozenset[tuple[Any, Any]]


def same(one: Any, other: Any, assumed: Pairs = frozenset()) -> bool:
    """Whether both have the same members, tags, scalars and values of enums, and which members are required. A type
    inside itself is taken to be the same until something differs."""
    if one is other or (_key(one), _key(other)) in assumed:
        return True
    assumed |= {(_key(one), _key(other))}
    if hasattr(one, "variants") and hasattr(other, "variants"):
        return _all_same(one.variants, other.variants, assumed)
    if isinstance(one, type) and isinstance(other, type):
        return _same_class(one, other, assumed)
    if isinstance(one, Meta) and isinstance(other, Meta):
        return True  # What a reader forgives is no part of the shape.
    if not get_args(one) or _origin(one) is not _origin(other):
        return bool(one == other)
    return _all_same(get_args(one), get_args(other), assumed)


def _same_class(one: type, other: type, assumed: Pairs) -> bool:
    if issubclass(one, Enum) and issubclass(other, Enum):
        return {each.value for each in one} == {each.value for each in other}
    if not (issubclass(one, msgspec.Struct) and issubclass(other, msgspec.Struct)):
        return False
    if one.__struct_config__.tag != other.__struct_config__.tag:
        return False
    ours, theirs = _members(one), _members(other)
    return ours.keys() == theirs.keys() and all(
        ours[name][0] == theirs[name][0] and same(ours[name][1], theirs[name][1], assumed) for name in ours
    )


def _members(struct: type) -> dict[str, tuple[bool, Any]]:
    """By its name on the wire: whether a member is required, and its type."""
    return {
        field.encode_name: (field.default is NODEFAULT and field.default_factory is NODEFAULT, field.type)
        for field in msgspec.structs.fields(struct)
    }


def _all_same(ours: Any, theirs: Any, assumed: Pairs) -> bool:
    """Each has a counterpart; the variants of a union stand in any order."""
    if len(ours) != len(theirs):
        return False
    return all(any(same(one, other, assumed) for other in theirs) for one in ours)


def _origin(hint: Any) -> Any:
    origin = get_origin(hint)
    return Union if origin is not None and str(origin).endswith("UnionType'>") else origin


def _key(hint: Any) -> Any:
    return hint if isinstance(hint, type) else repr(hint)
