"""The names of `duologue`: each exists, is loaded when it is first used, and is told to type checkers too."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import duologue

SOURCE = Path(duologue.__file__).read_text("utf-8")
NAMES = sorted(set(duologue.__all__) - {"__version__"})


def told_to_type_checkers() -> dict[str, str]:
    """The imports under `if TYPE_CHECKING`: name and module."""
    (block,) = (
        node
        for node in ast.parse(SOURCE).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    )
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


def test_type_checkers_are_told_the_names_that_exist() -> None:
    assert sorted(told_to_type_checkers()) == NAMES
    assert duologue.__all__ == sorted(duologue.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_the_one_of_its_room(name: str) -> None:
    room = importlib.import_module(told_to_type_checkers()[name])
    assert getattr(duologue, name) is getattr(room, name)
    assert name in dir(duologue)


def test_what_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(duologue, "Nothing")
    with pytest.raises(ImportError):
        exec("from duologue import Nothing")


@pytest.mark.parametrize(
    ("name", "absent"),
    [("RpcError", "duologue.peer"), ("Limits", "asyncio"), ("Agent", "duologue.client"), ("connect", "duologue.agent")],
)
def test_a_name_loads_no_more_than_its_room(name: str, absent: str) -> None:
    code = f"import sys; from duologue import {name}; print({absent!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
