"""Names of files inside of the scratch copy."""

from __future__ import annotations

from pathlib import Path


def inside(scratch: str, path: str) -> str | None:
    """A path relative to the scratch copy, with slashes; None for one that is elsewhere, or no file at all."""
    if path.startswith("<"):
        return None
    try:
        return Path(path).absolute().relative_to(scratch).as_posix()
    except ValueError:
        return None


def full(scratch: str, path: str) -> str:
    return str(Path(scratch, path))


def text_of(scratch: str, path: str) -> str:
    """The text of a Python file; raises OSError or UnicodeDecodeError."""
    with Path(scratch, path).open(encoding="utf-8-sig", newline="") as file:
        return file.read()
