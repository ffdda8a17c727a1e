"""The output of commands: the first lines as they come, and of a long one the end when the command has ended."""

from __future__ import annotations

import codecs
from collections import deque
from dataclasses import dataclass, field

from duologue.cli.parts import Parts, cut
from duologue.cli.screen import printable
from duologue.protocol.v2.terminal import output_bytes
from duologue.protocol.v2.updates import TerminalOutputChunkEvent, TerminalUpdateEvent

#: Terminals that are remembered.
KEPT = 64
#: Characters without a line's end that are taken for a line, since they may go on for ever.
LONGEST_LINE = 64 * 1024


def _utf8() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


@dataclass(slots=True)
class CommandOutput:
    """What came of one terminal, and what of it was printed."""

    command: str | None = None
    command_told: bool = False
    size: int = 0
    decoder: codecs.IncrementalDecoder = field(default_factory=_utf8)
    begun: str = ""
    printed: int = 0
    held: deque[str] = field(default_factory=deque)
    held_count: int = 0
    exit_code: int | None = None
    ended: bool = False


class CommandOutputs:
    """Prints the terminals of a session."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._outputs: dict[str, CommandOutput] = {}

    def update(self, update: TerminalUpdateEvent) -> None:
        """A terminal begins, is told anew, or ends."""
        output = self._output(update.terminal_id)
        output.command = update.command or output.command
        if update.output:
            # All of it anew: what goes beyond that which came before.
            self._take(output, output_bytes(update.output.data)[output.size :])
        if update.exit_status:
            code = update.exit_status.exit_code
            output.exit_code = code if isinstance(code, int) else None
            self.end(update.terminal_id, failed=bool(output.exit_code or update.exit_status.signal))

    def command(self, terminal_id: str) -> str | None:
        """The command of a terminal, if it was told."""
        output = self._outputs.get(terminal_id)
        return None if output is None else output.command

    def chunk(self, update: TerminalOutputChunkEvent) -> None:
        """More output."""
        self._take(self._output(update.terminal_id), output_bytes(update.data))

    def end(self, terminal_id: str, *, failed: bool) -> int | None:
        """Print the end of an output, once; the exit code if it was told."""
        output = self._output(terminal_id)
        if not output.ended:
            output.ended = True
            self._tell_command(output)
            if output.begun:
                self._line(output, output.begun)
                output.begun = ""
            bounds = self._parts.bounds
            self._print_end(output, bounds.failed_end if failed else bounds.output_end)
        return output.exit_code

    def end_all(self) -> None:
        """Print the ends of all that have not ended."""
        for terminal_id in self._outputs:
            self.end(terminal_id, failed=False)

    def _output(self, terminal_id: str) -> CommandOutput:
        output = self._outputs.get(terminal_id)
        if output is None:
            output = self._outputs[terminal_id] = CommandOutput()
            if len(self._outputs) > KEPT:
                del self._outputs[next(iter(self._outputs))]
        return output

    def _take(self, output: CommandOutput, data: bytes) -> None:
        output.size += len(data)
        output.ended = output.ended and not data
        *whole, output.begun = (output.begun + output.decoder.decode(data)).split("\n")
        for line in whole:
            self._line(output, line)
        if len(output.begun) > LONGEST_LINE:
            self._line(output, output.begun)
            output.begun = ""

    def _line(self, output: CommandOutput, raw: str) -> None:
        line = printable(raw.removesuffix("\r"))
        if raw and not line:
            return  # It was for the terminal alone.
        bounds = self._parts.bounds
        for piece in line.split("\n"):
            if output.printed < bounds.output:
                self._tell_command(output)
                output.printed += 1
                self._print(piece)
                continue
            output.held.append(piece)
            output.held_count += 1
            if len(output.held) > bounds.failed_end + 1:
                output.held.popleft()

    def _tell_command(self, output: CommandOutput) -> None:
        """What gives the output stands above it. It may be told before its tool call, which tells more."""
        if output.command and not output.command_told:
            output.command_told = True
            self._parts.command_once(output.command)

    def _print_end(self, output: CommandOutput, most: int) -> None:
        left_out = output.held_count - most
        if left_out == 1:  # The line that says so would be no shorter.
            most, left_out = most + 1, 0
        self._parts.left_out(left_out, "│ … {} lines left out (--verbose shows them)")
        for line in list(output.held)[-most:]:
            self._print(line)
        output.held.clear()
        output.held_count = 0

    def _print(self, line: str) -> None:
        self._parts.screen.line(f"  │ {cut(line, self._parts.bounds.output_characters)}", "dim")
