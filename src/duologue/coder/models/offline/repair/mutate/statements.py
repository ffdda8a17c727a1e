"""Slips in statements: a forgotten `return`, `break` for `continue`, bounds off by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .source import FUNCTIONS, Edit, Source


def statement_edits(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, (ast.Break, ast.Continue)):
        old, new = ("break", "continue") if isinstance(node, ast.Break) else ("continue", "break")
        start = source.start(node)
        yield source.edit(start, start + len(old), new, "jump", 0.8)
        yield source.edit(start, start + len(old), "pass", "jump", 0.3)
    elif isinstance(node, ast.Pass) and _in_loop(source, node):
        start = source.start(node)
        yield source.edit(start, start + 4, "continue", "jump", 0.3)
        yield source.edit(start, start + 4, "break", "jump", 0.3)
    elif (
        isinstance(node, ast.Expr)
        and _in_function(source, node)
        and not isinstance(node.value, (ast.Constant, ast.Await))
    ):
        yield from _missing_return(source, node)
    elif isinstance(node, ast.Return) and node.value is not None:
        start = source.start(node)
        yield source.edit(start, start + len("return"), "yield", "statement", 0.2)


def _missing_return(source: Source, node: ast.Expr) -> Iterator[Edit]:
    start = source.start(node)
    if isinstance(node.value, ast.Yield):
        yield source.edit(start, start + len("yield"), "yield from", "statement", 0.4)
        return
    if isinstance(node.value, ast.YieldFrom):
        yield source.edit(start, source.start(node.value.value), "yield ", "statement", 0.4)
        return
    yield source.edit(start, start, "return ", "statement", 0.5)


def bound_edits(source: Source, node: ast.AST) -> Iterator[Edit]:
    """Off by one, as more than one token: a missing or an extra `+ 1` or `- 1`."""
    for bound in _bounds(node):
        end = source.end(bound)
        for new in (" + 1", " - 1"):
            yield source.edit(end, end, new, "bound", 0.3)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and _is_one(node.right):
        yield source.edit(source.end(node.left), source.end(node.right), "", "bound", 0.3)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _bounds(node: ast.AST) -> Iterator[ast.expr]:
    plain = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        yield from (item for item in node.args if isinstance(item, plain))
    elif isinstance(node, ast.Slice):
        yield from (item for item in (node.lower, node.upper) if isinstance(item, plain))
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Name, ast.Attribute)):
        yield node.slice


def _in_function(source: Source, node: ast.AST) -> bool:
    return isinstance(source.scope_of(node), FUNCTIONS)


def _in_loop(source: Source, node: ast.AST) -> bool:
    while node in source.parents and not isinstance(node, FUNCTIONS):
        node = source.parents[node]
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            return True
    return False
