"""Where a run prints: whole lines, colours only on a terminal, and no control character of an agent."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from typing import Protocol

STYLES: Mapping[str, str] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}

ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
NEWLINES = re.compile(r"\r\n?")

# What could move the cursor, hide text or turn its direction is shown as a sign of its own.
SIGNS = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD),
}


def printable(text: str) -> str:
    """Text of an agent as it may be printed: no escape sequences, and other control characters made visible."""
    return NEWLINES.sub("\n", ESCAPES.sub("", text)).translate(SIGNS)


def wants_colour(stream: Stream, env: Mapping[str, str] | None = None) -> bool:
    """Colour is for terminals that can show it, unless `NO_COLOR` is set."""
    env = os.environ if env is None else env
    return not env.get("NO_COLOR") and env.get("TERM") != "dumb" and stream.isatty()


class Stream(Protocol):
    """What a screen prints on."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> None: ...

    def isatty(self) -> bool: ...


class Screen:
    """Text on a stream."""

    def __init__(self, stream: Stream, *, colour: bool) -> None:
        self._stream = stream
        self._colour = colour
        self._at_start = True

    @property
    def is_terminal(self) -> bool:
        return self._stream.isatty()

    def paint(self, text: str, *styles: str) -> str:
        """The text in a style, when there is colour."""
        if not self._colour or not text or not styles:
            return text
        codes = ";".join(STYLES[style] for style in styles)
        return f"\x1b[{codes}m{text}\x1b[0m"

    def write(self, text: str, *styles: str) -> None:
        """Print a piece of text as it is."""
        if not text:
            return
        self._put("\n".join(self.paint(part, *styles) for part in text.split("\n")) if styles else text)
        self._at_start = text.endswith("\n")

    def line(self, text: str = "", *styles: str) -> None:
        """Print a line of its own."""
        self.fresh()
        self._put(f"{self.paint(text, *styles) if styles else text}\n")
        self._at_start = True

    def fresh(self) -> None:
        """End the line that is begun."""
        if not self._at_start:
            self._put("\n")
            self._at_start = True

    def _put(self, text: str) -> None:
        # A terminal or standard error that has gone away must not end the turn.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()
