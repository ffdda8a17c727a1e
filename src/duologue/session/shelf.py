"""Sequences that share what they hold: so that a snapshot costs what has changed, not what there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")

#: How many things are copied together. A snapshot copies those around what has changed, and one reference for each so
#: many things in all.
TOGETHER = 64


class _Counted(Sequence[T]):
    """As many things as there are now, each found by its place."""

    __slots__ = ("_count",)

    def __init__(self, count: int) -> None:
        self._count = count

    def _at(self, place: int) -> T:
        """The thing at a place from 0 on."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self._at(place) for place in range(*index.indices(self._count))]
        return self._at(range(self._count)[index])


class Head(_Counted[T]):
    """The first things of a list that only grows, as they are whatever is appended to it."""

    __slots__ = ("_list",)

    def __init__(self, of: Sequence[T]) -> None:
        super().__init__(len(of))
        self._list = of

    def _at(self, place: int) -> T:
        return self._list[place]

    def __iter__(self) -> Iterator[T]:
        return iter(self._list[: self._count])


class Rows(_Counted[T]):
    """Things in rows of `TOGETHER`, of which only the last may be shorter."""

    __slots__ = ("_rows",)

    def __init__(self, rows: tuple[tuple[T, ...], ...]) -> None:
        super().__init__((len(rows) - 1) * TOGETHER + len(rows[-1]) if rows else 0)
        self._rows = rows

    def _at(self, place: int) -> T:
        row, place = divmod(place, TOGETHER)
        return self._rows[row][place]

    def __iter__(self) -> Iterator[T]:
        return (one for row in self._rows for one in row)


class Kept:
    """A thing on a shelf: where it stands, and its copy for snapshots while it is as it was then."""

    __slots__ = ("frozen", "place")

    frozen: Any
    place: int

    def freeze(self) -> Any:
        """A copy that stays as this is now."""
        raise NotImplementedError


class Shelf(Generic[T]):
    """A list that grows, and copies of it that share what has not changed. What is not `Kept` never changes."""

    def __init__(self) -> None:
        self.items: list[T] = []
        self._rows: list[tuple[Any, ...]] = []
        self._changed: set[int] = set()

    def put(self, item: T) -> None:
        """Append a thing."""
        place = len(self.items)
        if isinstance(item, Kept):
            item.place, item.frozen = place, None
        self.items.append(item)
        self._changed.add(place // TOGETHER)

    def touch(self, item: Kept) -> None:
        """A thing is about to change whose copy is in a snapshot."""
        item.frozen = None
        self._changed.add(item.place // TOGETHER)

    def take_first(self) -> T:
        """Take the oldest thing off; every other one stands elsewhere then, so this is for a short list."""
        first = self.items.pop(0)
        if isinstance(first, Kept):
            first.frozen = None
        for place, item in enumerate(self.items):
            if isinstance(item, Kept):
                item.place = place
        self._rows.clear()
        self._changed.update(range(-(-len(self.items) // TOGETHER)))
        return first

    def snapshot(self) -> Rows[Any]:
        """The things as they are now."""
        for row in sorted(self._changed):
            start = row * TOGETHER
            self._rows[row : row + 1] = [tuple(map(_frozen, self.items[start : start + TOGETHER]))]
        self._changed.clear()
        return Rows(tuple(self._rows))


def _frozen(item: Any) -> Any:
    if not isinstance(item, Kept):
        return item
    if item.frozen is None:
        item.frozen = item.freeze()
    return item.frozen
