"""Hypothesis strategies: JSON that fits a wire type, and JSON that has been damaged."""

from enum import Enum
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from hypothesis import strategies as st

from duologue.codec.shapes import Shape, Struct, Table, Tagged, shape_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=5
)


def fitting(hint: Any) -> st.SearchStrategy[Any]:
    """JSON that the strict pass takes for a type, without members that the type does not name."""
    return _fitting(shape_of(hint))


@cache
def _fitting(shape: Shape) -> st.SearchStrategy[Any]:
    options = [_scalar(hint) for hint in shape.scalars]
    if shape.objects:
        options.append(st.deferred(lambda: _object(shape.objects)))
    if lists := shape.lists:
        least = 1 if lists.whole else 0
        options.append(st.deferred(lambda: st.lists(_fitting(lists.item), min_size=least, max_size=2 + least)))
    if shape.untagged:
        options.extend(fitting(variant) for variant in shape.untagged.variants)
    return st.one_of(options)


def _object(shape: Struct | Tagged | Table | None) -> st.SearchStrategy[Any]:
    match shape:
        case Table():
            return st.dictionaries(TEXT, _fitting(shape.values), max_size=2)
        case Tagged():
            return st.one_of([_struct(variant) for variant in shape.variants.values()])
        case Struct():
            return _struct(shape)
    raise AssertionError


@cache
def _struct(shape: Struct) -> st.SearchStrategy[Any]:
    members = {member.info.encode_name: (_fitting(member.shape), member.info.required) for member in shape.members}
    required = {key: each for key, (each, needed) in members.items() if needed}
    optional = {key: each for key, (each, needed) in members.items() if not needed}
    tag = {shape.tag_field: st.just(shape.tag)} if shape.tag_field else {}
    return st.fixed_dictionaries({**tag, **required}, optional=optional)


def _scalar(hint: Any) -> st.SearchStrategy[Any]:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated and args[0] is int:
        return st.integers(args[1].ge, args[1].le)
    if origin is Literal:
        return st.sampled_from(args)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from([member.value for member in hint])
    if origin is dict:
        return st.dictionaries(TEXT, ANY_JSON, max_size=2)
    plain = {str: TEXT, int: st.integers(), bool: st.booleans(), NoneType: st.none(), Any: ANY_JSON}
    return {**plain, float: st.floats(allow_nan=False, allow_infinity=False)}[hint]


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[Any]) -> Any:
    """A message with up to four members or items dropped, replaced, added or doubled, anywhere in it."""
    value = draw(whole)
    for _ in range(draw(st.integers(1, 4))):
        value = _damage(draw, value)
    return value


def _damage(draw: st.DrawFn, value: Any) -> Any:
    if not value or not isinstance(value, dict | list) or draw(st.integers(0, 9)) == 0:
        return draw(ANY_JSON)
    key = draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
    changed = value.copy()
    match draw(st.sampled_from(["descend", "descend", "drop", "null", "replace", "add"])):
        case "descend":
            changed[key] = _damage(draw, value[key])
        case "drop":
            del changed[key]
        case "null":
            changed[key] = None
        case "replace":
            changed[key] = draw(ANY_JSON)
        case "add" if isinstance(changed, dict):
            changed[draw(TEXT | st.sampled_from(["type", "_meta"]))] = draw(ANY_JSON)
        case "add" if isinstance(changed, list):
            changed.insert(key, draw(ANY_JSON | st.just(value[key])))
    return changed
