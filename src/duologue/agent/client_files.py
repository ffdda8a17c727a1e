"""Text files that the client reads and writes for the agent (`fs/*`, version 1)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET

from duologue.local.arguments import as_path
from duologue.peer.errors import NotOffered
from duologue.protocol.v1.fs import ReadTextFileRequest, WriteTextFileRequest
from duologue.protocol.v1.table import FS_READ_TEXT_FILE, FS_WRITE_TEXT_FILE

if TYPE_CHECKING:
    from duologue.agent.asker import Asker


class ClientFiles:
    """Files as the client has them. A relative path starts at the session's working directory."""

    def __init__(self, voice: Asker) -> None:
        self._voice = voice
        self._session = voice.session

    @property
    def can_read(self) -> bool:
        """Whether the client reads files for the agent."""
        return self._session.connection.offers(FS_READ_TEXT_FILE)

    @property
    def can_write(self) -> bool:
        """Whether the client writes files for the agent."""
        return self._session.connection.offers(FS_WRITE_TEXT_FILE)

    async def read(self, path: Path | str, *, line: int | None = None, limit: int | None = None) -> str:
        """The text of a file, from `line` (counted from one) on, and `limit` lines of it.

        Raises `NotOffered`, `RpcError` (-32002: there is no such file), `ValueError` for a line below one.
        """
        if isinstance(line, int) and line < 1:
            raise ValueError("lines count from one")
        place = self._absolute(path)
        if not self.can_read:
            raise NotOffered("the client does not offer to read files (fs/read_text_file)")
        request = ReadTextFileRequest(
            session_id=self._session.id,
            path=place,
            line=UNSET if line is None else line,
            limit=UNSET if limit is None else limit,
        )
        return (await self._voice.request(FS_READ_TEXT_FILE, request)).content

    async def write(self, path: Path | str, text: str) -> None:
        """Write a file whole; it is made when it is not there. Raises `NotOffered`, `RpcError`."""
        place = self._absolute(path)
        if not self.can_write:
            raise NotOffered("the client does not offer to write files (fs/write_text_file)")
        request = WriteTextFileRequest(session_id=self._session.id, path=place, content=text)
        await self._voice.request(FS_WRITE_TEXT_FILE, request)

    def _absolute(self, path: Path | str) -> str:
        return str(self._session.cwd / as_path(path, "path"))
