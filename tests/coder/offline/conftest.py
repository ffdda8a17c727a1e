"""`python3` is the interpreter that runs the tests, whatever the machine has: projects find pytest where we do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from offline_kit import write_python


@pytest.fixture(autouse=True, scope="session")
def running_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in front of PATH that holds it."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("python3", "python"):
        write_python(folder / name)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return folder
