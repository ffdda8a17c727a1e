"""Slash commands of version 1."""

from __future__ import annotations

from msgspec import UNSET

from duologue.protocol.base import Extensible, Items, Lenient, Maybe


class UnstructuredCommandInput(Extensible, kw_only=True):
    """Free text behind a command; the hint stands in its place until then."""

    hint: str


#: What stands behind a command.
AvailableCommandInput = UnstructuredCommandInput


class AvailableCommand(Extensible, kw_only=True):
    """A command that the user may call."""

    name: str
    description: str
    input: Maybe[AvailableCommandInput] = UNSET


class AvailableCommandsUpdate(Extensible, kw_only=True):
    """All commands that there are now."""

    available_commands: Lenient[Items[AvailableCommand]]
