"""What a type checker knows of the public API: mypy refuses the marked lines of a file, and no others."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parent / "must_fail").glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_mypy_refuses_the_marked_lines(file: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", file.name]
    done = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False)
    refused = {int(line) for line in re.findall(rf"^{re.escape(file.name)}:(\d+): error:", done.stdout, re.M)}
    marked = {number for number, line in enumerate(file.read_text("utf-8").splitlines(), 1) if "# must fail" in line}
    assert marked
    assert refused == marked, done.stdout + done.stderr
