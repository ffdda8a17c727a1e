"""Commands: their input has a type in v2 and none in v1, which knows text alone."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.changes.memory import SessionMemory
from duologue.protocol.v1 import commands as v1
from duologue.protocol.v1.updates import AvailableCommandsUpdateEvent as UpdateV1
from duologue.protocol.v1.updates import SessionNotification
from duologue.protocol.v2 import commands as v2
from duologue.protocol.v2.updates import AvailableCommandsUpdateEvent as UpdateV2
from duologue.protocol.v2.updates import UpdateSessionNotification


def commands_down(session: SessionMemory, note: UpdateSessionNotification) -> SessionNotification:
    update: Any = note.update
    commands = [_command_down(command) for command in update.available_commands]
    change = UpdateV1(available_commands=commands, meta=update.meta)
    return SessionNotification(session_id=note.session_id, update=change, meta=note.meta)


def commands_up(session: SessionMemory, note: SessionNotification) -> UpdateSessionNotification:
    update: Any = note.update
    commands = [_command_up(command) for command in update.available_commands]
    change = UpdateV2(available_commands=commands, meta=update.meta)
    return UpdateSessionNotification(session_id=note.session_id, update=change, meta=note.meta)


def _command_down(command: v2.AvailableCommand) -> v1.AvailableCommand:
    known: Any = command.input
    if isinstance(known, v2.TextInput):
        known = v1.UnstructuredCommandInput(hint=known.hint, meta=known.meta)
    elif isinstance(known, Unknown):
        known = UNSET
    return v1.AvailableCommand(name=command.name, description=command.description, input=known, meta=command.meta)


def _command_up(command: v1.AvailableCommand) -> v2.AvailableCommand:
    known: Any = command.input
    if isinstance(known, v1.UnstructuredCommandInput):
        known = v2.TextInput(hint=known.hint, meta=known.meta)
    return v2.AvailableCommand(name=command.name, description=command.description, input=known, meta=command.meta)
