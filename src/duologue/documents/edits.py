"""Edits of a text, in offsets of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple


class TextEdit(NamedTuple):
    """New text for what is between two offsets (in characters of a `str`) of the text before any edit."""

    start: int
    end: int
    text: str


def check_edits(edits: Sequence[TextEdit]) -> tuple[TextEdit, ...]:
    """Edits of one text in the order of their places; those at one place keep theirs. Raises `ValueError` (they
    overlap, or one ends before it starts)."""
    for edit in edits:
        if not 0 <= edit.start <= edit.end:
            raise ValueError(f"{edit.start}-{edit.end} is no stretch of a text")
    ordered = tuple(sorted(edits, key=lambda edit: (edit.start, edit.end)))
    for before, after in pairwise(ordered):
        if after.start < before.end:
            raise ValueError(f"edits overlap: {before.start}-{before.end} and {after.start}-{after.end}")
    return ordered


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """The text after edits that all refer to it as it is. Raises `ValueError` (they overlap)."""
    parts, at = [], 0
    for edit in check_edits(edits):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def difference(old: str, new: str) -> TextEdit | None:
    """The smallest single edit that makes `new` of `old`; None when they are the same."""
    if old == new:
        return None
    shorter = min(len(old), len(new))
    head = _longest(shorter, lambda size: old.startswith(new[:size]))
    tail = _longest(shorter - head, lambda size: size == 0 or old.endswith(new[-size:]))
    return TextEdit(head, len(old) - tail, new[head : len(new) - tail])


def _longest(bound: int, matches: Callable[[int], bool]) -> int:
    """The greatest size up to `bound` that matches, by halves: all smaller ones match too."""
    low, high = 0, bound
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if matches(middle) else (low, middle - 1)
    return low
