"""Arguments that are easily given in a wrong way, and that Python would take."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def several(values: Iterable[T], what: str) -> list[T]:
    """The values of a list. Raises `TypeError` for one value in place of a list: a string would be taken apart."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{what} must be given as a list, not {type(values).__name__}")
    return list(values)


def variables(values: Mapping[str, str] | None, what: str) -> dict[str, str]:
    """Environment variables by name, none for None. Raises `TypeError` for what is no mapping of texts to texts."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise TypeError(f"{what} must be a dict of names and texts, not {type(values).__name__}")
    for name, value in values.items():
        # The value may be a secret.
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"{what}: {name!r} must be a text with a text as its value, not {type(value).__name__}")
    return dict(values)


def as_path(path: Any, what: str) -> Path:
    """A path. Raises `TypeError` for what is none."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{what} must be a path or a string, not {type(path).__name__}")
    return Path(path)
