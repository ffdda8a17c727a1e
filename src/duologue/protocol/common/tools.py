"""Tool calls, as far as both versions agree."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Maybe, OpenEnum, UInt32
from duologue.protocol.common.ids import TerminalId


class ToolKind(OpenEnum):
    """What sort of work a tool call does."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    SWITCH_MODE = "switch_mode"
    OTHER = "other"


class ToolCallLocation(Extensible, kw_only=True):
    """A file, perhaps a line, that a tool call reads or changes."""

    path: str
    line: Maybe[UInt32] = UNSET


class Terminal(Extensible, kw_only=True):
    """A reference to a terminal whose output stands in a tool call."""

    terminal_id: TerminalId


class ToolTerminal(Terminal, tag_field="type", tag="terminal", kw_only=True):
    """A terminal shown in a tool call."""
