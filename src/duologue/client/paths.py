"""Paths of this process as they are sent to an agent."""

from __future__ import annotations

from pathlib import Path

from duologue.local.arguments import as_path


def sent_path(path: Path | str, what: str = "the folder of a session") -> Path:
    """A path of this process as it is sent: from its working directory on. Raises `ValueError` for a name that no JSON
    can say, and where there is no working directory any more."""
    given = as_path(path, what)
    try:
        whole = given.absolute()
    except FileNotFoundError:
        raise ValueError(f"{given}: the folder that this program works in was removed: go to another one") from None
    try:
        str(whole).encode()
    except UnicodeEncodeError:
        told = "its name is not UTF-8, and the protocol cannot say it: rename it, or take another folder"
        raise ValueError(f"{str(whole)!a}: {told}") from None
    return whole
