"""A script that is being played: the place in it, what was heard, and how a mismatch is told."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

from duologue import codec
from duologue.errors import DuologueError
from duologue.testing.lines import End, Failure, Line, Prompt

#: How many messages a mismatch shows, the newest last, and how many characters of each.
SHOWN_MESSAGES = 20
SHOWN_CHARACTERS = 300


class Mismatch(DuologueError, AssertionError):
    """The other side did not do what the script says; the text shows the place in it and the messages up to there."""


class Script:
    """The lines, and how far they were played. Raises `ValueError` for lines that do not begin with a `Prompt`, and
    `TypeError` for what is no line."""

    def __init__(self, lines: Sequence[Line]) -> None:
        for line in lines:
            if not isinstance(line, Line):
                raise TypeError(
                    f"a script is made of lines, such as Prompt('hello'), one argument each, not {line!r:.60}"
                )
        if lines and not isinstance(lines[0], Prompt):
            raise ValueError(f"a script begins with a Prompt, not with {lines[0]!r}")
        for before, line in pairwise(lines):
            if isinstance(before, End | Failure) and not isinstance(line, Prompt):
                raise ValueError(f"after {before!r} a new turn begins: a Prompt, not {line!r}")
        self.lines = tuple(lines)
        self.played = 0
        #: The first mismatch.
        self.failure: Mismatch | None = None
        self._heard: deque[str] = deque(maxlen=SHOWN_MESSAGES)

    @property
    def line(self) -> Line | None:
        """The next line; None at the end."""
        return self.peek(0)

    def peek(self, further: int) -> Line | None:
        """The line that stands so many lines behind the next one; None behind the end."""
        place = self.played + further
        return self.lines[place] if place < len(self.lines) else None

    @property
    def ending(self) -> End | Failure | None:
        """How the turn ends, if that is what comes next; None while the turn goes on."""
        match self.line:
            case None | Prompt():
                return End()
            case End() | Failure() as ending:
                return ending
        return None

    def advance(self) -> None:
        self.played += 1

    def end_turn(self) -> None:
        """Pass the line that ends the turn, if it is written."""
        if isinstance(self.line, End | Failure):
            self.advance()

    def note(self, direction: Literal["->", "<-"], value: Any) -> None:
        """Keep a message to show it: what this side sent (->) or got (<-)."""
        text = codec.encode(value).decode()
        kind = type(value).__name__
        shown = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}... ({len(text)} characters)"
        self._heard.append(f"{direction} {kind} {shown}")

    def mismatch(self, got: str) -> Mismatch:
        """What to raise when something else came; the first one is kept."""
        expected = "the end of the script" if self.line is None else repr(self.line)
        found = Mismatch(f"expected {expected}\ngot      {got}\n{self._place()}")
        self.failure = self.failure or found
        return found

    def check(self) -> None:
        """Raises `Mismatch`: the first one, or that lines were not played."""
        if self.failure is not None:
            raise self.failure
        if self.line is not None:
            raise self.mismatch("nothing more")

    def _place(self) -> str:
        marks = [">" if number == self.played else " " for number in range(len(self.lines))]
        marked = [f"  {marks[number]} {number + 1}. {line!r}" for number, line in enumerate(self.lines)]
        heard = [f"    {message}" for message in self._heard] or ["    none"]
        return "\n".join(["the script:", *marked, "the messages, newest last:", *heard])
