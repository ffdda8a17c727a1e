"""Text as blocks of lines: quick for many small edits of a large text, and for finding the line of an offset."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from itertools import accumulate, chain

#: Lines in a block. Measured with edits all over 1 MB in 25000 lines: below it finding the block is what takes the
#: time, above it finding the line. An edit with the search for its place takes 0.1 ms; it takes 1 to 4 ms in one flat
#: list of lines or in one string with an index of its lines, since all that is behind an edit gets another offset.
BLOCK = 128

_HALF = re.compile("[\ud800-\udfff]")


class Lines:
    """A text by lines. Offsets count characters of the whole text; a line includes its end (LF, CR or CR LF).

    The last line is what comes after the last line end, perhaps nothing.
    """

    def __init__(self, text: str) -> None:
        lines = split_lines(text)
        self._blocks = [lines[at : at + BLOCK] for at in range(0, len(lines), BLOCK)]
        self._sizes = [sum(map(len, block)) for block in self._blocks]
        self._text: str | None = text
        self._index()

    def _index(self) -> None:
        """Note where each block ends: in characters and in lines of the whole text."""
        self._ends = list(accumulate(self._sizes))
        self._line_ends = list(accumulate(map(len, self._blocks)))

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "".join(chain.from_iterable(self._blocks))
        return self._text

    @property
    def length(self) -> int:
        """Characters of the text."""
        return self._ends[-1]

    @property
    def count(self) -> int:
        """Lines of the text, at least one."""
        return self._line_ends[-1]

    def copy(self) -> Lines:
        """The text as it is now."""
        made = Lines.__new__(Lines)
        made._blocks = [block.copy() for block in self._blocks]
        made._sizes = self._sizes.copy()
        made._text = self._text
        made._ends, made._line_ends = self._ends, self._line_ends
        return made

    def line(self, number: int) -> str:
        """A line with its end."""
        block, index = self._block_of_line(number)
        return self._blocks[block][index]

    def start(self, number: int) -> int:
        """The offset at which a line starts."""
        block, index = self._block_of_line(number)
        return self._ends[block] - self._sizes[block] + sum(map(len, self._blocks[block][:index]))

    def locate(self, offset: int) -> tuple[int, int]:
        """The line of an offset and the place in it. Behind a line end is the start of the next line."""
        block, index, column = self._find(offset)
        return self._line_ends[block] - len(self._blocks[block]) + index, column

    def replace(self, start: int, end: int, text: str) -> None:
        """Put `text` in place of what is between two offsets (0 <= start <= end <= length)."""
        first, index, column = self._find(start)
        last, last_index, last_column = self._find(end)
        if column == 0 and (first or index):
            # With the line before: its CR and a LF that follows now are one line end.
            first, index = (first, index - 1) if index else (first - 1, len(self._blocks[first - 1]) - 1)
            column = len(self._blocks[first][index])
        suffix = self._blocks[last][last_index][last_column:]
        made = split_lines(self._blocks[first][index][:column] + text + suffix)
        rest = self._blocks[last][last_index + 1 :]
        if not made[-1] and (rest or last + 1 < len(self._blocks)):
            # Only the last line of all may be empty.
            made.pop()
        self._put(first, last, [*self._blocks[first][:index], *made, *rest])
        self._text = None

    def _put(self, first: int, last: int, lines: list[str]) -> None:
        """Let `lines` stand in place of whole blocks. They are cut when long, and joined to a neighbour when short."""
        if len(lines) < BLOCK // 2 and last + 1 < len(self._blocks):
            last += 1
            lines += self._blocks[last]
        size = len(lines) if len(lines) <= 2 * BLOCK else BLOCK
        blocks = [lines[at : at + size] for at in range(0, len(lines), size)]
        self._blocks[first : last + 1] = blocks
        self._sizes[first : last + 1] = [sum(map(len, block)) for block in blocks]
        self._index()

    def _block_of_line(self, number: int) -> tuple[int, int]:
        block = bisect_right(self._line_ends, number)
        return block, number - (self._line_ends[block - 1] if block else 0)

    def _find(self, offset: int) -> tuple[int, int, int]:
        """The block of an offset, the line in the block and the place in the line."""
        block = min(bisect_right(self._ends, offset), len(self._ends) - 1)
        rest = offset - (self._ends[block - 1] if block else 0)
        lines = self._blocks[block]
        ends = list(accumulate(map(len, lines)))
        # The end of the text is the end of the last line, which has no line end.
        index = min(bisect_right(ends, rest), len(lines) - 1)
        return block, index, rest - (ends[index - 1] if index else 0)


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends; the last one has none."""
    lines = list(io.StringIO(text, newline=""))
    if not lines or lines[-1][-1] in "\r\n":
        lines.append("")
    return lines


def without_halves(text: str) -> str:
    """`text` with U+FFFD for each half of a UTF-16 pair, which no encoding can carry; no offset changes by it."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)
