"""Take standard input and output for the protocol, before anything else can touch them.

Imports nothing but `os` and `sys`, so that a program can call `claim_stdio` as its very first act.
"""

from __future__ import annotations

import os
import sys

_claimed: tuple[int, int] | None = None


def claim_stdio() -> tuple[int, int]:
    """Return private descriptors of the real standard input and output, as (read, write).

    From then on descriptor 1 is a duplicate of standard error, and descriptor 0 reads from the null device: a stray
    `print`, `os.write(1, ...)`, a child's output or `input()` cannot reach the wire. The private descriptors are not
    inherited by children. A second call returns the same pair.
    """
    global _claimed
    if _claimed is None:
        _claimed = _claim()
    return _claimed


def _claim() -> tuple[int, int]:
    if sys.stdout is not None:
        sys.stdout.flush()
    read_end, write_end = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed: there is nowhere to send strays
        os.dup2(null, 1)
    os.close(null)
    return read_end, write_end
