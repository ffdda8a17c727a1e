"""The engine stays silent: no input or output, no task, and nothing of what is built on top of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import duologue.jsonrpc
from duologue.jsonrpc import Limits

ROOM = Path(duologue.jsonrpc.__file__).parent
FILES = sorted(ROOM.glob("*.py"))
ALLOWED = {
    *("__future__", "codecs", "collections", "io", "itertools", "re", "struct", "typing"),
    "msgspec",
}
BESIDE = {"duologue.errors", "duologue.jsonrpc", "duologue.late"}
SILENT = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
# Of `io` only the in-memory reader is wanted.
FROM_IO = {"BytesIO"}


def imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module="io", names=names):
                assert {alias.name for alias in names} <= FROM_IO
            case ast.ImportFrom(module=module):
                found.add(module or "")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_imports_nothing_that_acts(path: Path) -> None:
    for name in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if name.startswith("duologue"):
            assert name in BESIDE or name.startswith("duologue.jsonrpc.")
        else:
            assert name.split(".")[0] in ALLOWED


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_calls_nothing_that_acts(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith)
        assert not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SILENT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_knows_no_side_version_or_protocol(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    known = re.search(
        r"(?i)(?<![a-z])(acp|agents?|clients?|editors?|sessions?|versions?|v[12])(?![a-z])|session/", text
    )
    assert known is None, known


def test_exports_what_exists() -> None:
    for name in duologue.jsonrpc.__all__:
        assert getattr(duologue.jsonrpc, name)
    assert list(duologue.jsonrpc.__all__) == sorted(
        duologue.jsonrpc.__all__, key=lambda name: (not name.isupper(), name)
    )


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "1", None])
def test_a_limit_is_a_whole_number_above_zero(value: object) -> None:
    with pytest.raises(ValueError, match=r"Limits\.id_bytes must be"):
        Limits(id_bytes=value)  # type: ignore[arg-type]


def test_depth_stays_within_what_decoders_manage() -> None:
    with pytest.raises(ValueError, match=r"depth must be at most"):
        Limits(depth=501)
    assert Limits(depth=500).depth == 500
