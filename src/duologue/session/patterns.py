"""Patterns of forms, matched in time linear in the text: the one who writes a pattern must not be able to hang the one
who checks by it.

Python's parser reads the pattern; a set of states walks over the text. What no such walk can do (groups that are
referred to, looking ahead or behind) and what is no pattern at all is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

#: How many states a pattern may have: repeats are written out.
MAX_STATES = 2_000
#: How many states a walk over one text may be in, all places together; a second of work at most.
MAX_STEPS = 500_000
#: How many ranges and classes one class of characters may hold; single characters are free.
MAX_TESTS = 64

_Accepts = Callable[[str], bool]
#: How a pattern goes on: a character to take, a place to be at, or a fork.
_State = tuple[str, Any, list[int]]

_CATEGORIES: dict[Any, _Accepts] = {
    op.CATEGORY_DIGIT: lambda char: char in "0123456789",
    op.CATEGORY_WORD: lambda char: char == "_" or (char.isascii() and char.isalnum()),
    op.CATEGORY_SPACE: lambda char: char.isspace() or char == "\ufeff",
}
_OPPOSITES = {
    op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
    op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
    op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
}


class _Unsupported(Exception):
    pass


def matches(pattern: str, text: str) -> bool | None:
    """Whether a pattern occurs in a text; None when the pattern cannot be checked.

    A text that takes more than `MAX_STEPS` counts as one in which it does not occur: unchecked it must not pass.
    """
    machine = _machine(pattern)
    return None if machine is None else machine.occurs_in(text)


@lru_cache(maxsize=64)
def _machine(pattern: str) -> _Machine | None:
    try:
        return _Machine(parser.parse(pattern))
    except (_Unsupported, re.error, OverflowError, RecursionError):
        return None


class _Machine:
    """States by number; the last one is the end of the pattern."""

    def __init__(self, parsed: Any) -> None:
        if parsed.state.flags & ~re.UNICODE.value:
            raise _Unsupported
        self._states: list[_State] = []
        self._start = self._sequence(parsed, self._add("end", None, []))

    def occurs_in(self, text: str) -> bool:
        current: set[int] = set()
        steps = 0
        for place in range(len(text) + 1):
            current = self._closed({*current, self._start}, text, place)
            steps += len(current)
            if steps > MAX_STEPS:
                return False
            if any(self._states[state][0] == "end" for state in current):
                return True
            if place < len(text):
                current = set(self._step(current, text[place]))
        return False

    def _step(self, current: Iterable[int], char: str) -> Iterator[int]:
        for state in current:
            kind, accepts, targets = self._states[state]
            if kind == "char" and accepts(char):
                yield from targets

    def _closed(self, current: set[int], text: str, place: int) -> set[int]:
        """Every state that can be reached without a character."""
        todo, seen = list(current), set(current)
        while todo:
            kind, holds, targets = self._states[todo.pop()]
            if kind == "fork" or (kind == "at" and holds(text, place)):
                todo += [target for target in targets if target not in seen]
                seen.update(targets)
        return seen

    # --- building, from the end to the start --------------------------------------------------------------------------

    def _add(self, kind: str, test: Any, targets: list[int]) -> int:
        if len(self._states) >= MAX_STATES:
            raise _Unsupported
        self._states.append((kind, test, targets))
        return len(self._states) - 1

    def _sequence(self, items: Any, after: int) -> int:
        for kind, detail in reversed(list(items)):
            after = self._item(kind, detail, after)
        return after

    def _item(self, kind: Any, detail: Any, after: int) -> int:
        if kind is op.BRANCH:
            return self._add("fork", None, [self._sequence(branch, after) for branch in detail[1]])
        if kind is op.SUBPATTERN and not detail[1] and not detail[2]:
            return self._sequence(detail[3], after)
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._repeat(detail, after)
        if kind is op.AT:
            return self._add("at", _place(detail), [after])
        return self._add("char", _accepts(kind, detail), [after])

    def _repeat(self, detail: Any, after: int) -> int:
        least, most, items = detail
        if most is op.MAXREPEAT:
            loop = self._add("fork", None, [after])
            self._states[loop][2].append(self._sequence(items, loop))
            after = loop
        else:
            end = after
            for _ in range(most - least):
                after = self._add("fork", None, [end, self._sequence(items, after)])
        for _ in range(least):
            before = len(self._states)
            after = self._sequence(items, after)
            if len(self._states) == before:
                break  # Nothing, however often: the number is the agent's, and may be in the thousands of millions.
        return after


def _place(detail: Any) -> Callable[[str, int], bool]:
    if detail in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
        return lambda text, place: place == 0
    if detail in (op.AT_END, op.AT_END_STRING):
        return lambda text, place: place == len(text)
    if detail is op.AT_BOUNDARY:
        return _at_boundary
    if detail is op.AT_NON_BOUNDARY:
        return lambda text, place: not _at_boundary(text, place)
    raise _Unsupported


def _at_boundary(text: str, place: int) -> bool:
    word = _CATEGORIES[op.CATEGORY_WORD]
    before = place > 0 and word(text[place - 1])
    return before != (place < len(text) and word(text[place]))


def _accepts(kind: Any, detail: Any) -> _Accepts:
    if kind is op.LITERAL:
        return chr(detail).__eq__
    if kind is op.NOT_LITERAL:
        return chr(detail).__ne__
    if kind is op.ANY:
        return lambda char: char not in "\n\r\u2028\u2029"
    if kind is op.RANGE:
        return lambda char: detail[0] <= ord(char) <= detail[1]
    if kind is op.CATEGORY and detail in _CATEGORIES:
        return _CATEGORIES[detail]
    if kind is op.CATEGORY and detail in _OPPOSITES:
        opposite = _CATEGORIES[_OPPOSITES[detail]]
        return lambda char: not opposite(char)
    if kind is op.IN:
        negated = detail[0][0] is op.NEGATE
        single = frozenset(chr(value) for kind, value in detail[negated:] if kind is op.LITERAL)
        tests = [_accepts(*item) for item in detail[negated:] if item[0] is not op.LITERAL]
        if len(tests) > MAX_TESTS:
            raise _Unsupported
        return lambda char: (char in single or any(test(char) for test in tests)) is not negated
    raise _Unsupported
