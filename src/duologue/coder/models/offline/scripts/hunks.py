"""From two texts of a file to edits for `edit_file`: each `old` occurs exactly once."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from duologue.coder.texts import lines_of


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
    # What both begin and end with is left out: many equal lines would take seconds to compare.
    most = min(len(before), len(after))
    head = next((i for i in range(most) if before[i] != after[i]), most)
    tail = next((i for i in range(most - head) if before[-1 - i] != after[-1 - i]), most - head)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    changed = (span[1:] for span in matcher.get_opcodes() if span[0] != "equal")
    return [(a + head, b + head, c + head, d + head) for a, b, c, d in changed]


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
