"""Where a run prints: whole lines, colours only on a terminal, and no control character of an agent."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from typing import Protocol

STYLES: Mapping[str, str] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}

ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[@-Z\\-_]"
)
NEWLINES = re.compile(r"\r\n?")

# What could move the cursor, hide text or turn its direction is shown as a sign of its own.
SIGNS = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys(
        (*range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)), 0xFFFD
    ),
}

# Letters and marks that nothing is seen of; the rest of the unseen is known to `str.isprintable`. The ideographic
# space and the two marks that choose the picture of a sign are left to those who write with them.
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef"
UNSEEN_ONE = re.compile(f"[{UNSEEN}]")
NOT_PLAIN = re.compile(r"[^\n\t -~]")


def printable(text: str) -> str:
    """What an agent says, as it may be printed: without escape sequences, other control characters made visible.

    Something is left out here: what a person is asked about goes through `visible`.
    """
    return NEWLINES.sub("\n", ESCAPES.sub("", text)).translate(SIGNS)


def visible(text: str) -> str:
    """Text with nothing left out and nothing unseen: each character that does not show has a sign or its number."""
    return NOT_PLAIN.sub(_shown, text)


def one_line(text: str) -> str:
    """The same, as one line."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return chr(SIGNS[code])
    seen = character == "\u3000" or (character.isprintable() and not UNSEEN_ONE.fullmatch(character))
    return character if seen else f"<U+{code:04X}>"


def plain_json(text: str) -> str:
    """A line of JSON that does nothing to a terminal: what does not show is escaped."""
    return text if text.isprintable() else NOT_PLAIN.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    """Only inside of strings can there be such a character."""
    if found[0].isprintable():
        return found[0]
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def can_erase(stream: Stream) -> bool:
    """Whether a line that was printed can be taken away again."""
    return os.environ.get("TERM", "dumb") != "dumb" and stream.isatty()


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
    """Text on a stream. `lines` counts those that were printed; `begun` says that a line was begun and nothing printed
    since, `at_start` that the next text stands at the start of a line. `before` is called before anything is printed.
    """

    def __init__(self, stream: Stream, *, colour: bool) -> None:
        self._stream = stream
        self._colour = colour
        self.at_start = True
        self.lines = 0
        self.begun = False
        self.before: Callable[[], None] | None = None

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
        self.at_start = text.endswith("\n")

    def line(self, text: str = "", *styles: str) -> None:
        """Print a line of its own."""
        self.fresh()
        self._put(f"{self.paint(text, *styles) if styles else text}\n")
        self.at_start = True

    def begin(self, text: str) -> None:
        """Print a line without its end."""
        self.fresh()
        self._put(text)
        self.at_start = False
        self.begun = True

    def typed(self) -> None:
        """A line was typed behind what was printed, and its end shown."""
        self.lines += 1
        self.at_start = True

    def fresh(self) -> None:
        """End the line that is begun."""
        if not self.at_start:
            self._put("\n")
            self.at_start = True

    def _put(self, text: str) -> None:
        if self.before is not None:
            self.before()
        # A terminal or standard error that has gone away must not end the turn.
        self.begun = False
        self.lines += text.count("\n")
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()
