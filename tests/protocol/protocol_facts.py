"""The facts of the schemas, and the types of this package put into the words of those facts (see `make_facts.py`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from msgspec import Meta, UnsetType

from duologue.protocol import find_type
from duologue.protocol.base import Untagged

Json = dict[str, Any]
VERSIONS = ("v1", "v2")
INTEGERS: dict[Any, str] = {
    (-(2**31), 2**31 - 1): "int32",
    (-(2**63), 2**63 - 1): "int64",
    (0, 2**16 - 1): "uint16",
    (0, 2**32 - 1): "uint32",
    (0, None): "uint64",
}
PLAIN: dict[Any, str] = {str: "string", bool: "boolean", float: "double", NoneType: "null", Any: "any"}


@cache
def facts(version: str) -> Json:
    path = Path(__file__).parent / "facts" / f"{version}.json"
    found: Json = json.loads(path.read_text("utf-8"))
    return found


def all_types() -> list[tuple[str, str]]:
    """Version and name of each definition."""
    return [(version, name) for version in VERSIONS for name in facts(version)["types"]]


# --- What the schema says, flat ---------------------------------------------------------------------------------------


def plain(version: str, said: Any) -> Any:
    """A T with the names of plain types replaced by what they stand for, in an order that can be compared."""
    match said:
        case {"ref": name}:
            return _plain_name(version, name)
        case {"list": item}:
            return {"list": plain(version, item)}
        case {"map": item}:
            return {"map": plain(version, item)}
        case {"any_of": several}:
            return {"any_of": ordered(plain(version, each) for each in several)}
    return said


def _plain_name(version: str, name: str) -> Any:
    match facts(version)["types"][name]:
        case {"is": said} if "ref" not in json.dumps(said):
            return plain(version, said)
        case {"alternatives": [{"of": [only], "members": {}, **rest}]} if "tag" not in rest:
            return {"ref": only}
    return {"ref": name}


def ordered(several: Iterable[Any]) -> list[Any]:
    """Without doubles."""
    return [json.loads(text) for text in sorted({json.dumps(each, sort_keys=True) for each in several})]


def members(version: str, said: Json) -> Json:
    """The members of a definition or of an alternative; those of its alternatives are put together."""
    found = {name: {**each, "type": plain(version, each["type"])} for name, each in said["members"].items()}
    for name in said.get("of", []):
        found |= members(version, facts(version)["types"][name])
    if "alternatives" in said:
        found |= merged([with_tag(version, each) for each in said["alternatives"]])
    return {name: {**each, **_pruned(version, each)} for name, each in found.items()}


def with_tag(version: str, alternative: Json) -> Json:
    """The members of an alternative, its tag among them."""
    found = members(version, alternative)
    match alternative.get("tag"):
        case [field, str(value)]:
            found[field] = {"type": {"const": value}, "required": True}
        case [field, None]:
            found[field] = {"required": True}
    return found


def merged(several: list[Json]) -> Json:
    """Members of several shapes as those of one: required where all of them say so."""
    names = {name for each in several for name in each}
    return {name: _merged([each.get(name) for each in several]) for name in names}


def _merged(several: list[Json | None]) -> Json:
    there = [each for each in several if each]
    types = ordered(each["type"] for each in there if "type" in each)
    found = {**there[0], "type": types[0] if len(types) == 1 else {"any_of": types}}
    if not all(each and each.get("required") for each in several):
        found.pop("required", None)
    return found


def _pruned(version: str, member: Json) -> Json:
    """A default without what the members of the default's own type say already."""
    match member:
        case {"default": dict() as default, "type": {"ref": name}}:
            inner = facts(version)["types"][name]["members"]
            return {"default": {k: v for k, v in default.items() if _default(version, inner[k]) != v}}
    return {}


def _default(version: str, member: Json) -> Any:
    match member:
        case {"default": dict(), "type": {"ref": name}}:
            inner = facts(version)["types"][name]["members"]
            return {key: _default(version, each) for key, each in inner.items() if "default" in each}
    return member.get("default")


