"""The lab as one script for the project's Python, and as a shell line that runs it."""

from __future__ import annotations

import ast
import functools
import json
import shlex
from pathlib import Path
from typing import Any

_PARTS = """
    mutate/source mutate/vocabulary mutate/operators mutate/constants mutate/families mutate/names mutate/statements
    mutate/candidates
    lab/job lab/paths lab/scratch lab/forks lab/runners lab/tracing lab/survey lab/relevance lab/region lab/swapping
    lab/transplant lab/screen lab/trials lab/main
"""
_END = "END_OF_LAB"


@functools.cache
def lab_source() -> str:
    """All parts in order, without what only matters inside the package: their own imports and docstrings."""
    folder = Path(__file__).parent
    parts = [_lean((folder / f"{part}.py").read_text("utf-8")) for part in _PARTS.split()]
    return "\n".join(["from __future__ import annotations", *parts])


def _lean(text: str) -> str:
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not _inner(node)]
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and len(body) > 1 and _is_docstring(body[0]):
            body.pop(0)
    return ast.unparse(tree)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _inner(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("duologue", "__future__")


def lab_command(python: str, job: dict[str, Any]) -> str:
    """A shell line that runs a job. The first line tells a person what it is for."""
    return (
        f"{shlex.quote(python)} - <<'{_END}'\n"
        "# Tries small edits in a scratch copy under the temporary folder, against your tests. Your files are "
        "not touched.\n"
        f"{lab_source()}\nrun(json.loads({json.dumps(job)!r}))\n{_END}\n"
    )
