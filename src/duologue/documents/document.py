"""A text document with positions in any encoding.

A position that is not there has an answer all the same. A line behind the last one: the end of the text. A character
behind the end of its line, or between CR and LF: before the line end. A place inside of a character (a UTF-16 pair, a
sequence of UTF-8 bytes): before that character. A range whose end comes before its start: the two are swapped.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.documents.edits import TextEdit
from duologue.documents.encodings import index_at, units
from duologue.documents.lines import Lines, without_halves
from duologue.protocol.common.capabilities import PositionEncodingKind
from duologue.protocol.common.documents import Position, Range, TextDocumentContentChangeEvent


class Document:
    """A document as one side holds it. Offsets are indexes of `text`, a `str`; lines end with LF, CR or CR LF.

    Halves of UTF-16 pairs, which cannot be sent, are U+FFFD in it.
    """

    def __init__(self, uri: str, text: str, *, language_id: str = "", version: int = 0) -> None:
        self.uri = uri
        self.language_id = language_id
        self.version = version
        self._lines = Lines(without_halves(text))

    def __len__(self) -> int:
        """The length of `text`, without making it."""
        return self._lines.length

    def __repr__(self) -> str:
        return f"Document({self.uri!r}, version={self.version}, {len(self)} characters)"

    @property
    def text(self) -> str:
        return self._lines.text

    @property
    def line_count(self) -> int:
        """How many lines there are; what comes after the last line end is one."""
        return self._lines.count

    def line(self, number: int) -> str:
        """A line with its end; the first is 0. Raises `IndexError`."""
        if not 0 <= number < self._lines.count:
            raise IndexError(f"{self.uri} has no line {number}")
        return self._lines.line(number)

    def copy(self) -> Document:
        """The document as it is now, which later changes leave alone."""
        made = Document.__new__(Document)
        made.uri, made.language_id, made.version = self.uri, self.language_id, self.version
        made._lines = self._lines.copy()
        return made

    # --- positions ----------------------------------------------------------------------------------------------------

    def position(self, offset: int, encoding: PositionEncodingKind) -> Position:
        """The position of an offset. Raises `ValueError` (it is not in the text)."""
        self._check(offset, offset)
        number, column = self._lines.locate(offset)
        line = _content(self._lines.line(number))
        return Position(line=number, character=units(line[:column], encoding))

    def offset(self, position: Position, encoding: PositionEncodingKind) -> int:
        """The offset of a position; see the top of this module for those that are not there."""
        if position.line >= self._lines.count:
            return self._lines.length
        line = _content(self._lines.line(position.line))
        return self._lines.start(position.line) + index_at(line, position.character, encoding)

    def range(self, start: int, end: int, encoding: PositionEncodingKind) -> Range:
        """The range between two offsets. Raises `ValueError` (they are not in the text, or not in order)."""
        self._check(start, end)
        return Range(start=self.position(start, encoding), end=self.position(end, encoding))

    def span(self, stretch: Range, encoding: PositionEncodingKind) -> tuple[int, int]:
        """The two offsets of a range, the smaller first."""
        first, second = self.offset(stretch.start, encoding), self.offset(stretch.end, encoding)
        return min(first, second), max(first, second)

    # --- changes ------------------------------------------------------------------------------------------------------

    def replace(self, start: int, end: int, text: str) -> None:
        """Put `text` in place of what is between two offsets; the version is yours to set. Raises `ValueError`."""
        self._check(start, end)
        self._lines.replace(start, end, without_halves(text))

    def set_text(self, text: str) -> None:
        """Replace the whole text."""
        self._lines = Lines(without_halves(text))

    def change(self, edit: TextEdit, encoding: PositionEncodingKind) -> TextDocumentContentChangeEvent:
        """Make an edit; the change that makes it on the other side. Raises `ValueError`."""
        start, end, text = edit.start, edit.end, without_halves(edit.text)
        self._check(start, end)
        # No position stands between CR and LF, so the change takes the whole line end.
        if self._splits_line_end(start):
            start, text = start - 1, "\r" + text
        if self._splits_line_end(end):
            end, text = end + 1, text + "\n"
        stretch = self.range(start, end, encoding)
        self._lines.replace(start, end, text)
        return TextDocumentContentChangeEvent(range=stretch, text=text)

    def apply(self, changes: Sequence[TextDocumentContentChangeEvent], encoding: PositionEncodingKind) -> None:
        """Make changes of the other side, each on what the one before it left. One without a range is the new text."""
        for change in changes:
            if isinstance(change.range, Range):
                self.replace(*self.span(change.range, encoding), change.text)
            else:
                self.set_text(change.text)

    def _splits_line_end(self, offset: int) -> bool:
        number, column = self._lines.locate(offset)
        line = self._lines.line(number)
        return line.endswith("\r\n") and column == len(line) - 1

    def _check(self, start: int, end: int) -> None:
        if not 0 <= start <= end <= self._lines.length:
            raise ValueError(f"{start}-{end} is no stretch of a text of {self._lines.length} characters ({self.uri})")


def _content(line: str) -> str:
    """A line without its end."""
    if line.endswith("\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith(("\r", "\n")) else line
