"""All candidate edits of a source, without those that change nothing or do not parse."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from .constants import constant_edits
from .names import name_edits
from .operators import operator_edits
from .source import Edit, Source
from .statements import bound_edits, statement_edits
from .vocabulary import Vocabulary


def candidate_edits(
    source: Source, lines: Container[int], words: Vocabulary, *, bounds: bool = False
) -> Iterator[Edit]:
    """Edits of one token on the given lines; with `bounds`, those of off-by-one bounds instead."""
    seen: set[tuple[int, int, str]] = set()
    for node in ast.walk(source.tree):
        if not _touches(node, lines):
            continue
        edits = bound_edits(source, node) if bounds else _edits(source, node, words)
        for edit in edits:
            key = (edit.start, edit.end, edit.new)
            if edit.line in lines and key not in seen:
                seen.add(key)
                yield edit


def _touches(node: ast.AST, lines: Container[int]) -> bool:
    if isinstance(node, ast.comprehension):
        return True
    first = getattr(node, "lineno", None)
    return first is not None and any(
        line in lines for line in range(first, (getattr(node, "end_lineno", None) or first) + 1)
    )


def _edits(source: Source, node: ast.AST, words: Vocabulary) -> Iterator[Edit]:
    yield from operator_edits(source, node)
    yield from constant_edits(source, node, words)
    yield from name_edits(source, node, words)
    yield from statement_edits(source, node)
