"""Put an edit into modules that are already loaded, by giving live functions new code."""

from __future__ import annotations

import ast
import gc
import os
import types
from collections.abc import Iterator
from typing import Any

from duologue.coder.models.offline.repair.mutate.source import FUNCTIONS, Edit, Source, apply_edit

Key = tuple[str, int, str]


class CannotSwap(Exception):
    """The edit needs the module to be loaded again."""


class Live:
    """The live functions of the files under a folder."""

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self.functions: dict[Key, list[types.FunctionType]] = {}
        prefix = scratch.rstrip("/") + "/"
        for item in gc.get_objects():
            if type(item) is types.FunctionType:
                path = os.path.abspath(item.__code__.co_filename)
                if path.startswith(prefix):
                    key = (path[len(prefix) :], item.__code__.co_firstlineno, item.__code__.co_name)
                    self.functions.setdefault(key, []).append(item)

    def swap(self, source: Source, edit: Edit) -> list[tuple[types.FunctionType, types.CodeType]]:
        """Make the edit live, and give what to put back with `restore`.

        Raises `CannotSwap`, and SyntaxError or ValueError if the edit does not compile.
        """
        holder = _holder(source, edit)
        if holder is None:
            raise CannotSwap
        swapped: list[tuple[types.FunctionType, types.CodeType]] = []
        for code in _codes(compiled_part(self._scratch, source, edit, holder)):
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


def _holder(source: Source, edit: Edit) -> ast.stmt | None:
    """The top statement of the module that holds the edit, if the edit is inside a function of it."""
    for node in source.tree.body:
        first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
        if first <= edit.line <= (node.end_lineno or 0):
            return node if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else None
    return None


def compiled_part(scratch: str, source: Source, edit: Edit, holder: ast.stmt) -> types.CodeType:
    """Code of one statement of the module with an edit in it; its lines are those of the file."""
    first = min([holder.lineno, *(item.lineno for item in getattr(holder, "decorator_list", ()))])
    start, end = source.offset(first, 0), source.end(holder)
    text = apply_edit(source.text[:end], edit)[start:]
    tree = ast.parse(text)
    ast.increment_lineno(tree, first - 1)
    flags = 0
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= _future(alias.name)
    code: types.CodeType = compile(tree, os.path.join(scratch, source.path), "exec", flags=flags, dont_inherit=True)
    return code


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

    target = os.path.join(scratch, path)
    loader: Any = importlib.machinery.SourceFileLoader
    plain = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if os.path.abspath(self.get_filename(fullname)) == target:
            return compile(text, target, "exec", dont_inherit=True)
        return plain(self, fullname)

    loader.get_code = get_code
