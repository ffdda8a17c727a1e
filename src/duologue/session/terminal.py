"""A display terminal: its output as bytes, and as text that is decoded once."""

from __future__ import annotations

import codecs
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import UNSET

from duologue.protocol.common.terminal import TerminalExitStatus
from duologue.protocol.v2.terminal import TerminalOutput, output_bytes
from duologue.protocol.v2.updates import SessionUpdate, TerminalUpdateEvent
from duologue.session.entries import shown
from duologue.session.shelf import Kept


class TerminalState(Kept):
    """What a terminal shows. Text is decoded once, when it is read; bad bytes become U+FFFD."""

    __slots__ = (
        *("_decoder", "_end", "_ends", "_fresh", "_output", "_pieces"),
        *("command", "cwd", "exit_status", "id", "replaced"),
    )

    # The text of the output up to the byte `_fresh`, in pieces, and the number of characters up to the end of each.
    _pieces: list[str]
    _ends: list[int]
    _fresh: int

    def __init__(self, terminal_id: str) -> None:
        self.id = terminal_id
        self.command: str | None = None
        self.cwd: str | None = None
        self.exit_status: TerminalExitStatus | None = None
        #: How often other output took the place of all that was there: text that was read before is void then.
        self.replaced = 0
        self._output = bytearray()
        # Where the output ends, for a copy that shares the bytes with what goes on.
        self._end: int | None = None
        self._reset_text()

    def patch(self, update: TerminalUpdateEvent) -> None:
        """Absent members stay, null clears, a value replaces; output replaces all that came before."""
        if update.command is not UNSET:
            self.command = update.command or None
        if update.cwd is not UNSET:
            self.cwd = update.cwd or None
        if update.exit_status is not UNSET:
            self.exit_status = update.exit_status or None
        if update.output is not UNSET:
            self._output = bytearray(output_bytes(update.output.data) if update.output else b"")
            self.replaced += 1
            self._reset_text()

    def write(self, data: str) -> None:
        """Append output, given in base64."""
        self._output += output_bytes(data)

    @property
    def output(self) -> bytes:
        """All output so far."""
        return bytes(self._output[: self._end])

    @property
    def text(self) -> str:
        """All output so far as text; a character that is not whole yet is left out."""
        self._decode()
        if len(self._pieces) > 1:
            self._pieces, self._ends = ["".join(self._pieces)], self._ends[-1:]
        return self._pieces[0] if self._pieces else ""

    def text_from(self, start: int) -> str:
        """The text behind its first `start` characters, at the cost of what is given: for who has read those.

        They are the same as long as `replaced` is.
        """
        self._decode()
        first = bisect_right(self._ends, start)
        if first == len(self._pieces):
            return ""
        before = self._ends[first - 1] if first else 0
        return "".join([self._pieces[first][start - before :], *self._pieces[first + 1 :]])

    def freeze(self) -> TerminalState:
        """See `Kept`."""
        twin = TerminalState(self.id)
        twin.command, twin.cwd, twin.exit_status, twin.replaced = (
            self.command,
            self.cwd,
            self.exit_status,
            self.replaced,
        )
        twin._output, twin._end = self._output, len(self._output)
        return twin

    def __repr__(self) -> str:
        # Neither command nor output: they may hold what is meant for no log.
        return f"TerminalState({shown(self.id)}, {len(self.output)} bytes, {self._ending()})"

    def _ending(self) -> str:
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
            output=TerminalOutput(data=b64encode(self.output).decode()),
            exit_status=self.exit_status if self.exit_status is not None else UNSET,
        )

    def _decode(self) -> None:
        """Decode what came since text was last read, and note where its characters end."""
        text = self._decoder.decode(bytes(self._output[self._fresh : self._end]))
        self._fresh = len(self._output) if self._end is None else self._end
        if text:
            self._pieces.append(text)
            self._ends.append((self._ends[-1] if self._ends else 0) + len(text))

    def _reset_text(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces, self._ends, self._fresh = [], [], 0
