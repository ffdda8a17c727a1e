"""Slips in operators: comparison, arithmetic, logic, negation, assignment."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .source import Edit, Source

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.MatMult: "@",
}  # fmt: skip
_ORDERING = ("<", "<=", ">", ">=", "==", "!=")
_OTHER_COMPARISONS = {
    "is": ("is not", "==", "!="),
    "is not": ("is", "!=", "=="),
    "in": ("not in", "==", "!="),
    "not in": ("in", "!=", "=="),
}
_CALCULATING = ("+", "-", "*", "/", "//", "%", "**")
_BITS = ("&", "|", "^", "<<", ">>")
_CROSSED = {"&": ("+", "-"), "|": ("+", "-"), "^": ("**",), "<<": ("<",), ">>": (">",), "-": ("|", "&"), "+": ("|",)}


def operator_edits(source: Source, node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Compare):
        yield from _comparison(source, node)
    elif isinstance(node, ast.BinOp):
        yield from _arithmetic(source, node)
    elif isinstance(node, ast.AugAssign):
        yield from _augmented(source, node)
    elif isinstance(node, ast.Assign):
        yield from _plain_assignment(source, node)
    elif isinstance(node, ast.BoolOp):
        yield from _logic(source, node)
    elif isinstance(node, ast.UnaryOp):
        yield from _unary(source, node)
    yield from _missing_not(source, node)


def _comparison(source: Source, node: ast.Compare) -> Iterator[Edit]:
    operands = [node.left, *node.comparators]
    for index, operator in enumerate(node.ops):
        old = COMPARISONS[type(operator)]
        at = source.between(operands[index], operands[index + 1], old)
        if at is None:
            continue
        others = _ORDERING if old in _ORDERING else _OTHER_COMPARISONS[old]
        extra = {"==": ("is", "in"), "!=": ("is not", "not in")}.get(old, ())
        end = _end_of(source, at, old)
        for new in (*others, *extra):
            if new != old:
                yield source.edit(at, end, _spaced(source, at, end, new), "comparison", 1.0 if new in others else 0.5)


def _end_of(source: Source, at: int, operator: str) -> int:
    last = operator.split()[-1]
    return source.text.index(last, at + (1 if " " in operator else 0)) + len(last)


def _spaced(source: Source, start: int, end: int, new: str) -> str:
    """Words need room that signs do not: `a<b` becomes `a in b`."""
    if not new[0].isalpha():
        return new
    before = "" if source.text[start - 1].isspace() else " "
    return before + new + ("" if source.text[end : end + 1].isspace() else " ")


def _other_operators(old: str) -> tuple[str, ...]:
    family = _CALCULATING if old in _CALCULATING else _BITS if old in _BITS else ()
    return tuple(new for new in (*family, *_CROSSED.get(old, ())) if new != old)


def _arithmetic(source: Source, node: ast.BinOp) -> Iterator[Edit]:
    old = ARITHMETIC[type(node.op)]
    at = source.between(node.left, node.right, old)
    if at is None:
        return
    for new in _other_operators(old):
        yield source.edit(at, at + len(old), new, "arithmetic", 1.0)


def _augmented(source: Source, node: ast.AugAssign) -> Iterator[Edit]:
    old = ARITHMETIC[type(node.op)] + "="
    at = source.between(node.target, node.value, old)
    if at is None:
        return
    for new in _other_operators(old[:-1]):
        yield source.edit(at, at + len(old), new + "=", "arithmetic", 1.0)
    yield source.edit(at, at + len(old), "=", "assignment", 0.7)


def _plain_assignment(source: Source, node: ast.Assign) -> Iterator[Edit]:
    if len(node.targets) != 1 or not isinstance(node.targets[0], (ast.Name, ast.Attribute, ast.Subscript)):
        return
    at = source.between(node.targets[0], node.value, "=")
    if at is None:
        return
    for new in ("+=", "-=", "*=", "|=", "&=", "//=", "/="):
        yield source.edit(at, at + 1, new, "assignment", 0.6 if new in ("+=", "-=", "|=") else 0.3)


def _logic(source: Source, node: ast.BoolOp) -> Iterator[Edit]:
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in zip(node.values, node.values[1:]):  # noqa: B905
        at = source.between(left, right, old)
        if at is not None:
            yield source.edit(at, at + len(old), new, "logic", 1.0)


def _unary(source: Source, node: ast.UnaryOp) -> Iterator[Edit]:
    start, operand = source.start(node), source.start(node.operand)
    if isinstance(node.op, ast.Not):
        while source.text[operand - 1] == "(" and source.text[operand - 2 : operand - 1] in "( t":
            operand -= 1
        yield source.edit(start, operand, "", "negation", 1.0)
        return
    for new in {"-": ("", "+", "~"), "+": ("", "-"), "~": ("", "-")}.get(source.text[start], ()):
        yield source.edit(start, start + 1, new, "sign", 0.9 if new == "" else 0.5)


def _missing_not(source: Source, node: ast.AST) -> Iterator[Edit]:
    tests: list[ast.expr] = []
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        tests.append(node.test)
    elif isinstance(node, ast.BoolOp):
        tests.extend(node.values)
    elif isinstance(node, ast.comprehension):
        tests.extend(node.ifs)
    elif isinstance(node, ast.Return) and isinstance(node.value, (ast.Call, ast.Name, ast.Attribute, ast.Subscript)):
        tests.append(node.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool" and node.args:
        tests.append(node.args[0])
    for test in tests:
        if isinstance(
            test, (ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.NamedExpr, ast.Starred, ast.Constant)
        ):
            continue
        at = source.start(test)
        yield source.edit(at, at, "not ", "negation", 0.5 if isinstance(node, ast.Return) else 0.8)
