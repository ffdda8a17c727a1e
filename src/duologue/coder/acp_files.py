"""Files through the editor, so that unsaved text is read and the editor sees each write; the disk for the rest.

Only a version 1 client may offer this. The workspace's bounds are checked here before the client is asked: what the
client would let pass does not matter.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from duologue.codec import CodecError
from duologue.coder.errors import ToolError
from duologue.coder.files import Disk
from duologue.coder.texts import BOM
from duologue.jsonrpc.errors import RpcError
from duologue.local.errors import LocalError, TooLarge
from duologue.local.workspace import Place
from duologue.protocol.v1.fs import ReadTextFileRequest, WriteTextFileRequest
from duologue.protocol.v1.table import FS_READ_TEXT_FILE, FS_WRITE_TEXT_FILE

if TYPE_CHECKING:
    from duologue.agent import Session


def offers_files(session: Session) -> tuple[bool, bool]:
    """Whether the client reads and writes text files for the agent."""
    connection = session.connection
    return connection.offers(FS_READ_TEXT_FILE), connection.offers(FS_WRITE_TEXT_FILE)


class EditorFiles:
    """Text files as the client has them."""

    def __init__(self, session: Session, disk: Disk) -> None:
        self._session = session
        self._disk = disk
        self._reads, self._writes = offers_files(session)

    async def read_text(self, path: Path) -> str:
        """The client's text of a file; the disk's where the client has none. Raises what `Disk.read_text` does.

        Whether the file has a byte order mark is the disk's to say: some clients leave it out of what they give.
        """
        try:
            saved = await self._disk.read_text(path)
        except FileNotFoundError:
            saved = None
        if not self._reads:
            if saved is None:
                raise FileNotFoundError(str(path))
            return saved
        place = self._disk.workspace.resolve(path)
        text = await self._ask(place)
        if text is None:
            if saved is None:
                raise FileNotFoundError(str(path))
            return saved
        self._check_size(place, text)
        return BOM + text if saved is not None and saved.startswith(BOM) and not text.startswith(BOM) else text

    async def write_text(self, path: Path, text: str) -> None:
        """Raises ToolError when the client refuses; nothing is written past it then."""
        if not self._writes:
            await self._disk.write_text(path, text)
            return
        place = self._disk.workspace.resolve(path)
        self._check_size(place, text)
        await self._write(place, text)
        if text.startswith(BOM):
            await self._keep_one_mark(place, text)

    async def _ask(self, place: Place) -> str | None:
        request = ReadTextFileRequest(session_id=self._session.id, path=str(place.shown))
        try:
            answer = await self._session.peer.request(FS_READ_TEXT_FILE, request)
        except (RpcError, CodecError):
            return None
        return answer.content

    async def _write(self, place: Place, text: str) -> None:
        request = WriteTextFileRequest(session_id=self._session.id, path=str(place.shown), content=text)
        try:
            await self._session.peer.request(FS_WRITE_TEXT_FILE, request)
        except RpcError as error:
            raise ToolError(f"{place.name}: the editor did not write it: {error.message}") from None

    async def _keep_one_mark(self, place: Place, text: str) -> None:
        """A client that keeps the byte order mark by itself would now have written two."""
        try:
            written = await self._disk.read_text(place.shown)
        except (ToolError, LocalError, OSError):
            return
        if written.startswith(BOM + BOM):
            await self._write(place, text.removeprefix(BOM))

    def _check_size(self, place: Place, text: str) -> None:
        limit = self._disk.limits.file
        if len(text.encode()) > limit:
            raise TooLarge(f"{place.name}: larger than the limit of {limit} bytes")