# --- What our types say -----------------------------------------------------------------------------------------------


def our_shape(version: str, hint: Any) -> Any:
    """The T of a type of ours."""
    hint, marks = unmarked(hint)
    bounds = next(((mark.ge, mark.le) for mark in marks if mark.ge is not None), None)
    if bounds:
        return INTEGERS[bounds]
    if hint in PLAIN:
        return PLAIN[hint]
    options = [each for each in _options(hint) if each is not UnsetType]
    name = _name_of(version, hint, marks)
    if name:
        return {"ref": name}
    match get_origin(hint), get_args(hint):
        case builtin, (item,) if builtin is list:
            return {"list": our_shape(version, item)}
        case builtin, (_, item) if builtin is dict:
            return {"map": our_shape(version, item)}
    if len(options) > 1:
        return {"any_of": ordered(our_shape(version, each) for each in options)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"any_of": ordered({"const": member.value} for member in hint)}
    raise AssertionError(f"{hint} has no name in {version}")


def _name_of(version: str, hint: Any, marks: tuple[Meta, ...]) -> str | None:
    whole = Annotated[hint, *marks] if marks else hint
    union = next((name for name, each in _unions(version).items() if each == whole), None)
    if union or not isinstance(hint, type):
        return union
    name = hint.__name__
    return name if name in facts(version)["types"] and find_type(version, name) is hint else None


@cache
def _unions(version: str) -> Mapping[str, Any]:
    """The named unions of structs."""
    named = {name: find_type(version, name) for name in facts(version)["types"]}
    return {name: each for name, each in named.items() if get_origin(each) is Annotated and variants(each)}


def unmarked(hint: Any) -> tuple[Any, tuple[Meta, ...]]:
    if get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        return inner, tuple(marks)
    return hint, ()


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def variants(hint: Any) -> list[type[msgspec.Struct]]:
    """The structs of a union, or the struct itself."""
    options = hint.variants if is_untagged(hint) else _options(unmarked(hint)[0])
    return [each for each in options if isinstance(each, type) and issubclass(each, msgspec.Struct)]


def is_untagged(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Untagged)


def our_members(version: str, struct: type[msgspec.Struct]) -> Json:
    """The members of a struct of ours."""
    return {each.encode_name: _our_member(version, each) for each in msgspec.structs.fields(struct)}


def _our_member(version: str, field: msgspec.structs.FieldInfo) -> Json:
    hint, marks = unmarked(field.type)
    if _name_of(version, hint, marks) or any(mark.ge is not None for mark in marks):
        hint, marks = field.type, ()
    options = [each for each in _options(hint) if each not in (UnsetType, NoneType)]
    marks += tuple(mark for option in options for mark in _list_marks(option))
    found: Json = {"type": our_shape(version, Union[tuple(options)])}  # noqa: UP007 - known at run time only
    if NoneType in _options(hint) and found["type"] != "any" and not _is_plain_union(hint):
        found["nullable"] = True
    if field.required:
        found["required"] = True
    if NoneType in _options(hint) and _is_plain_union(hint):
        found["type"] = our_shape(version, hint)
    return found | dict(_said(version, marks))


def _is_plain_union(hint: Any) -> bool:
    """A request's id, for which null is one of its values."""
    return {int, str} <= {unmarked(each)[0] for each in _options(hint)}


def _list_marks(option: Any) -> tuple[Meta, ...]:
    inner, marks = unmarked(option)
    return marks if get_origin(inner) is list else ()


def _said(version: str, marks: Iterable[Meta]) -> Iterator[tuple[str, Any]]:
    for mark in marks:
        extra = mark.extra or {}
        match extra.get("on_error"):
            case "default":
                yield "lenient", True
            case "skip":
                yield "skip", True
        if "default" in extra:
            yield "default", extra["default"]
        if "v2" in extra and version == "v2":
            yield "bounds", extra["v2"]
        if mark.min_length:
            yield "bounds", {"minItems": mark.min_length}
