"""A display terminal: its output as bytes, and as text that is decoded once."""

from __future__ import annotations

import binascii
import codecs
from base64 import b64decode, b64encode
from collections.abc import Iterator

from msgspec import UNSET

from duologue.protocol.common.terminal import TerminalExitStatus
from duologue.protocol.v2.terminal import TerminalOutput
from duologue.protocol.v2.updates import SessionUpdate, TerminalUpdateEvent
from duologue.session.entries import shown


class TerminalState:
    """What a terminal shows. `text` decodes only what came since it was last read; bad bytes become U+FFFD."""

    __slots__ = ("_decoded", "_decoder", "_fresh", "_output", "command", "cwd", "exit_status", "id")

    def __init__(self, terminal_id: str) -> None:
        self.id = terminal_id
        self.command: str | None = None
        self.cwd: str | None = None
        self.exit_status: TerminalExitStatus | None = None
        self._output = bytearray()
        # The text so far, up to the byte `_fresh` of the output.
        self._decoder = _decoder()
        self._decoded: list[str] = []
        self._fresh = 0

    def patch(self, update: TerminalUpdateEvent) -> None:
        """Absent members stay, null clears, a value replaces; output replaces all that came before."""
        if update.command is not UNSET:
            self.command = update.command or None
        if update.cwd is not UNSET:
            self.cwd = update.cwd or None
        if update.exit_status is not UNSET:
            self.exit_status = update.exit_status or None
        if update.output is not UNSET:
            self._output = bytearray(decoded(update.output.data) if update.output else b"")
            self._reset_text()

    def write(self, data: str) -> None:
        """Append output, given in base64."""
        self._output += decoded(data)

    @property
    def output(self) -> bytes:
        """All output so far."""
        return bytes(self._output)

    @property
    def text(self) -> str:
        """All output so far as text; a character that is not whole yet is left out."""
        if self._fresh < len(self._output):
            self._decoded.append(self._decoder.decode(bytes(self._output[self._fresh :])))
            self._fresh = len(self._output)
        if len(self._decoded) > 1:
            self._decoded = ["".join(self._decoded)]
        return self._decoded[0] if self._decoded else ""

    def __repr__(self) -> str:
        # Neither command nor output: they may hold what is meant for no log.
        return f"TerminalState({shown(self.id)}, {len(self._output)} bytes, {self._end()})"

    def _end(self) -> str:
        if self.exit_status is None:
            return "running"
        code, signal = self.exit_status.exit_code, self.exit_status.signal
        return f"exit code {code}" if isinstance(code, int) else f"signal {shown(signal or None)}"

    def updates(self) -> Iterator[SessionUpdate]:
        """The update that gives this terminal anew."""
        yield TerminalUpdateEvent(
            terminal_id=self.id,
            command=self.command if self.command is not None else UNSET,
            cwd=self.cwd if self.cwd is not None else UNSET,
            output=TerminalOutput(data=b64encode(self._output).decode()),
            exit_status=self.exit_status if self.exit_status is not None else UNSET,
        )

    def _reset_text(self) -> None:
        self._decoder = _decoder()
        self._decoded.clear()
        self._fresh = 0


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


def decoded(data: str) -> bytes:
    """The bytes of output as it is on the wire. What is broken is left out, since output is shown, not stored."""
    try:
        return b64decode(data)
    except (binascii.Error, ValueError):
        return b""
