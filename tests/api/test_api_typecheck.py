"""What a type checker knows of methods, types and the public API: it refuses the marked lines, and no others."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).parents[1].glob("*/must_fail/*.py"))


def by_mypy(file: Path) -> tuple[set[int], str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", file.name]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    refused = {int(line) for line in re.findall(rf"^{re.escape(file.name)}:(\d+): error:", done.stdout, re.M)}
    return refused, done.stdout + done.stderr


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
