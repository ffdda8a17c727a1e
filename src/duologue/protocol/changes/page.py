"""The table of differences as Markdown, for docs/versions.md: ``python -m duologue.protocol.changes.page``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duologue.protocol.changes.meanings import MEANINGS, Meaning
from duologue.protocol.changes.table import METHODS, PARTS, UPDATES, Row
from duologue.protocol.common.tools import ToolTerminal
from duologue.protocol.method import Notification, Request
from duologue.protocol.version import V1, V2, Version


def markdown() -> str:
    """The tables, each under its heading."""
    return "\n".join(
        [
            *_table("Methods", METHODS, _method),
            *_table("Variants of `session/update`", UPDATES, _update),
            *_table("Parts of messages", PARTS, _part),
            *_meanings("The same JSON, another meaning", MEANINGS),
        ]
    )


def _table(title: str, rows: Iterable[Row], name: Any) -> list[str]:
    lines = [f"| {name(row.v1, V1)} | {name(row.v2, V2)} | {row.kind} | {row.reason} |" for row in rows]
    return [f"### {title}", "", "| v1 | v2 | keeps | what happens |", "|---|---|---|---|", *lines, ""]


def _meanings(title: str, meanings: Iterable[Meaning]) -> list[str]:
    lines = [f"| {_named(meaning.what)} | {meaning.reason} |" for meaning in meanings]
    return [f"### {title}", "", "| what | how it is read |", "|---|---|", *lines, ""]


def _named(what: Any) -> str:
    if isinstance(what, Request | Notification):
        return _method(what, V2)
    tag = what.__struct_config__.tag
    return f"`{tag}` of a tool call" if what is ToolTerminal else f"`{tag or what.__name__}`"


def _method(method: Request[Any, Any] | Notification[Any] | None, version: Version) -> str:
    return "-" if method is None else f"`{method.name}`"


def _update(update: Any, version: Version) -> str:
    return "-" if update is None else f"`{update.__struct_config__.tag}`"


def _part(part: Any, version: Version) -> str:
    names = (name for name in version.types if version.types.find(name) is part)
    return f"`{next(names)}`"


if __name__ == "__main__":
    print(markdown())
