"""Reading and writing the files of a workspace: `Files` is the interface, which an editor may serve, `Disk` the disk.

`Disk` gives a file's text as it is (byte order mark and newlines included) and writes text as it is told. A write goes
to a new file beside the old one, which then takes its name in one step: a crash leaves the old text or the new.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Protocol

from duologue.coder.limits import CoderLimits
from duologue.coder.settling import in_thread
from duologue.local.errors import TooLarge
from duologue.local.files import decode, file_mode, open_parent, read_at, replace, unlink
from duologue.local.workspace import Place, Workspace


class Files(Protocol):
    """Text files by absolute path. An implementation must itself refuse paths outside the workspace.

    The text may begin with a byte order mark or not, as the source tells it; `write_text` gets it back the same way.
    """

    async def read_text(self, path: Path) -> str:
        """Raises FileNotFoundError, ToolError or LocalError when there is something that cannot be read as text."""

    async def write_text(self, path: Path, text: str) -> None:
        """Create or replace the file, and the folders above it."""


class Disk:
    """The files of a workspace on the disk."""

    def __init__(self, workspace: Workspace, limits: CoderLimits | None = None) -> None:
        self.workspace = workspace
        self.limits = limits or CoderLimits()

    async def read_text(self, path: Path) -> str:
        """Raises FileNotFoundError, PathRefused, TooLarge or NotText."""
        place = self.workspace.resolve(path)
        return decode(await in_thread(self._read, place), place.name)

    async def write_text(self, path: Path, text: str) -> None:
        """Keeps the mode of a file that is there. Raises PathRefused, TooLarge or OSError; then nothing has changed."""
        await self.write_bytes(path, text.encode())

    async def read_bytes(self, path: Path) -> bytes:
        return await in_thread(self._read, self.workspace.resolve(path))

    async def write_bytes(self, path: Path, data: bytes, mode: int | None = None) -> None:
        """`mode` is what the file will have; without it, a file keeps its own and a new one gets the usual one."""
        place = self.workspace.resolve(path)
        if len(data) > self.limits.file:
            raise TooLarge(f"{place.name}: {len(data)} bytes are too much to write (the limit is {self.limits.file})")
        await in_thread(replace, place, data, mode)

    async def delete(self, path: Path) -> None:
        """Raises FileNotFoundError or PathRefused; never deletes a folder."""
        await in_thread(unlink, self.workspace.resolve(path))

    def mode(self, path: Path) -> int | None:
        """The permission bits of a regular file, None when there is no such file."""
        with suppress(FileNotFoundError), open_parent(self.workspace.resolve(path)) as (folder, name):
            return file_mode(folder, name)
        return None

    def _read(self, place: Place) -> bytes:
        with open_parent(place) as (folder, name):
            return read_at(folder, name, place.name, self.limits.file)
