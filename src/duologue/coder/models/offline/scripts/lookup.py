"""From a name that a person wrote to a file of the project."""

from __future__ import annotations

import difflib
import fnmatch
import posixpath
from collections.abc import Callable, Sequence

from duologue.coder.models.offline.turn import Turn, TurnStopped


def matching(files: Sequence[str], wanted: str) -> list[str]:
    """Files that a name, a part of a path or a glob can mean, best reading first; none for what names a folder."""
    name = wanted.strip().removeprefix("./")
    if not name or name.endswith("/"):
        return []
    if any(sign in name for sign in "*?["):
        return [path for path in files if fnmatch.fnmatch(path, name) or fnmatch.fnmatch(path.rsplit("/", 1)[-1], name)]
    readings: tuple[Callable[[str], bool], ...] = (
        lambda path: path == name,
        lambda path: path.endswith("/" + name),
        lambda path: path.lower() == name.lower() or path.lower().endswith("/" + name.lower()),
        lambda path: path.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower() == name.lower(),
        lambda path: "." in name and f".{path.removesuffix('.py').replace('/', '.')}".endswith(f".{name}"),
    )
    for reading in readings:
        found = [path for path in files if reading(path)]
        if found:
            return found
    return []


def inside(files: Sequence[str], folder: str) -> list[str]:
    prefix = folder.strip().removeprefix("./").strip("/") + "/"
    return [path for path in files if path.startswith(prefix) or f"/{prefix}" in path]


def common(files: Sequence[str] | None) -> str:
    """The smallest file or folder that has all of them in it; that of the project where there is no limit."""
    return (posixpath.commonpath(files) or ".") if files else "."


async def one_file(turn: Turn, wanted: str) -> str:
    """The one file a name means; stops the turn with the choices when there are none or several."""
    files = await turn.files()
    found = matching(files, wanted)
    if len(found) == 1:
        return found[0]
    if not found:
        raise TurnStopped(f"There is no file `{wanted}` in this project.{_near(files, wanted)}")
    raise TurnStopped(f"`{wanted}` can mean {_choices(found)}. Please name one of them.")


async def scope(turn: Turn, where: str | None) -> list[str] | None:
    """The files a request is limited to; None for the whole project."""
    if where is None:
        return None
    files = await turn.files()
    found = matching(files, where) or inside(files, where)
    if not found:
        raise TurnStopped(f"There is no file or folder `{where}` in this project.{_near(files, where)}")
    return found


def _near(files: Sequence[str], wanted: str) -> str:
    names = {path.rsplit("/", 1)[-1]: path for path in files}
    near = difflib.get_close_matches(wanted.rsplit("/", 1)[-1], names, n=2, cutoff=0.7)
    return f" Did you mean {' or '.join(f'`{names[name]}`' for name in near)}?" if near else ""


def _choices(found: Sequence[str]) -> str:
    shown = ", ".join(f"`{path}`" for path in found[:6])
    return shown if len(found) <= 6 else f"{shown} and {len(found) - 6} more"
