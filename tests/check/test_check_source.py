"""The check names the codes of errors as the rest of the package does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from duologue.check import mcp_stand_in
from duologue.protocol.common.errors import ErrorCode

CHECK = Path(mcp_stand_in.__file__).parent


@pytest.mark.parametrize("file", sorted(CHECK.rglob("*.py")), ids=lambda file: str(file.relative_to(CHECK)))
def test_codes_of_errors_are_named(file: Path) -> None:
    numbers = [
        -node.operand.value
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        if isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, int)
    ]
    # What is started by its path has nothing of ours.
    allowed = [mcp_stand_in.METHOD_NOT_FOUND] if file == Path(mcp_stand_in.__file__) else []
    assert [number for number in numbers if number in set(ErrorCode)] == allowed
    assert mcp_stand_in.METHOD_NOT_FOUND == ErrorCode.METHOD_NOT_FOUND
