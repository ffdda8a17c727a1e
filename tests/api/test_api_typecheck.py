"""What a type checker knows of methods, types and the public API: it refuses the marked lines, and no others."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(ROOT.glob("tests/*/must_fail/*.py"))


@cache
def said_by_mypy() -> str:
    """What it says of all files: it takes long to begin, and knows the project from `make types` if it was run."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", *map(str, FILES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def by_mypy(file: Path) -> tuple[set[int], str]:
    said, name = said_by_mypy(), str(file.relative_to(ROOT))
    return {int(line) for line in re.findall(rf"^{re.escape(name)}:(\d+): error:", said, re.M)}, said


def by_pyright(file: Path) -> tuple[set[int], str]:
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, file.name]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    found = [item for item in json.loads(done.stdout)["generalDiagnostics"] if item["severity"] == "error"]
    return {item["range"]["start"]["line"] + 1 for item in found}, done.stdout + done.stderr


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_the_marked_lines_are_refused(file: Path, checker: str) -> None:
    if checker == "pyright" and shutil.which("pyright") is None:
        pytest.skip("pyright is not installed; `make pyright` brings it")
    refused, said = by_mypy(file) if checker == "mypy" else by_pyright(file)
    marked = {number for number, line in enumerate(file.read_text("utf-8").splitlines(), 1) if "# must fail" in line}
    assert marked
    assert refused == marked, said
