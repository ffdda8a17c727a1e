"""What stands below the line of a tool call: lines, commands and diffs, each cut where it is long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from duologue.cli.bounds import Bounds
from duologue.cli.patches import compact
from duologue.cli.screen import Screen, one_line, visible
from duologue.protocol.v2.diff import DiffPatch
from duologue.protocol.v2.tools import ToolDiff


class Parts:
    """Prints them, indented."""

    def __init__(self, screen: Screen, bounds: Bounds) -> None:
        self.screen = screen
        self.bounds = bounds
        self._known_command: str | None = None

    def lines(
        self, lines: Sequence[str], most: int, *styles: str, by_line: Callable[[str], tuple[str, ...]] | None = None
    ) -> bool:
        """Print `most` of the lines and not all of a very long one; whether that was all."""
        for line in lines[:most]:
            shown = line if most == sys.maxsize else cut(line, self.bounds.characters)
            self.screen.line(f"  {self.screen.paint(shown, *(by_line(line) if by_line else styles))}")
        self.left_out(len(lines) - most)
        return self.is_short(lines, most)

    def last_lines(self, lines: Sequence[str], most: int, *styles: str) -> None:
        """Print the last `most` of the lines."""
        self.left_out(len(lines) - most, "… {} lines before")
        self.lines(lines[-most:], most, *styles)

    def left_out(self, lines: int, words: str = "… {} more lines") -> None:
        """Say how many lines are not shown, if there are any."""
        if lines > 0:
            text = words.format(lines)
            self.screen.line(f"  {text.replace('lines', 'line', 1) if lines == 1 else text}", "dim")

    def is_short(self, lines: Sequence[str], most: int) -> bool:
        """Whether lines are shown to their ends where only `most` of them are."""
        return len(lines) <= most and (
            most == sys.maxsize or all(len(line) <= self.bounds.characters for line in lines)
        )

    # --- commands ---------------------------------------------------------------------------------------------------

    def command(self, command: str, most: int) -> bool:
        """Print a command; whether all of it was printed."""
        self.know_command(command)
        first, *more = visible(command).split("\n")
        return self.lines([f"$ {first}", *(f"> {line}" for line in more)], most, "bold")

    def command_once(self, command: str) -> None:
        """Print a command unless it is the last one that was shown."""
        if command != self._known_command:
            self.command(command, self.bounds.command)

    def know_command(self, command: str | None) -> None:
        """This command stands above already; None: what stands above belongs to another call."""
        self._known_command = command

    # --- diffs ------------------------------------------------------------------------------------------------------

    def diff(self, item: ToolDiff, most: int) -> bool:
        """Print a change of files; whether all of it was printed."""
        return self.lines([visible(line) for line in _diff_lines(item)], most, by_line=_diff_style)


def cut(line: str, most: int) -> str:
    """The line, or its beginning and how much it lacks."""
    return line if len(line) <= most else f"{line[:most]} … {len(line) - most} more characters"


def changed_lines(item: ToolDiff) -> list[str]:
    """The files of a diff and the lines it takes away and adds, without those around them."""
    return [line for line in _diff_lines(item) if not line.startswith((" ", "@"))]


def _diff_lines(item: ToolDiff) -> list[str]:
    if isinstance(item.patch, DiffPatch) and item.patch.text:
        return _without_end_marks(_without_git_line(compact(item.patch.text)))
    return [f"changes {_change(change)}" for change in item.changes]


def _change(change: Any) -> str:
    named = [getattr(change, member, None) for member in ("old_path", "path")]
    return one_line(" -> ".join(path for path in named if isinstance(path, str)) or str(change))


def _without_git_line(lines: list[str]) -> list[str]:
    """Without the lines that only repeat the path."""
    if not any(line.startswith("--- ") for line in lines):
        return lines
    return [line for line in lines if not line.startswith("diff --git ")]


def _without_end_marks(lines: list[str]) -> list[str]:
    """Without the marks of a last line that has no line feed, where that is so before and after the change."""
    marked = {lines[at - 1][:1] for at, line in enumerate(lines) if line.startswith("\\ ")}
    one_file = sum(line.startswith("+++ ") for line in lines) <= 1
    if not one_file or marked in ({"-"}, {"+"}):
        return lines
    return [line for line in lines if not line.startswith("\\ ")]


def _diff_style(line: str) -> tuple[str, ...]:
    if line.startswith(("+++", "---", "diff ")):
        return ("bold",)
    match line[:1]:
        case "+":
            return ("green",)
        case "-":
            return ("red",)
        case "@":
            return ("cyan",)
    return ()
