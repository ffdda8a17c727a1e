"""One name for a folder that has several."""

from __future__ import annotations

import os


def real_folder(name: str | os.PathLike[str]) -> str:
    """The folder behind the name, be it a link or written in another way; a name that no folder can have as it is."""
    text = os.fspath(name)
    return text if "\0" in text else os.path.realpath(text)
