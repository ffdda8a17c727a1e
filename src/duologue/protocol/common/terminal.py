"""Processes: their environment and how they ended."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe, Secretive, UInt32


class EnvVariable(Secretive, kw_only=True):
    """A variable in the environment of a process."""

    hidden = frozenset({"value"})

    name: str
    value: str


class TerminalExitStatus(Extensible, kw_only=True):
    """How a process ended; a signal leaves the code null."""

    exit_code: Maybe[UInt32] = UNSET
    signal: Maybe[str] = UNSET
