"""Git patches as people read them: the changed lines with a little around them, not the whole file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from duologue.protocol.patches import MOST_DIGITS

#: Unchanged lines that are shown before and after each change.
CONTEXT = 3

NUMBER = rf"([0-9]{{1,{MOST_DIGITS}}})"
HUNK = re.compile(rf"@@ -{NUMBER}(?:,{NUMBER})? \+{NUMBER}(?:,{NUMBER})? @@(.*)")


def compact(patch: str) -> list[str]:
    """The lines of a patch with long unchanged stretches left out."""
    return list(_compact(patch.removesuffix("\n").split("\n")))


def _compact(lines: list[str]) -> Iterator[str]:
    position = 0
    while position < len(lines):
        found = HUNK.fullmatch(lines[position])
        position += 1
        if found is None:
            yield lines[position - 1]
            continue
        end = _end_of_hunk(lines, position, int(found[2] or 1), int(found[4] or 1))
        yield from _pieces(lines[position:end], int(found[1]), int(found[3]), found[5])
        position = end


def _end_of_hunk(lines: list[str], position: int, old: int, new: int) -> int:
    while position < len(lines):
        mark = lines[position][:1] or " "
        if mark != "\\":
            if old <= 0 and new <= 0:
                break
            old -= mark in "- "
            new -= mark in "+ "
        position += 1
    return position


def _pieces(body: list[str], old: int, new: int, tail: str) -> Iterator[str]:
    """The hunk as hunks of its own around each group of changes."""
    changed = [index for index, line in enumerate(body) if line[:1] in ("+", "-")]
    for first, last in _groups(changed, body):
        before = body[:first]
        piece = body[first:last]
        yield f"@@ -{_range(old, before, piece, '- ')} +{_range(new, before, piece, '+ ')} @@{tail}"
        yield from piece


def _groups(changed: list[int], body: list[str]) -> Iterator[tuple[int, int]]:
    start = end = None
    for index in changed:
        low, high = max(0, index - CONTEXT), min(len(body), index + CONTEXT + 1)
        if start is None or end is None:
            start, end = low, high
        elif low <= end:
            end = high
        else:
            yield start, end
            start, end = low, high
    if start is not None and end is not None:
        yield start, end


def _range(start: int, before: list[str], piece: list[str], marks: str) -> str:
    count = sum((line[:1] or " ") in marks for line in piece)
    return f"{start + sum((line[:1] or ' ') in marks for line in before)},{count}"
