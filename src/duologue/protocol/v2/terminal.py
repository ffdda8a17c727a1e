"""Terminals of the agent, shown by the client."""

from __future__ import annotations

from binascii import a2b_base64

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe
from duologue.protocol.common.ids import TerminalId
from duologue.protocol.common.terminal import TerminalExitStatus
from duologue.protocol.v2.ids import AbsolutePath


class TerminalOutput(Extensible, kw_only=True):
    """Everything that a terminal has put out, in base64."""

    data: str


class TerminalUpdate(Extensible, kw_only=True):
    """What has changed in a terminal; output replaces all that came before."""

    terminal_id: TerminalId
    command: Maybe[str] = UNSET
    cwd: Maybe[AbsolutePath] = UNSET
    output: Maybe[TerminalOutput] = UNSET
    exit_status: Maybe[TerminalExitStatus] = UNSET


class TerminalOutputChunk(Extensible, kw_only=True):
    """More output of a terminal, in base64."""

    terminal_id: TerminalId
    data: str


def output_bytes(data: str) -> bytes:
    """The bytes of output as it is on the wire. What is broken is left out, since output is shown, not stored."""
    try:
        return a2b_base64(data)
    except ValueError:
        return b""
