"""What docs/check.md lists as found on programs of others."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "check.md"
#: The part about released programs; the one before it is about the SDKs.
RELEASED = "## What was found on released programs\n"

#: Status, version and requirement.
Found = set[tuple[str, int, str]]


def listed(program: str, *, now_and_then: bool = False) -> Found:
    """The findings of a program on the page: those of each run, or those that the page says come now and then."""
    found: Found = set()
    section = PAGE.read_text(encoding="utf-8").partition(f"### {program}\n")[2].split("\n#")[0]
    for line in section.splitlines():
        match = re.match(r"\| (fail|warn) \| (1|2|1, 2) \| ([\w, -]+) \| (now and then )?", line)
        if match and bool(match[4]) == now_and_then:
            status, versions, rows, _ = match.groups()
            found |= {(status, int(version), row) for version in versions.split(", ") for row in rows.split(", ")}
    return found


def named(released: bool) -> set[str]:
    """The programs of a part of the page."""
    part = PAGE.read_text(encoding="utf-8").partition(RELEASED)[2 if released else 0]
    return set(re.findall(r"^### (.+)$", part, re.MULTILINE))
