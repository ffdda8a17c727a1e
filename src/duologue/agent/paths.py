"""Paths in the requests of a client."""

from __future__ import annotations

from pathlib import Path

from duologue.peer.errors import wrong_params
from duologue.protocol.common.errors import shortened


def need_absolute(path: str, member: str) -> Path:
    """A path of a request that has to be absolute. Raises `RpcError` (invalid params)."""
    result = Path(path)
    if not path or not result.is_absolute():
        raise wrong_params(f"{member} must be an absolute path: {shortened(path)!r}", member)
    return result


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; a name that no file system takes is none."""
    try:
        return path.is_dir()
    except OSError:
        return False
