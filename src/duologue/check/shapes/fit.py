"""Holds what was sent against the types of the protocol, and tells each misfit with the place where it belongs.

The codec is lenient, as a reader should be. Here nothing is let pass: a sender has to keep the schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec

from duologue.check.shapes.looks import looks_wrong
from duologue.codec.errors import kind, member
from duologue.codec.shapes import Shape, Struct, Table, Tagged, shape_of
from duologue.protocol.base import OpenEnum, Unknown


class Wrong(Enum):
    """What can be wrong in a place."""

    MISSING = "missing"
    TYPE = "type"
    WORD = "word"
    VARIANT = "variant"
    MEMBER = "member"
    LOOK = "look"


@dataclass(frozen=True)
class Misfit:
    """`owner` and `member` are the type and the name of its member as on the wire; `path` is where in the message."""

    owner: str
    member: str
    wrong: Wrong
    path: str
    text: str
    value: Any = None

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class Fit:
    """One walk over one value. `met` are the names of the types that were seen, `misfits` what does not fit."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.met: set[str] = set()
        self.misfits: list[Misfit] = []

    def root(self, value: Any, hint: Any, path: str) -> None:
        """As `walk`, for a whole params or result: nothing is as good as an empty object."""
        shape = shape_of(hint)
        empty = isinstance(shape.objects, Struct) and not any(each.info.required for each in shape.objects.members)
        if value is None and empty:
            return
        self.walk(value, shape, path, _name(shape), "")

    def walk(self, value: Any, shape: Shape, path: str, owner: str, name: str) -> None:
        if value is None and shape.nullable:
            return
        if shape.untagged is not None:
            chosen = shape.untagged.pick(value)
            if chosen is not Unknown:
                self.walk(value, shape_of(chosen), path, owner, name)
            elif not _own(value.get("type")):
                self._add(owner, name, Wrong.VARIANT, path, f"there is no {value.get('type')!r}", value.get("type"))
            return
        match value:
            case dict() if shape.objects:
                self._object(value, shape.objects, path, owner, name)
            case list() if shape.lists:
                for index, item in enumerate(value):
                    self.walk(item, shape.lists.item, f"{path}[{index}]", owner, name)
                if not shape.lists.takes(value):
                    self._add(owner, name, Wrong.TYPE, path, f"a list of {len(value)} is too short or too long", value)
            case _:
                self._scalar(value, shape, path, owner, name)

    def _object(self, value: Any, shape: Struct | Tagged | Table, path: str, owner: str, name: str) -> None:
        match shape:
            case Table():
                for key, item in value.items():
                    self.walk(item, shape.values, member(path, key), owner, name)
            case Tagged():
                tag = value.get(shape.field)
                found = shape.variants.get(tag) if isinstance(tag, str) else None
                if found is not None:
                    self._struct(value, found, path)
                elif shape.field not in value:
                    self._add(owner, name, Wrong.MISSING, path, f"{shape.field} is missing")
                elif not _own(tag):
                    text = f"there is no {shape.field} {tag!r} in version {self.version}"
                    self._add(owner, name, Wrong.VARIANT, path, text, tag)
            case Struct():
                self._struct(value, shape, path)

    def _struct(self, value: dict[str, Any], struct: Struct, path: str) -> None:
        owner = struct.cls.__name__
        self.met.add(owner)
        if struct.tag_field is not None and value.get(struct.tag_field) != struct.tag:
            self._add(owner, struct.tag_field, Wrong.TYPE, path, f"{struct.tag_field} is not {struct.tag!r}")
        known = {each.info.encode_name: each for each in struct.members}
        for name, each in known.items():
            at = member(path, name)
            if name in value:
                before = len(self.misfits)
                self.walk(value[name], each.shape, at, owner, name)
                if len(self.misfits) == before and (text := looks_wrong(owner, name, value[name], self.version)):
                    self._add(owner, name, Wrong.LOOK, at, text, value[name])
            elif each.info.required:
                self._add(owner, name, Wrong.MISSING, at, "is missing")
        for name in value.keys() - known.keys() - {struct.tag_field}:
            self._add(owner, name, Wrong.MEMBER, member(path, name), f"{owner} has no such member", name)

    def _scalar(self, value: Any, shape: Shape, path: str, owner: str, name: str) -> None:
        try:
            found = msgspec.convert(value, shape.scalar) if shape.scalars else _NOTHING
        except (msgspec.ValidationError, TypeError):
            found = _NOTHING
        if found is _NOTHING:
            self._add(owner, name, Wrong.TYPE, path, f"{_article(kind(value))} does not belong here", value)
        elif isinstance(found, OpenEnum) and not found.known and not _own(value):
            self._add(owner, name, Wrong.WORD, path, f"{value!r} is no word of version {self.version}", value)

    def _add(self, owner: str, name: str, wrong: Wrong, path: str, text: str, value: Any = None) -> None:
        self.misfits.append(Misfit(owner, name, wrong, path, text, value))


_NOTHING = object()


def _own(word: Any) -> bool:
    return isinstance(word, str) and word.startswith("_")


def _name(shape: Shape) -> str:
    """What to call the place of a whole params or result that is not even an object."""
    match shape.objects:
        case Struct(cls=cls):
            return cls.__name__
        case Tagged(variants=variants):
            return next(iter(variants.values())).cls.__name__
    return ""


def _article(word: str) -> str:
    return word if word == "null" else f"an {word}" if word[0] in "aeio" else f"a {word}"
