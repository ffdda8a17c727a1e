"""What the proven edits are worth: one clear repair, or several that differ, or none."""

from __future__ import annotations

import ast
import builtins
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duologue.coder.models.offline.parsing import UNPARSED, tree_of


@dataclass(frozen=True, slots=True)
class Proven:
    """An edit that the whole suite accepts. `column` is 0-based, in characters."""

    path: str
    line: int
    column: int
    old: str
    new: str
    kind: str
    weight: float
    score: float
    sure: bool = False

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Proven:
        return cls(**{name: value[name] for name in cls.__slots__ if name in value})

    def apply(self, text: str) -> str:
        """The file's text with the edit; raises ValueError when the file is not the one that was tried."""
        lines = text.split("\n")
        start = sum(len(line) + 1 for line in lines[: self.line - 1]) + self.column
        if text[start : start + len(self.old)] != self.old:
            raise ValueError(f"{self.path} has changed since")
        return text[:start] + self.new + text[start + len(self.old) :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {_told(self.old.strip(), self.new.strip())} ({self.kind})"


def _told(old: str, new: str) -> str:
    if not old:
        return f"`{new}` is added"
    return f"`{old}` becomes `{new}`" if new else f"`{old}` is removed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The edit to make, or the reason why none is made. `groups` are the edits that differ, likeliest first."""

    edit: Proven | None
    reason: str
    groups: tuple[tuple[Proven, ...], ...] = ()


# How likely an edit may be that there was no time for, measured against the one that fits. Each further test that the
# one edit repairs makes a coincidence less likely.
ROOM = 0.5
# The same for edits of what runs at import, which are many and seldom at fault.
ROOM_COLD = 2.0
# So many plain values in one display are a table.
TABLE = 4
SEVERAL = "More than one edit lets every test pass, and they do not mean the same. A person has to choose:"


def weigh(found: Mapping[str, Any], texts: Mapping[str, str]) -> Verdict:
    """Decide on a lab's result: one meaning, and nothing left that could well be another."""
    edits = [Proven.read(value) for value in found["proven"]]
    groups = tuple(map(tuple, classes(edits, texts)))
    if not edits and not found["unproven"]:
        late = " among those there was time to try" if found["missed"] or found["missed_cold"] else ""
        return Verdict(None, f"No single small edit lets the failing tests pass{late}.")
    certain = [group for group in groups if _is_certain(group, groups)]
    if len(certain) != 1 and (len(groups) > 1 or found["unproven"]):
        return Verdict(None, SEVERAL, groups)
    edit = (certain or groups)[0][0]
    if in_a_table(edit, texts[edit.path]) and not edit.sure:
        return Verdict(None, "The one edit that fits would change data to suit the tests:", groups)
    if edit.kind == "annotation":
        return Verdict(None, "Tests do not tell which annotation was meant:", groups)
    if edit.kind == "bound" and len(found["failing"]) < 2:
        return Verdict(None, "One test alone does not tell whether this bound is what was meant:", groups)
    several = 1 + 0.5 * math.log2(len(found["failing"]))
    if found["missed"] > ROOM * several * edit.score or found["missed_cold"] > ROOM_COLD * several * edit.score:
        return Verdict(None, "There was no time to try all edits, so I cannot know that this is the right one:", groups)
    return Verdict(edit, "It is the only one that fits.", groups)


def _is_certain(group: Sequence[Proven], groups: Sequence[Sequence[Proven]]) -> bool:
    """An unknown name may as well be mended where it should have been bound."""
    elsewhere = {edit.new for other in groups if other is not group for edit in other}
    return any(edit.sure and edit.old not in elsewhere for edit in group)


def in_a_table(edit: Proven, text: str) -> bool:
    """Whether the edit changes one of many plain values side by side: data, which tests may only reflect."""
    lines = text.split("\n")
    offset = len(lines[edit.line - 1][: edit.column].encode())
    for node in ast.walk(tree_of(text) or ast.Module([], [])):
        values = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        plain = [value for value in values if isinstance(value, ast.Constant)]
        if len(plain) >= TABLE and any(value.lineno == edit.line and value.col_offset == offset for value in plain):
            return True
    return False


def classes(edits: Sequence[Proven], texts: Mapping[str, str]) -> list[list[Proven]]:
    """The edits in groups that mean the same; the likeliest edit of each group first."""
    groups: dict[str, list[Proven]] = {}
    for edit in edits:
        groups.setdefault(_meaning(edit, texts[edit.path]), []).append(edit)
    ordered = [sorted(group, key=lambda edit: _plain_first(edit, texts[edit.path])) for group in groups.values()]
    return sorted(ordered, key=lambda group: -group[0].score)


def _plain_first(edit: Proven, text: str) -> tuple[int, int, float]:
    """Among edits that mean the same, one that hides the fewest names, then the name used most, then the likeliest."""
    try:
        return _hidden(ast.parse(edit.apply(text))), -len(re.findall(rf"\b{re.escape(edit.new)}\b", text)), -edit.score
    except UNPARSED:
        return 0, 0, -edit.score


def _hidden(tree: ast.Module) -> int:
    """How many variables of comprehensions and lambdas have the name of a builtin or of a variable around them."""
    count = 0
    for scope in (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module)
    ):
        inner = [node for node in ast.walk(scope) if isinstance(node, (*_COMPREHENSIONS, ast.Lambda))]
        within = {item for node in inner for item in ast.walk(node)}
        outer = {name for node in ast.walk(scope) if node not in within for name in _bound(node)} | set(dir(builtins))
        count += sum(name in outer for node in within for name in _bound(node))
    return count


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, ast.arg):
        return [node.arg]
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


