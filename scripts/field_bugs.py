"""The catalogue of field bugs: what has broken real programs of this protocol, by number, and our tests of each rule.

A test names the numbers whose rules it tries, in its name (`test_field_bug_25_...`, `test_field_bugs_7_8_...`) or in
its first words (`Field bugs 72 and 73: ...`). The rules themselves are what those tests say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"

#: Kind -> numbers. Numbers have gaps and never change.
CATALOGUE: dict[str, tuple[int, ...]] = {
    "framing": (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14),
    "text encoding": (15, 16, 17, 19, 20),
    "ids and errors": (22, 23, 24, 25, 26, 27, 28),
    "order": (30, 31, 32, 33, 34, 35, 36, 37, 38),
    "cancelling": (39, 40, 42, 45, 46, 47, 48, 49, 50, 51, 52, 53),
    "prompts at once": (54, 55, 56, 57, 58),
    "permissions": (60, 61, 64, 65, 66, 67, 68, 69, 70, 71),
    "sessions": (72, 73, 74, 75, 76, 77, 78, 79, 81, 82, 83, 85, 86, 87, 88),
    "unknown and wrong values": (89, 90, 91, 92, 93, 94, 95, 96, 98),
    "tool calls": (99, 100, 101, 102, 104, 105, 106, 107, 108),
    "content": (110, 111, 112, 113, 114, 115, 116, 117),
    "slash commands": (118, 119),
    "modes, models, options": (122, 123, 124, 125, 126),
    "usage": (127, 128),
    "files of a client": (129, 130, 131, 133, 134, 135),
    "terminals": (136, 137, 138, 139, 141, 142),
    "processes": (143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153),
    "starting": (155, 156, 157, 158, 159),
    "MCP servers": (160, 161, 162, 163),
    "login and environment": (165, 166, 167, 168, 169, 170),
    "Windows and odd paths": (171, 172, 173, 174, 175, 176),
    "HTTP and WebSocket": (177, 178, 180, 181),
    "memory": (182, 183, 184),
    "work outside of turns": (185, 186, 187, 188),
}

_HTTP = "There is no HTTP or WebSocket transport yet."

#: Why a rule is not tried; one that has a test since needs no reason any more.
REASONS: dict[int, str] = {
    88: "The coding agent has no subagents; the sessions that an agent lists are its author's choice.",
    177: _HTTP,
    178: _HTTP,
    180: _HTTP,
    181: _HTTP,
}

#: What of a rule is not tried, and why.
PARTLY: dict[int, str] = {
    173: "That a launcher script starts can only be seen on Windows; what it needs of the environment is tried.",
}

_NAMED = re.compile(r"field[_ ]bugs?[_ ]((?:\d+(?:_and_|_| and |, )?)+)", re.IGNORECASE)


def tests_by_number(folder: Path = TESTS) -> dict[int, list[str]]:
    """The tests that name a number, as `file::name`."""
    found: dict[int, list[str]] = {}
    for file in sorted(folder.rglob("test_*.py")):
        for name, number in _numbers_in(file):
            found.setdefault(number, []).append(f"{file.relative_to(folder.parent)}::{name}")
    return found


def _numbers_in(file: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            words = f"{node.name} {ast.get_docstring(node) or ''}"
            numbers = {int(number) for said in _NAMED.findall(words) for number in re.findall(r"\d+", said)}
            yield from ((node.name, number) for number in sorted(numbers))
