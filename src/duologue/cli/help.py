"""Help texts in the width of the terminal: paragraphs are filled, tables and commands keep their lines."""

from __future__ import annotations

import argparse
import re

#: Where the second column of a line begins that has two.
_COLUMN = re.compile(r"\s+\S.*?\s{2,}(?=\S)")


class Help(argparse.RawDescriptionHelpFormatter):
    """Folds descriptions and examples, which argparse would print as they are or run together."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(_paragraph(part, width) for part in text.split("\n\n"))


def _paragraph(text: str, width: int) -> str:
    lines = text.split("\n")
    if any(line.startswith(" ") for line in lines):
        return "\n".join(_line(line, width) for line in lines)
    return _folded(" ".join(lines), width)


def _line(line: str, width: int) -> str:
    """One line of a table or a list of commands. What goes on stands below its column, or behind a backslash."""
    if len(line) <= width:
        return line
    column = _COLUMN.match(line)
    if column is not None:
        return _folded(line, width, " " * column.end())
    return _folded(line, width - 2, " " * 6).replace("\n", " \\\n")


def _folded(text: str, width: int, indent: str = "") -> str:
    import textwrap

    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
