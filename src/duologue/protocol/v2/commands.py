"""Slash commands of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET

from duologue.protocol.base import OPEN, Extensible, Items, Lenient, Maybe, Unknown


class TextCommandInput(Extensible, kw_only=True):
    """Free text behind a command; the hint stands in its place until then."""

    hint: str


class TextInput(TextCommandInput, tag_field="type", tag="text", kw_only=True):
    """A command that takes free text."""


#: What stands behind a command.
if TYPE_CHECKING:
    AvailableCommandInput = TextInput | Unknown
else:
    AvailableCommandInput = Annotated[TextInput, OPEN]


class AvailableCommand(Extensible, kw_only=True):
    """A command that the user may call."""

    name: str
    description: str
    input: Maybe[AvailableCommandInput] = UNSET


class AvailableCommandsUpdate(Extensible, kw_only=True):
    """All commands that there are now."""

    available_commands: Lenient[Items[AvailableCommand]]
