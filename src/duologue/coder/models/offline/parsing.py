"""Python texts as trees, as far as there is one."""

from __future__ import annotations

import ast

#: What the parser raises: of a text that is no Python, and of one that nests deeper than it goes, as a long sum does.
UNPARSED = (SyntaxError, ValueError, RecursionError, MemoryError)


def tree_of(text: str) -> ast.Module | None:
    """The tree of a text; None where there is none."""
    try:
        return ast.parse(text)
    except UNPARSED:
        return None


def source_of(node: ast.AST) -> str:
    """The source of a part of a tree; dots where it nests too deep for that, as a long chain of calls does."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return "..."
