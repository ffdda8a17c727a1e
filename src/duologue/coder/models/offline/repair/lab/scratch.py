"""A scratch copy of the project, outside of it, gone when the lab ends."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SKIPPED = frozenset(
    (".git", ".hg", ".svn", ".venv", "venv", "env", "node_modules", "__pycache__", ".mypy_cache", ".ruff_cache",
    ".pytest_cache",
     ".tox", ".nox", "build", ".eggs", ".idea", ".hypothesis")
)  # fmt: skip


class TooBig(Exception):
    """The project is larger than the lab may copy."""


@contextmanager
def scratch_copy(root: str, most_bytes: int) -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="repair-")
    try:
        yield str(_copy(Path(root), Path(os.path.realpath(folder)) / "project", most_bytes))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(root: Path, target: Path, most_bytes: int) -> Path:
    total = 0
    for folder, names, files in os.walk(root):
        names[:] = [
            name for name in names if name not in SKIPPED or (name == "build" and _is_package(Path(folder, name)))
        ]
        total += sum(Path(folder, name).lstat().st_size for name in files)
        if total > most_bytes:
            raise TooBig(f"the project has more than {most_bytes // 1_000_000} MB")
        goal = target / Path(folder).relative_to(root)
        goal.mkdir(parents=True, exist_ok=True)
        for name in files:
            if not name.endswith((".pyc", ".sock")) and Path(folder, name).is_file():
                shutil.copy2(Path(folder, name), goal / name, follow_symlinks=False)
        for name in names:
            if Path(folder, name).is_symlink():
                (goal / name).symlink_to(os.readlink(Path(folder, name)))  # noqa: PTH115
    return target


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").exists()
