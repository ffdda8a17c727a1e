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
    real = Path(os.path.realpath(root))
    total = 0
    for folder, names, files in os.walk(root):
        names[:] = [
            name for name in names if name not in SKIPPED or (name == "build" and _is_package(Path(folder, name)))
        ]
        goal = target / Path(folder).relative_to(root)
        goal.mkdir(parents=True, exist_ok=True)
        for path in (Path(folder, name) for name in files if not name.endswith((".pyc", ".sock"))):
            if not path.is_file():
                continue
            link = _led_to(path, real, target)
            total += 0 if link else path.stat().st_size
            if total > most_bytes:
                raise TooBig(f"the project has more than {most_bytes // 1_000_000} MB")
            if link:
                (goal / path.name).symlink_to(link)
            else:
                # A link out of the project is followed: what is written to the copy must not reach the file it names.
                shutil.copy2(path, goal / path.name)
        for path in (Path(folder, name) for name in names):
            if path.is_symlink():
                (goal / path.name).symlink_to(_led_to(path, real, target) or path.readlink())
    return target


def _led_to(path: Path, real: Path, target: Path) -> Path | None:
    """The copy of what a link leads to; none where that is not in the project, or where this is no link."""
    leads = Path(os.path.realpath(path))
    if not path.is_symlink() or not leads.is_relative_to(real):
        return None
    inside = leads.relative_to(real)
    return None if SKIPPED & set(inside.parts) else target / inside


def _is_package(path: Path) -> bool:
    return (path / "__init__.py").exists()
