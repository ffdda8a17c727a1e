"""Opening, reading and replacing the files of a workspace so that no link put in between leads elsewhere.

A write goes to a new file beside the old one, which then takes its name in one step: a crash leaves the old text or the
new.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from duologue.local.errors import NotText, PathRefused, TooLarge
from duologue.local.workspace import Place

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO must not wait for its other end.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

# Byte order marks of encodings other than UTF-8, longest first.
OTHER_MARKS = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def decode(data: bytes, name: str) -> str:
    """The text of a file. Raises NotText with the reason."""
    for mark, encoding in OTHER_MARKS:
        if data.startswith(mark):
            raise NotText(f"{name}: {encoding} text; only UTF-8 can be read and edited here")
    if b"\0" in data:
        raise NotText(f"{name}: a binary file ({len(data)} bytes); only text can be read and edited here")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotText(f"{name}: not UTF-8 text (byte {error.start} fits no character)") from None


@contextmanager
def open_folder(root: Path, parts: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """A descriptor of a folder below a real root, reached without following any link.

    Raises PathRefused when a name on the way has become a link since the path was resolved, and FileNotFoundError when
    one is not there and is not to be made.
    """
    folder = os.open(root, FOLDER)
    try:
        for part in parts:
            below = _step(folder, part, create)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _step(folder: int, part: str, create: bool) -> int:
    if create:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=folder)
    try:
        return os.open(part, FOLDER, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        # A link gives ELOOP or ENOTDIR, a file ENOTDIR.
        raise PathRefused(f"{part}: not a folder that can be entered ({error.strerror})") from error


@contextmanager
def open_parent(place: Place, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """The folder that holds a place, and the name in it."""
    if not place.parts:
        raise PathRefused(f"{place.name}: this is a folder of the workspace, not a file")
    with open_folder(place.root, place.parts[:-1], create=create) as folder:
        yield folder, place.parts[-1]


def read_at(folder: int, name: str, shown: str, limit: int) -> bytes:
    """The bytes of a regular file. Raises FileNotFoundError, PathRefused or TooLarge."""
    try:
        file = os.open(name, FILE, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PathRefused(f"{shown}: cannot be opened ({error.strerror})") from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise PathRefused(f"{shown}: not a regular file")
    with os.fdopen(file, "rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise TooLarge(f"{shown}: larger than the limit of {limit} bytes")
    return data


def file_mode(folder: int, name: str) -> int | None:
    """Permission bits of a regular file, None when there is nothing. Raises PathRefused for anything else."""
    status = _status(folder, name)
    return None if status is None else stat.S_IMODE(status.st_mode)


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise PathRefused(f"{name}: not a regular file")
    return status


def replace(place: Place, data: bytes, mode: int | None = None) -> None:
    """Put a file with these bytes at the place, in one step. Without a mode, a file that is there keeps its own.

    Raises PathRefused for a file that is read-only, and for what is there and is no file.
    """
    with open_parent(place, create=True) as (folder, name):
        present = _status(folder, name)
        if present is not None:
            kept = stat.S_IMODE(present.st_mode)
            if not kept & 0o222:
                raise PathRefused(f"{place.name}: the file is read-only")
            mode = kept if mode is None else mode
        draft = f".duologue-{secrets.token_hex(8)}.tmp"
        try:
            _write_draft(folder, draft, data, mode, present)
            os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)
            raise
        # Some file systems cannot do that for a folder; the file is in its place all the same.
        with suppress(OSError):
            os.fsync(folder)


def _write_draft(folder: int, draft: str, data: bytes, mode: int | None, before: os.stat_result | None) -> None:
    # 0o666 is cut by the umask, as for any new file; what gets a mode is for nobody else until it has it.
    created = os.open(draft, FRESH, 0o666 if mode is None else 0o600, dir_fd=folder)
    with os.fdopen(created, "wb") as stream:
        stream.write(data)
        stream.flush()
        if before is not None:
            _date_after(stream.fileno(), int(before.st_mtime))
        if mode is not None:
            # After the owner and the writing, which both take away the bits that a program runs as its owner by.
            belongs = before is None or _keep_owner(stream.fileno(), before)
            os.fchmod(stream.fileno(), mode if belongs else mode & 0o777)
        os.fsync(stream.fileno())


def _keep_owner(file: int, before: os.stat_result) -> bool:
    """Give a file the owner and the group of what it replaces, as far as this user may; false if not both."""
    now = os.fstat(file)
    if (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
        return True
    for owner in (before.st_uid, -1):
        with suppress(OSError):
            os.fchown(file, owner, before.st_gid)
            return owner == before.st_uid
    return False


def _date_after(file: int, second: int) -> None:
    """Let a file be of a later second than what it replaces: Python knows its bytecode by the second and the size of
    the source, and would go on with what was compiled before."""
    status = os.fstat(file)
    if int(status.st_mtime) <= second:
        os.utime(file, (status.st_atime, second + 1))


def unlink(place: Place) -> None:
    """Remove a regular file."""
    with open_parent(place) as (folder, name):
        if file_mode(folder, name) is None:
            raise FileNotFoundError(place.name)
        os.unlink(name, dir_fd=folder)
