"""The folders a session may touch, and the one way from a path in a tool call to a place in them.

A path is followed as the operating system would follow it: links first, `..` after them. What comes out is compared
with the roots name by name, so that `web-old` is not inside `web`. The check is made each time a file is opened, and
from the root down no link is followed, so one that is put in between has no effect.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from duologue.local.errors import PathRefused

# Far above any real tree; keeps the walk up to the first existing folder short.
DEEPEST = 256


class Place(msgspec.Struct, frozen=True):
    """A place inside the workspace, whether or not something is there.

    `shown` begins with the root as the host named it, `real` has no links. `name` is how to say it to the model:
    relative to the working folder where possible.
    """

    shown: Path
    real: Path
    root: Path
    name: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The names below the root."""
        return self.real.relative_to(self.root).parts


class Root(msgspec.Struct, frozen=True):
    given: Path
    real: Path


class Workspace:
    """The working folder (the first root) and the additional folders.

    Raises ValueError when a root is relative or is no folder. Roots are resolved once, when the workspace is made.
    """

    def __init__(self, roots: Sequence[Path | str]) -> None:
        if not roots:
            raise ValueError("a workspace needs at least one folder")
        self.roots = tuple(_root(Path(root)) for root in roots)
        self.cwd = self.roots[0].given
        self.project = self.roots[0].real

    def resolve(self, path: str | Path) -> Place:
        """The place that a path, absolute or relative to the working folder, leads to now.

        Raises PathRefused when that is outside every root or the path cannot be followed.
        """
        text = os.fspath(path)
        if not text or "\0" in text:
            raise PathRefused("a path must not be empty or hold a NUL character")
        real = _follow(self.cwd / text, text)
        return self._place(real, text)

    def folder(self, path: str | Path) -> Place:
        """Like `resolve`, for a folder that must exist."""
        place = self.resolve(path)
        if not place.real.is_dir():
            raise PathRefused(f"{place.name}: there is no such folder")
        return place

    def _place(self, real: Path, text: str) -> Place:
        inside = [root for root in self.roots if real.is_relative_to(root.real)]
        if not inside:
            raise PathRefused(f"{text}: outside the workspace, which is {self.describe()}")
        root = max(inside, key=lambda each: len(each.real.parts))
        shown = root.given / real.relative_to(root.real)
        return Place(shown, real, root.real, self._name(real, shown))

    def _name(self, real: Path, shown: Path) -> str:
        return real.relative_to(self.project).as_posix() if real.is_relative_to(self.project) else shown.as_posix()

    def prefix(self, folder: Place) -> str:
        """What to put before a path below the folder, to name it as `Place.name` does."""
        return "" if folder.name == "." else f"{folder.name.rstrip('/')}/"

    def describe(self) -> str:
        """The folders in words."""
        return ", ".join(str(root.given) for root in self.roots)


def _root(path: Path) -> Root:
    if not path.is_absolute():
        raise ValueError(f"{path}: a workspace folder must be an absolute path")
    if not path.is_dir():
        raise ValueError(f"{path}: there is no such folder")
    return Root(path, Path(os.path.realpath(path, strict=True)))


def _follow(path: Path, text: str, depth: int = 0) -> Path:
    """The real path. What does not exist yet is added to its real parent; but only a folder that exists has a `..`."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise PathRefused(f"{text}: {error.strerror}") from error
    if path.name in ("", "..") or depth > DEEPEST:
        raise PathRefused(f"{text}: a folder on the way does not exist")
    parent = _follow(path.parent, text, depth + 1)
    if (parent / path.name).is_symlink():
        raise PathRefused(f"{text}: a link that leads to nothing")
    return parent / path.name
