"""The protocol as a table of values: types by topic, methods, versions.

`duologue.protocol.v1` and `duologue.protocol.v2` have every type of a version by its name, `v1.table` and `v2.table`
its methods, `version` the versions as values. Nothing is loaded before it is asked for.

Names. A name of the specification is the type that the specification gives it; a struct of that name never has a tag.
The variants of a tagged union are subclasses of those structs, and are named after their tag:

- tag and last word of the union: `TextBlock` of `ContentBlock` (``"type": "text"``), `HttpMcpServer`,
  `EnvVarAuthMethod`, `EditSuggestion`, `AddChange`, `SelectedOutcome`, `CommandSubject`, `FormElicitation`,
  `AcceptElicitation`, `StringProperty`, `StringItems`, `SelectConfigOption`, `SetIdConfigOption`, `StartReplay`,
  `TextInput`, `ItemsPlan`;
- of `ToolCallContent`, ``Tool`` and the tag: `ToolContent`, `ToolDiff`, `ToolTerminal`;
- of `SessionUpdate`, the tag alone (`AgentMessageChunk`), and with ``Event`` behind it where the specification has a
  struct of that name: `ToolCallUpdateEvent` is the `ToolCallUpdate` that stands in a session update.

A variant that carries no tag on the wire (`StdioMcpServer` in version 1) is named by the same rule.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["find_type"]


def find_type(version: str, name: str) -> Any:
    """The type that a version (``v1`` or ``v2``) has under a name: a struct, an enum, a union or a plain type.

    Raises `LookupError` if there is no such version, or no such name in it.
    """
    if version not in ("v1", "v2"):
        raise LookupError(f"no version {version!r}: there are v1 and v2")
    types = import_module(f"duologue.protocol.{version}").TYPES
    if name not in types:
        raise LookupError(f"version {version} has no type {name!r}")
    return types.find(name)
