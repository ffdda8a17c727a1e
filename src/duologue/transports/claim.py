"""Take standard input and output for the protocol, before anything else can touch them.

Imports nothing of weight, so that a program can call `claim_stdio` as its very first act.
"""

from __future__ import annotations

import errno
import io
import os
import sys

_claimed: tuple[int, int] | None = None


def claim_stdio() -> tuple[int, int]:
    """Return private descriptors of the real standard input and output, as (read, write).

    From then on descriptor 1 is a duplicate of standard error, and descriptor 0 reads from the null device: a stray
    `print`, `os.write(1, ...)`, a child's output or `input()` cannot reach the wire. The private descriptors are not
    inherited by children. A second call returns the same pair. Raises `OSError` when one of the streams is closed.
    """
    global _claimed
    if _claimed is None:
        _claimed = _claim()
    return _claimed


def _claim() -> tuple[int, int]:
    if not (_is_open(0) and _is_open(1)):
        raise OSError(errno.EBADF, "standard input or output is closed; the protocol needs both")
    if sys.stdout is not None:
        sys.stdout.flush()
    read_end, write_end = _private(0), _private(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    if not _is_open(2):
        # Nowhere to send strays; and whatever is opened next must not become standard error.
        os.dup2(null, 2)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What is printed shows up in standard error as it comes.
        sys.stdout.reconfigure(line_buffering=True)
    if null > 2:
        os.close(null)
    return read_end, write_end


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _private(descriptor: int) -> int:
    """A duplicate that no child inherits, and that takes the place of no standard stream that is closed."""
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
