"""From two texts of a file to edits for `edit_file`: each `old` occurs exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duologue.local.lines import equal_blocks, lines_of


def change_of(path: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    """The call that turns a file's text into another; an empty file has nothing that an edit could replace."""
    if not old:
        return "write_file", {"path": path, "text": new}
    return "edit_file", {"path": path, "edits": edits_between(old, new)}


def edits_between(old: str, new: str) -> list[dict[str, str]]:
    """Small edits that turn `old` into `new`, or one that holds the whole file when small ones would be ambiguous."""
    before, after = lines_of(old), lines_of(new)
    spans = _spans(before, after)
    for context in range(4):
        edits = [_edit(before, after, span, context) for span in _merged(spans, context)]
        if _sound(old, new, edits):
            return edits
    return [{"old": old, "new": new}]


_Span = tuple[int, int, int, int]


def _spans(before: Sequence[str], after: Sequence[str]) -> list[_Span]:
    if len(before) == len(after):
        return [(i, i + 1, i, i + 1) for i in range(len(before)) if before[i] != after[i]]
    spans: list[_Span] = []
    a = c = 0
    for b, d, size in equal_blocks(before, after):
        if (a, c) != (b, d):
            spans.append((a, b, c, d))
        a, c = b + size, d + size
    return spans


def _merged(spans: Sequence[_Span], context: int) -> list[_Span]:
    """Spans whose surroundings would touch become one."""
    merged: list[_Span] = []
    for span in spans:
        if merged and span[0] - merged[-1][1] <= 2 * context:
            merged[-1] = (merged[-1][0], span[1], merged[-1][2], span[3])
        else:
            merged.append(span)
    return merged


def _edit(before: Sequence[str], after: Sequence[str], span: _Span, context: int) -> dict[str, str]:
    a, b, c, d = span
    lead, trail = min(context, a), min(context, len(before) - b)
    return {"old": "".join(before[a - lead : b + trail]), "new": "".join(after[c - lead : d + trail])}


def _sound(old: str, new: str, edits: Sequence[dict[str, str]]) -> bool:
    text = old
    for edit in edits:
        if not edit["old"] or not _once(old, edit["old"]) or not _once(text, edit["old"]):
            return False
        text = text.replace(edit["old"], edit["new"])
    return text == new


def _once(text: str, part: str) -> bool:
    """As `edit_file` counts: places that overlap are several."""
    first = text.find(part)
    return first >= 0 and text.find(part, first + 1) < 0
