"""Put an edit into modules that are already loaded, by giving live functions new code."""

from __future__ import annotations

import ast
import gc
import types
from collections.abc import Iterator
from typing import Any

from ..mutate.source import FUNCTIONS, Edit, Source, apply_edit
from .paths import full, inside

Key = tuple[str, int, str]


class CannotSwap(Exception):
    """The edit needs the module to be loaded again."""


class Live:
    """The live functions of the files under a folder."""

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self.functions: dict[Key, list[types.FunctionType]] = {}
        names: dict[str, str | None] = {}
        for item in gc.get_objects():
            if type(item) is types.FunctionType:
                code = item.__code__
                if code.co_filename not in names:
                    names[code.co_filename] = inside(scratch, code.co_filename)
                path = names[code.co_filename]
                if path is not None:
                    self.functions.setdefault((path, code.co_firstlineno, code.co_name), []).append(item)

    def swap(self, source: Source, edit: Edit) -> list[tuple[types.FunctionType, types.CodeType]]:
        """Make the edit live, and give what to put back with `restore`.

        Raises `CannotSwap`, and SyntaxError or ValueError if the edit does not compile.
        """
        swapped: list[tuple[types.FunctionType, types.CodeType]] = []
        for code in _codes(_compiled_function(self._scratch, source, edit)):
            for function in self.functions.get((source.path, code.co_firstlineno, code.co_name), ()):
                if len(function.__code__.co_freevars) != len(code.co_freevars):
                    restore(swapped)
                    raise CannotSwap
                swapped.append((function, function.__code__))
                function.__code__ = code
        if not swapped:
            raise CannotSwap
        return swapped


def restore(swapped: list[tuple[types.FunctionType, types.CodeType]]) -> None:
    for function, code in swapped:
        function.__code__ = code


def in_body(source: Source, edit: Edit) -> bool:
    """True for an edit inside of a function, not of its head, which runs only when the function is made."""
    try:
        holder, _ = _holder(source, edit)
    except CannotSwap:
        return False
    return isinstance(holder, FUNCTIONS) and edit.start >= source.start(holder.body[0])


def _compiled_function(scratch: str, source: Source, edit: Edit) -> types.CodeType:
    """Code of the outermost function around an edit, inside of its bare classes: they give it its names and cells."""
    holder, classes = _holder(source, edit)
    start, end = source.offset(first_line(holder), 0), source.end(holder)
    heads = [f"{_indent(source, node)}class {node.name}:\n" for node in classes]
    if _indent(source, (*classes, holder)[0]):
        heads.insert(0, "if 1:\n")
    text = "".join(heads) + apply_edit(source.text[:end], edit)[start:]
    return _compiled(scratch, source, text, first_line(holder) - 1 - len(heads))


def _holder(source: Source, edit: Edit) -> tuple[ast.stmt, list[ast.ClassDef]]:
    holders: dict[int, tuple[ast.stmt, list[ast.ClassDef]]] = source.once("holders", lambda: dict(_holders(source)))
    if edit.line not in holders:
        raise CannotSwap
    return holders[edit.line]


def _holders(source: Source) -> Iterator[tuple[int, tuple[ast.stmt, list[ast.ClassDef]]]]:
    """For each line inside a function, the outermost function and the classes around it."""
    pending: list[tuple[ast.AST, list[ast.ClassDef]]] = [(source.tree, [])]
    while pending:
        node, classes = pending.pop()
        if isinstance(node, FUNCTIONS):
            for line in range(first_line(node), (node.end_lineno or node.lineno) + 1):
                yield line, (node, classes)
            continue
        inner = [*classes, node] if isinstance(node, ast.ClassDef) else classes
        pending += [(child, inner) for child in ast.iter_child_nodes(node)]


def _indent(source: Source, node: ast.stmt) -> str:
    return source.lines[node.lineno - 1][: node.col_offset]


def first_line(node: ast.stmt) -> int:
    lines: list[int] = [node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]
    return min(lines)


def compiled_part(scratch: str, source: Source, edit: Edit, node: ast.stmt) -> types.CodeType:
    """Code of one statement of the module with an edit in it; its lines are those of the file."""
    start, end = source.offset(first_line(node), 0), source.end(node)
    return _compiled(scratch, source, apply_edit(source.text[:end], edit)[start:], first_line(node) - 1)


def _compiled(scratch: str, source: Source, text: str, lines_before: int) -> types.CodeType:
    tree = ast.parse(text)
    ast.increment_lineno(tree, lines_before)
    flags: int = source.once("flags", lambda: _flags(source.tree))
    code: types.CodeType = compile(tree, full(scratch, source.path), "exec", flags=flags, dont_inherit=True)
    return code


def _flags(tree: ast.Module) -> int:
    imports = (node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__")
    flags = 0
    for name in (alias.name for node in imports for alias in node.names):
        flags |= _future(name)
    return flags


def _future(name: str) -> int:
    import __future__

    return int(getattr(__future__, name).compiler_flag)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def overlay(scratch: str, path: str, text: str) -> None:
    """Make this process load another text for one file."""
    import importlib.machinery

    target = full(scratch, path)
    loader: Any = importlib.machinery.SourceFileLoader
    plain = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if inside(scratch, self.get_filename(fullname)) == path:
            return compile(text, target, "exec", dont_inherit=True)
        return plain(self, fullname)

    loader.get_code = get_code
