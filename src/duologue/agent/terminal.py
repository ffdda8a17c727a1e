"""A terminal that the agent runs and the client shows."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from duologue.local.arguments import as_path
from duologue.protocol.common.terminal import TerminalExitStatus
from duologue.protocol.v2.terminal import TerminalOutput
from duologue.protocol.v2.updates import TerminalOutputChunkEvent, TerminalUpdateEvent

if TYPE_CHECKING:
    from duologue.agent.voice import Voice


class Terminal:
    """Output is bytes, as the process wrote them; the client decodes."""

    def __init__(self, voice: Voice, terminal_id: str) -> None:
        self._voice = voice
        self.id = terminal_id

    def open(self, command: str | UnsetType = UNSET, cwd: Path | str | UnsetType = UNSET) -> Awaitable[None]:
        """Announce the terminal. A relative `cwd` starts at the session's working directory."""
        where = UNSET if isinstance(cwd, UnsetType) else str(self._voice.session.cwd / as_path(cwd, "cwd"))
        return self._voice.update(TerminalUpdateEvent(terminal_id=self.id, command=command, cwd=where))

    def write(self, data: bytes) -> Awaitable[None]:
        """Show more output. Raises `TypeError` for text."""
        return self._voice.send(TerminalOutputChunkEvent(terminal_id=self.id, data=_encoded(data)))

    def replace(self, output: bytes) -> Awaitable[None]:
        """Show this output in place of all that was shown before."""
        whole = TerminalOutput(data=_encoded(output))
        return self._voice.send(TerminalUpdateEvent(terminal_id=self.id, output=whole))

    def exited(self, exit_code: int | None = None, signal: str | None = None) -> Awaitable[None]:
        """Tell how the process ended."""
        status = TerminalExitStatus(exit_code=exit_code, signal=signal)
        return self._voice.update(TerminalUpdateEvent(terminal_id=self.id, exit_status=status))


def _encoded(output: bytes) -> str:
    if not isinstance(output, bytes | bytearray | memoryview):
        raise TypeError(f"output is bytes, as the process wrote them (text.encode()), not {type(output).__name__}")
    return b64encode(output).decode()
