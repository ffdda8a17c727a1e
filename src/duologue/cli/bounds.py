"""How much of each thing a run prints."""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """Numbers of lines, and of the characters of one line.

    `looks` says whether calls that only look (at files, matches, pages) show what they found; else they tell how much.
    """

    text: int = 12
    command: int = 6
    diff: int = 400
    #: Of a command's output, as it comes; and of its end, when the command ends well or does not.
    output: int = 8
    output_end: int = 8
    failed_end: int = 40
    characters: int = 2000
    output_characters: int = 400
    looks: bool = False


BRIEF = Bounds()

#: With `--verbose`.
WHOLE = Bounds(
    text=sys.maxsize,
    command=sys.maxsize,
    diff=sys.maxsize,
    output=sys.maxsize,
    characters=sys.maxsize,
    output_characters=sys.maxsize,
    looks=True,
)
