"""What a linter reports, and the text of a file without one finding, where that is a safe rewrite."""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from duologue.coder.models.offline.parsing import UNPARSED, tree_of
from duologue.coder.texts import counted

_LINE = re.compile(r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):?)? (?P<rest>.+)$", re.MULTILINE)
_CODE = re.compile(r"^([A-Z]+\d+)(?: \[\*\])? (.*)$")


@dataclass(frozen=True, slots=True)
class Finding:
    """One report. `column` is 1-based, in characters; `code` is empty where the linter has none."""

    path: str
    line: int
    column: int
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code + ' ' if self.code else ''}{self.message}"


def read_findings(output: str) -> tuple[Finding, ...]:
    """Findings in the concise form of ruff and in that of pyflakes."""
    return tuple(_finding(match) for match in _LINE.finditer(output))


def _finding(match: re.Match[str]) -> Finding:
    code = _CODE.match(match["rest"])
    path = match["path"].removeprefix("./")
    message = code[2] if code else match["rest"]
    return Finding(path, counted(match["line"]), counted(match["column"] or "1"), code[1] if code else "", message)


def mended(text: str, finding: Finding) -> str | None:
    """The text without this finding; None where no rewrite is safe or the text is not what was linted."""
    for pattern, mend in _MENDERS:
        found = re.search(pattern, finding.message)
        if found:
            try:
                new = mend(text, finding, found)
                return new if new is not None and new != text and tree_of(new) is not None else None
            except UNPARSED:
                return None
    return None


def _offset(text: str, line: int, column: int) -> int:
    """An offset from a 1-based line and a 0-based column in UTF-8 bytes, as `ast` counts."""
    lines = text.split("\n")
    return sum(len(part) + 1 for part in lines[: line - 1]) + len(
        lines[line - 1].encode()[:column].decode(errors="ignore")
    )


def _span(text: str, node: ast.stmt | ast.expr) -> tuple[int, int]:
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return _offset(text, node.lineno, node.col_offset), _offset(text, end_line, end_column)