def _meaning(edit: Proven, text: str) -> str:
    """The edited file in a normal form: texts with one form do the same."""
    try:
        return f"{edit.path}\n{ast.dump(_Normal().visit(ast.parse(edit.apply(text))))}"
    except UNPARSED:
        return f"{edit}"


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Normal(ast.NodeTransformer):
    """Rewrites that hold for every value; variables of comprehensions and lambdas get names that all texts share."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, _COMPREHENSIONS):
            variables = [name for part in node.generators for item in ast.walk(part.target) for name in _bound(item)]
            _rename(node, variables, set(ast.walk(node.generators[0].iter)))
        elif isinstance(node, ast.Lambda):
            outside = {
                item
                for default in (*node.args.defaults, *node.args.kw_defaults)
                if default
                for item in ast.walk(default)
            }
            _rename(node, [item.arg for item in node.args.args], outside)
        result: ast.AST = super().visit(node)
        return result

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and _is_length(node.left) and isinstance(node.comparators[0], ast.Constant):
            return _length_test(node)
        if len(node.ops) == 1 or isinstance(node.left, ast.UnaryOp):
            node.left, node.ops[0], node.comparators[0] = _not_negative(node.left, node.ops[0], node.comparators[0])
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        node.op, node.right = _plain_sign(node.op, node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        node.op, node.value = _plain_sign(node.op, node.value)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inverse: dict[type[ast.cmpop], type[ast.cmpop]] = {
            ast.Is: ast.IsNot,
            ast.IsNot: ast.Is,
            ast.In: ast.NotIn,
            ast.NotIn: ast.In,
        }
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=ast.Compare(ops=[operator]) as test) if type(operator) in inverse:
                return ast.Compare(test.left, [inverse[type(operator)]()], test.comparators)
        return node


def _rename(node: ast.AST, variables: Sequence[str], outside: set[ast.AST]) -> None:
    names = {name: f"<{variables.index(name)}>" for name in variables}
    for item in ast.walk(node):
        if item in outside:
            continue
        if isinstance(item, ast.Name):
            item.id = names.get(item.id, item.id)
        elif isinstance(item, ast.arg):
            item.arg = names.get(item.arg, item.arg)


def _not_negative(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> tuple[ast.expr, ast.cmpop, ast.expr]:
    """Above -1 is from 0 on, for whole numbers: nobody writes the first who does not count from there."""
    match left, operator, right:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)), ast.Lt(), _:
            return ast.Constant(0), ast.LtE(), right
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)), ast.GtE(), _:
            return ast.Constant(0), ast.Gt(), right
        case _, ast.Gt(), ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return left, ast.GtE(), ast.Constant(0)
        case _, ast.LtE(), ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return left, ast.Lt(), ast.Constant(0)
    return left, operator, right


def _plain_sign(operator: ast.operator, value: ast.expr) -> tuple[ast.operator, ast.expr]:
    """Adding a negative number is taking away a positive one."""
    match operator, value:
        case ast.Add(), ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float()) as number):
            return ast.Sub(), number
        case ast.Sub(), ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float()) as number):
            return ast.Add(), number
    return operator, value


def _is_length(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _length_test(node: ast.Compare) -> ast.AST:
    """A length is a whole number that is not negative: `> 0`, `!= 0` and `>= 1` are one test."""
    match node.ops[0], node.comparators[0]:
        case (ast.Gt() | ast.NotEq(), ast.Constant(value=0)) | (ast.GtE(), ast.Constant(value=1)):
            return ast.Compare(node.left, [ast.Gt()], [ast.Constant(0)])
        case (ast.LtE() | ast.Eq(), ast.Constant(value=0)) | (ast.Lt(), ast.Constant(value=1)):
            return ast.Compare(node.left, [ast.Eq()], [ast.Constant(0)])
        case ast.Gt(), ast.Constant(value=int(number)):
            return ast.Compare(node.left, [ast.GtE()], [ast.Constant(number + 1)])
        case ast.Lt(), ast.Constant(value=int(number)):
            return ast.Compare(node.left, [ast.LtE()], [ast.Constant(number - 1)])
    return node
