"""The slow pass over a message that the strict pass refused: keeps all that its schema lets a reader keep.

It walks plain JSON beside the shape of the wanted type. Whole parts that fit are converted in C, so that the walk goes
only where something is wrong. What falls away on the way is collected; an error within a part that is dropped anyhow
leaves no other trace.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import NODEFAULT

from duologue.protocol.base import Unknown, decode_hook

from .errors import DoesNotFit, Dropped, kind, member
from .shapes import Items, Member, Shape, Struct, Table, Tagged, shape_of
from .wording import misfit, misfit_of_ours, one_of

# Beyond this, a float no longer says which integer was meant.
_EXACT = 2**53


#: A message that loses more than this is refused. Without an end to it, one list of many millions of wrong items would
#: keep a program busy for minutes.
MOST_DROPPED = 10_000


class _TooDamaged(Exception):
    """Ends the walk wherever it is, past all places that would fall back to a default."""


class Salvage:
    """One walk over one message, which adds to `dropped` on the way. In a message of ours the errors name the
    types that fit."""

    def __init__(self, dropped: list[Dropped], *, ours: bool = False) -> None:
        self.dropped = dropped
        self._misfit = misfit_of_ours if ours else misfit
        self._drops = 0

    def root(self, shape: Shape, value: Any, path: str) -> Any:
        """As `fit`, for a whole message: null stands for an empty object, since some peers answer so."""
        try:
            return self.whole(shape, value, path)
        except DoesNotFit as error:
            if value is not None:
                raise
            empty = _empty(shape, error)
            self._drop(0, path, error)
            return empty

    def whole(self, shape: Shape, value: Any, path: str) -> Any:
        """As `fit`, for a value that is not a part of another. Raises `DoesNotFit` for one that loses too much, too."""
        try:
            return self.fit(shape, value, path)
        except _TooDamaged:
            raise DoesNotFit(path, f"more than {MOST_DROPPED} values in it do not fit") from None

    def fit(self, shape: Shape, value: Any, path: str) -> Any:
        """The value of the type that `shape` was made of. Raises `DoesNotFit`."""
        match value:
            case None if shape.nullable:
                return None
            case _ if shape.untagged:
                return self._picked(shape.untagged.pick(value), value, path)
            case dict() if shape.objects:
                return self._object(shape.objects, value, path)
            case list() if shape.lists:
                items = self._list(shape.lists, value, path)
                if not shape.lists.takes(items):
                    raise DoesNotFit(path, self._misfit(shape, value))
                return items
            case _:
                return _scalar(shape, value, path, self._misfit)

    def _picked(self, chosen: Any, value: Any, path: str) -> Any:
        return Unknown(value) if chosen is Unknown else self.fit(shape_of(chosen), value, path)

    def _object(self, shape: Struct | Tagged | Table, value: dict[str, Any], path: str) -> Any:
        match shape:
            case Table():
                return {key: self.fit(shape.values, item, member(path, key)) for key, item in value.items()}
            case Tagged():
                return self._variant(shape, value, path)
            case Struct():
                return self._struct(shape, value, path)

    def _variant(self, shape: Tagged, value: dict[str, Any], path: str) -> Any:
        if shape.field not in value and len(shape.variants) == 1:
            # The strict pass asks for no tag where there is nothing to tell apart; this one must not ask for more.
            return self._struct(next(iter(shape.variants.values())), value, path)
        tag = _tag(shape.field, value, path)
        if tag in shape.variants:
            return self._struct(shape.variants[tag], value, path)
        if shape.unknown is None:
            raise DoesNotFit(member(path, shape.field), f"expected {one_of(shape.variants)}, found another string")
        for key, hint in shape.unknown.items():
            Salvage([]).fit(shape_of(hint), _required(key, value, path), member(path, key))
        return Unknown(value)

    def _struct(self, shape: Struct, value: dict[str, Any], path: str) -> Any:
        try:
            return msgspec.convert(value, shape.cls, dec_hook=decode_hook)
        except msgspec.ValidationError:
            pass
        if shape.tag_field in value and _tag(shape.tag_field, value, path) != shape.tag:
            raise DoesNotFit(member(path, shape.tag_field), f"expected {one_of([shape.tag])}, found another string")
        if shape.second_tag and _names_another(shape.second_tag, value, path):
            return Unknown(value)
        return shape.cls(**{each.info.name: self._member(each, value, path) for each in shape.members})

    def _member(self, shape: Member, value: dict[str, Any], path: str) -> Any:
        key = shape.info.encode_name
        if key not in value and not shape.info.required:
            return shape.default()
        kept = len(self.dropped)
        try:
            return self.fit(shape.shape, _required(key, value, path), member(path, key))
        except DoesNotFit as error:
            fallback = _fallback(shape, value.get(key, NODEFAULT), error)
            self._drop(kept, member(path, key), error)
            return fallback

    def _list(self, shape: Items, value: list[Any], path: str) -> list[Any]:
        items = []
        for index, item in enumerate(value):
            kept = len(self.dropped)
            try:
                items.append(self.fit(shape.item, item, f"{path}[{index}]"))
            except DoesNotFit as error:
                if not shape.skips:
                    raise
                self._drop(kept, f"{path}[{index}]", error)
        return items

    def _drop(self, kept: int, path: str, error: DoesNotFit) -> None:
        """Notes the loss of what stands at `path`, and forgets the losses within it."""
        self._drops += 1
        if self._drops > MOST_DROPPED:
            raise _TooDamaged
        del self.dropped[kept:]
        self.dropped.append(Dropped(path, error.reason if error.path == path else str(error)))


def _tag(field: str, value: dict[str, Any], path: str) -> str:
    tag = _required(field, value, path)
    if not isinstance(tag, str):
        raise DoesNotFit(member(path, field), f"expected string, found {kind(tag)}")
    return tag


def _required(key: str, value: dict[str, Any], path: str) -> Any:
    if key not in value:
        raise DoesNotFit(member(path, key), "required member is missing")
    return value[key]


def _names_another(second_tag: Member, value: dict[str, Any], path: str) -> bool:
    """Whether the second tag is a text that this revision does not name."""
    key = second_tag.info.encode_name
    try:
        _scalar(second_tag.shape, _tag(key, value, path), path)
    except DoesNotFit:
        return isinstance(value.get(key), str)
    return False


def _fallback(shape: Member, found: Any, error: DoesNotFit) -> Any:
    """What stands for a member that is missing or does not fit, or else the error."""
    optional = not shape.info.required
    if optional and (shape.lenient or found is None):
        return shape.default()
    if shape.lenient:
        return _empty(shape.shape, error)
    raise error


def _empty(shape: Shape, error: DoesNotFit) -> Any:
    """An empty list, or an object without members, whichever fits, or else the error."""
    if shape.lists and not shape.lists.whole:
        return []
    if isinstance(shape.objects, Struct):
        with suppress(DoesNotFit):
            return Salvage([]).fit(shape, {}, error.path)
    raise error


def _scalar(shape: Shape, value: Any, path: str, misfit: Callable[[Shape, Any], str] = misfit) -> Any:
    if shape.scalars:
        try:
            return msgspec.convert(value, shape.scalar)
        except msgspec.ValidationError:
            pass
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return _scalar(shape, int(value), path, misfit)
    raise DoesNotFit(path, misfit(shape, value))