def _unused_import(text: str, finding: Finding, found: re.Match[str]) -> str | None:
    """Drop one name of an import. An `__init__.py` may import for others, and a `try` may only ask what is there."""
    if finding.path.endswith("__init__.py"):
        return None
    tree = ast.parse(text)
    tried = {item for node in ast.walk(tree) if isinstance(node, ast.Try) for item in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and node not in tried:
            alias = next((alias for alias in node.names if _is_meant(node, alias, found["name"])), None)
            if alias is not None and node.lineno <= finding.line <= (node.end_lineno or node.lineno):
                return _without_alias(text, tree, node, alias)
    return None


def _is_meant(node: ast.Import | ast.ImportFrom, alias: ast.alias, name: str) -> bool:
    wanted, _, renamed = name.partition(" as ")
    full = alias.name if isinstance(node, ast.Import) else f"{'.' * node.level}{node.module or ''}.{alias.name}"
    return (full == wanted or alias.name == wanted or full.replace("..", ".") == wanted) and (
        not renamed or alias.asname == renamed
    )


def _without_alias(text: str, tree: ast.Module, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str | None:
    start, end = _span(text, node)
    if len(node.names) > 1:
        node.names.remove(alias)
        indent = " " * node.col_offset
        return text[:start] + ast.unparse(node).replace("\n", "\n" + indent) + text[end:]
    alone = any(getattr(parent, "body", None) == [node] for parent in ast.walk(tree))
    if alone and node not in tree.body:
        return text[:start] + "pass" + text[end:]
    first, after = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    rest = text[end:] if after < 0 else text[end:after]
    if text[first:start].strip() or not re.fullmatch(r"[\s;]*(#.*)?", rest):
        # Its line holds another statement.
        return None
    return text[:first] + ("" if after < 0 else text[after + 1 :])


def _plain_string(text: str, finding: Finding, found: re.Match[str]) -> str | None:
    """An f-string without a placeholder: drop the `f`, and halve its doubled braces."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr) and node.lineno == finding.line:
            start, end = _span(text, node)
            literal = re.fullmatch(r"(?is)([rf]*)('''|\"\"\"|'|\")(.*)\2", text[start:end])
            if (
                literal
                and "f" in literal[1].lower()
                and not any(isinstance(part, ast.FormattedValue) for part in node.values)
            ):
                prefix = re.sub("(?i)f", "", literal[1])
                body = literal[3].replace("{{", "{").replace("}}", "}")
                return f"{text[:start]}{prefix}{literal[2]}{body}{literal[2]}{text[end:]}"
    return None


def _undefined_name(text: str, finding: Finding, found: re.Match[str]) -> str | None:
    """A name that is one clear slip away from a known one, or a module of the standard library that is not imported."""
    name, tree = found["name"], ast.parse(text)
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
    near = difflib.get_close_matches(name, sorted(set(_known(tree))), n=2, cutoff=0.8)
    if len(near) == 1:
        for node in sorted(uses, key=lambda node: (-node.lineno, -node.col_offset)):
            start, end = _span(text, node)
            text = text[:start] + near[0] + text[end:]
        return text
    modules = {item.value for item in ast.walk(tree) if isinstance(item, ast.Attribute)}
    if not near and name in sys.stdlib_module_names and all(node in modules for node in uses):
        return _with_import(text, tree, name)
    return None


def _known(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=renamed):
                yield (renamed or name).split(".")[0]


def _with_import(text: str, tree: ast.Module, name: str) -> str:
    """Put the import before the first one that is not of `__future__`, or after the docstring."""
    place = 0
    for node in tree.body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not docstring and not future:
            break
        place = node.end_lineno or node.lineno
    lines = text.split("\n")
    gap = [""] if place and lines[place : place + 1] != [""] else []
    at = place + 1 if place and not gap else place
    return "\n".join([*lines[:at], *gap, f"import {name}", *lines[at:]])


def _none_by_identity(text: str, finding: Finding, found: re.Match[str]) -> str | None:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=None)]) if (
                node.lineno == finding.line
            ):
                _, left = _span(text, node.left)
                right, _ = _span(text, node.comparators[0])
                word = " is " if isinstance(node.ops[0], ast.Eq) else " is not "
                return text[:left] + word + text[right:]
    return None


def _literal_by_value(text: str, finding: Finding, found: re.Match[str]) -> str | None:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=int() | str() | bytes())]):
                if node.lineno == finding.line:
                    _, left = _span(text, node.left)
                    right, _ = _span(text, node.comparators[0])
                    return text[:left] + (" == " if isinstance(node.ops[0], ast.Is) else " != ") + text[right:]
    return None


def _trailing_space(text: str, finding: Finding, found: re.Match[str]) -> str | None:
    lines = text.split("\n")
    lines[finding.line - 1] = lines[finding.line - 1].rstrip()
    return "\n".join(lines)


def _last_newline(text: str, finding: Finding, found: re.Match[str]) -> str | None:
    return text.rstrip("\n") + "\n"


_Mender = Callable[[str, Finding, re.Match[str]], str | None]
_MENDERS: tuple[tuple[str, _Mender], ...] = (
    (r"^[`'](?P<name>[\w. ]+)[`'] imported but unused", _unused_import),
    (r"f-string (?:without any|is missing) placeholders", _plain_string),
    (r"[Uu]ndefined name [`'](?P<name>\w+)[`']", _undefined_name),
    (r"[Cc]omparison to `?None`?", _none_by_identity),
    (r"[Uu]se (?:`==`|==|`!=`).* to compare constant literals|use ==/!= to compare constant", _literal_by_value),
    (r"[Tt]railing whitespace|[Bb]lank line contains whitespace", _trailing_space),
    (r"[Nn]o newline at end of file|[Tt]oo many newlines at end", _last_newline),
)
