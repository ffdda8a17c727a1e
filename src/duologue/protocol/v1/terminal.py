"""Terminals that the client runs for the agent."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Maybe, Opt, UInt32, UInt64
from duologue.protocol.common.ids import SessionId, TerminalId
from duologue.protocol.common.terminal import EnvVariable, TerminalExitStatus


class CreateTerminalRequest(Extensible, kw_only=True):
    """Starts a command in a new terminal; only the last `output_byte_limit` bytes of output are kept."""

    session_id: SessionId
    command: str
    args: Opt[Items[str]] = UNSET
    env: Opt[Items[EnvVariable]] = UNSET
    cwd: Maybe[str] = UNSET
    output_byte_limit: Maybe[UInt64] = UNSET


class CreateTerminalResponse(Extensible, kw_only=True):
    """The terminal that was made."""

    terminal_id: TerminalId


class TerminalOutputRequest(Extensible, kw_only=True):
    """Asks for the output so far, without waiting."""

    session_id: SessionId
    terminal_id: TerminalId


class TerminalOutputResponse(Extensible, kw_only=True):
    """The output so far, and how the command ended if it did."""

    output: str
    truncated: bool
    exit_status: Maybe[TerminalExitStatus] = UNSET


class WaitForTerminalExitRequest(Extensible, kw_only=True):
    """Waits until the command ends."""

    session_id: SessionId
    terminal_id: TerminalId


class WaitForTerminalExitResponse(Extensible, kw_only=True):
    """How the command ended."""

    exit_code: Maybe[UInt32] = UNSET
    signal: Maybe[str] = UNSET


class KillTerminalRequest(Extensible, kw_only=True):
    """Ends the command and keeps the terminal."""

    session_id: SessionId
    terminal_id: TerminalId


class KillTerminalResponse(Extensible, kw_only=True):
    """The command has been told to end."""


class ReleaseTerminalRequest(Extensible, kw_only=True):
    """Ends the command and frees the terminal."""

    session_id: SessionId
    terminal_id: TerminalId


class ReleaseTerminalResponse(Extensible, kw_only=True):
    """The terminal is freed."""
