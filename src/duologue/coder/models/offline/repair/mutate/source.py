"""A Python source with its tree, and the places of its nodes as offsets into the text."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Callable
from typing import Any, NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)


class Edit(NamedTuple):
    """Replace `text[start:end]` of a file by `new`. `weight` (0 to 1) says how likely such a slip is."""

    path: str
    start: int
    end: int
    new: str
    kind: str
    line: int
    weight: float


class Source:
    """One file. Raises SyntaxError or ValueError if it does not parse."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = ast.parse(text)
        self.lines = list(io.StringIO(text, newline=""))  # `splitlines` also breaks at characters that are text
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))
        self.known: dict[Any, Any] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node

    def once(self, key: Any, find: Callable[[], Any]) -> Any:
        """A fact about this source, found when it is first asked for."""
        if key not in self.known:
            self.known[key] = find()
        return self.known[key]

    def offset(self, line: int, column: int) -> int:
        """A text offset from a 1-based line and a column in UTF-8 bytes, as `ast` counts."""
        if line > len(self.lines):
            return len(self.text)
        row = self.lines[line - 1]
        if row.isascii():
            return self._starts[line - 1] + column
        return self._starts[line - 1] + len(row.encode()[:column].decode(errors="ignore"))

    def start(self, node: ast.AST) -> int:
        return self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def of(self, node: ast.AST) -> str:
        return self.text[self.start(node) : self.end(node)]

    def line_at(self, offset: int) -> int:
        low, high = 0, len(self._starts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._starts[middle] <= offset else (low, middle - 1)
        return low + 1

    def edit(self, start: int, end: int, new: str, kind: str, weight: float) -> Edit:
        return Edit(self.path, start, end, new, kind, self.line_at(start), weight)

    def between(self, left: ast.AST, right: ast.AST, operator: str) -> int | None:
        """Where an operator stands between two nodes; None if the places of the nodes cannot be trusted."""
        start, end = self.end(left), self.start(right)
        gap = re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), self.text[start:end])
        words = r"\s+".join(re.escape(word) for word in operator.split())
        found = re.search(rf"(?<![\w]){words}(?![\w])" if operator[0].isalpha() else words, gap)
        return (
            None
            if found is None or re.sub(r"[\s()\\]", "", gap) != operator.replace(" ", "")
            else start + found.start()
        )

    def scope_of(self, node: ast.AST) -> ast.AST:
        """The function, class or module a node belongs to; a default or a decorator belongs to what is around it."""
        outside = False
        while node in self.parents:
            child, node = node, self.parents[node]
            if isinstance(node, ast.arguments):
                outside = child in node.defaults or child in node.kw_defaults
            elif isinstance(node, SCOPES):
                if not outside and child not in getattr(node, "decorator_list", ()):
                    break
                outside = False
        return node

    def annotates(self, node: ast.AST) -> bool:
        """True for a part of an annotation, which hardly any program looks at."""
        while node in self.parents:
            parent = self.parents[node]
            if isinstance(parent, ast.arg) or node in (
                getattr(parent, "returns", None),
                getattr(parent, "annotation", None),
            ):
                return True
            if isinstance(parent, ast.stmt):
                return False
            node = parent
        return False

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.ClassDef):
                return node
        return None

    def statement_of(self, node: ast.AST) -> ast.AST:
        while not isinstance(node, ast.stmt) and node in self.parents:
            node = self.parents[node]
        return node


def apply_edit(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.new + text[edit.end :]
