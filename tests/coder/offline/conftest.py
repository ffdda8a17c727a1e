"""`python3` is the interpreter that runs the tests, whatever the machine has: projects find pytest where we do."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from offline_kit import write_python


@pytest.fixture(autouse=True, scope="module")
def running_python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("bin")
    for name in ("python3", "python"):
        write_python(folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield
