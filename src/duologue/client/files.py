"""The client's files, served to an agent of version 1: inside the session's folders, unsaved buffers first."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar
from weakref import WeakValueDictionary

from duologue.client.permitted import permitted
from duologue.jsonrpc.errors import INTERNAL_ERROR, RpcError
from duologue.local import files
from duologue.local.errors import LocalError, PathRefused, TooLarge
from duologue.local.rules import Write
from duologue.local.workspace import Place
from duologue.peer.errors import wrong_params
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.v1.fs import (
    ReadTextFileRequest,
    ReadTextFileResponse,
    WriteTextFileRequest,
    WriteTextFileResponse,
)

if TYPE_CHECKING:
    from duologue.client.session import Session

T = TypeVar("T")

#: Bytes of a file that is read or written.
FILE_BYTES = 32 * 1024 * 1024
#: Files that are read at once.
READS = 4


class Buffers(Protocol):
    """The open buffers of an editor. Paths begin with a folder of the session as it was given."""

    def read(self, path: Path) -> str | None:
        """The text of the buffer, saved or not; None when the file is not open."""

    def write(self, path: Path, text: str) -> bool:
        """Put a text into the buffer of an open file, and save it if that is wanted; False when it is not open."""


class LocalFiles:
    """Answers `fs/read_text_file` and, with `write`, `fs/write_text_file`; set it as `Client.files`.

    Nothing outside of the session's folders is touched, also not by a link that is put in between. Reading inside of
    them is free, each write passes the client's policy (see `Client.policy` and `Client.confirm`). A file is replaced
    in one step. `file_bytes` bounds a file in bytes.
    """

    def __init__(self, buffers: Buffers | None = None, *, write: bool = True, file_bytes: int = FILE_BYTES) -> None:
        self.buffers = buffers
        self.writes = write
        self.file_bytes = file_bytes
        self._reading = asyncio.Semaphore(READS)
        # Requests for one file are carried out in the order in which they came.
        self._turns: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()

    async def read(self, session: Session, request: ReadTextFileRequest) -> ReadTextFileResponse:
        """The text from `line` on, at most `limit` lines, with their ends. Raises `RpcError`."""
        place = _place(session, request.path)
        # Texts that wait to be sent are bounded: by how many are read at once, and read only for an agent that listens.
        async with self._reading:
            await session.connection.peer.room()
            return await self._read_text(place, request)

    async def _read_text(self, place: Place, request: ReadTextFileRequest) -> ReadTextFileResponse:
        async with self._turn(place):
            text = self.buffers.read(place.shown) if self.buffers is not None else None
            if text is None:
                text = await _done(self._read, place, request.path)
        return ReadTextFileResponse(content=_window(text, request.line or None, request.limit))

    async def write(self, session: Session, request: WriteTextFileRequest) -> WriteTextFileResponse:
        """Create or replace a file, once that is allowed. Raises `RpcError`."""
        place = _place(session, request.path)
        async with self._turn(place):
            if not await permitted(session, Write((place.real,))):
                raise RpcError(INTERNAL_ERROR, f"{request.path}: writing was not allowed", {"path": request.path})
            # A link may lead elsewhere now, where nobody has allowed to write.
            if _place(session, request.path).real != place.real:
                raise wrong_params(f"{request.path}: leads elsewhere than when it was asked about", "path")
            if self.buffers is None or not self.buffers.write(place.shown, request.content):
                await _done(lambda place: self._write(place, request.content), place, request.path)
        return WriteTextFileResponse()

    def _turn(self, place: Place) -> asyncio.Lock:
        lock = self._turns.get(place.real)
        if lock is None:
            lock = self._turns[place.real] = asyncio.Lock()
        return lock

    def _read(self, place: Place) -> str:
        with files.open_parent(place) as (folder, name):
            return files.decode(files.read_at(folder, name, place.name, self.file_bytes), place.name)

    def _write(self, place: Place, text: str) -> None:
        data = text.encode()
        if len(data) > self.file_bytes:
            raise TooLarge(f"{place.name}: {len(data)} bytes are too much to write (the limit is {self.file_bytes})")
        files.replace(place, data)


def _place(session: Session, path: str) -> Place:
    """Where a path leads. Raises `RpcError` for one that is not absolute or leads out of the session's folders."""
    if not Path(path).is_absolute():
        raise wrong_params(f"{path}: the path must be absolute", "path")
    try:
        return session.workspace.resolve(path)
    except (PathRefused, ValueError) as error:
        raise wrong_params(str(error), "path") from None


async def _done(work: Callable[[Place], T], place: Place, path: str) -> T:
    """Do something in a thread, to its end even when the agent withdraws its request. Raises `RpcError`."""
    doing = asyncio.get_running_loop().create_task(asyncio.to_thread(work, place))
    try:
        await asyncio.wait({doing})
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise
    try:
        return doing.result()
    except FileNotFoundError:
        raise RpcError(ErrorCode.RESOURCE_NOT_FOUND, f"{path}: there is no such file", {"path": path}) from None
    except PathRefused as error:
        raise wrong_params(str(error), "path") from None
    except (LocalError, OSError) as error:
        problem = error.strerror if isinstance(error, OSError) else None
        raise RpcError(INTERNAL_ERROR, f"{path}: {problem}" if problem else str(error), {"path": path}) from None


def _window(text: str, line: int | None, limit: object) -> str:
    """Lines by number; only a line feed ends one, so that what is put together again is the text."""
    if line is None and not isinstance(limit, int):
        return text
    start = max((line or 1) - 1, 0)
    stop = start + limit if isinstance(limit, int) else None
    return "".join(islice(io.StringIO(text, newline="\n"), start, stop))
