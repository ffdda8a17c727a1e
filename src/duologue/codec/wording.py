"""How an error text names what a place may hold, in the words of JSON."""

from __future__ import annotations

from enum import Enum
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from duologue.protocol.base import OpenEnum

from .errors import kind, quoted
from .shapes import Shape, Struct, Tagged

#: Types that an error names.
MOST_NAMED = 6

_NAMES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    list: "array",
    dict: "object",
}
_BOUNDS = {
    "gt": "> {}",
    "ge": ">= {}",
    "lt": "< {}",
    "le": "<= {}",
    "multiple_of": "that is a multiple of {}",
    "min_length": "of length >= {}",
    "max_length": "of length <= {}",
    "pattern": "that matches {}",
}


@cache
def expected(shape: Shape) -> str:
    """`object, string or null`: what fits, without a word on members."""
    objects = ["object"] if shape.objects or shape.untagged else []
    lists = [_scalar(shape.lists.whole or list)] if shape.lists else []
    return _either([*objects, *lists, *map(_scalar, shape.scalars)])


def misfit(shape: Shape, value: Any) -> str:
    """What a place may hold, and the kind of what it holds instead."""
    wanted, found = expected(shape), kind(value)
    return f"expected {wanted}, found {'another ' if found in wanted else ''}{found}"


def misfit_of_ours(shape: Shape, value: Any) -> str:
    """The same in the words of Python, for whoever made the value."""
    match shape.objects:
        case Struct() as only:
            kinds = [only]
        case Tagged(variants=variants):
            kinds = list(variants.values())
        case _:
            return misfit(shape, value)
    names = _either([each.cls.__name__ for each in kinds[:MOST_NAMED]] + (["..."] if len(kinds) > MOST_NAMED else []))
    return f"expected {names}, found {kind(value)}"


def one_of(values: Any) -> str:
    """The allowed texts of a tag or a closed enum, quoted."""
    return _either([quoted(value) for value in values])


def _scalar(hint: Any) -> str:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return " ".join([_scalar(args[0]), *(_bounds(mark) for mark in args[1:])])
    if origin is Literal:
        return one_of(args)
    if isinstance(hint, type) and issubclass(hint, Enum) and not issubclass(hint, OpenEnum):
        return one_of(each.value for each in hint)
    return _NAMES.get(origin or hint, "string" if isinstance(hint, type) and issubclass(hint, str) else "value")


def _bounds(mark: Any) -> str:
    return " and ".join(
        text.format(getattr(mark, name)) for name, text in _BOUNDS.items() if getattr(mark, name) is not None
    )


def _either(names: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
