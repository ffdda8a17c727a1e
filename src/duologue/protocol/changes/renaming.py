"""Values that the two versions have alike, but for the name of one member."""

from __future__ import annotations

from typing import Any

from duologue.protocol.base import Unknown


def renamed(value: Any, made: type[Any], old: str, new: str, **changed: Any) -> Any:
    """The value as the other version's type, its member `old` under the name `new`, and other members `changed`."""
    members = {name: getattr(value, name) for name in value.__struct_fields__ if name != old}
    return made(**{**members, new: getattr(value, old), **changed})


def raw_renamed(value: Unknown, old: str, new: str) -> Unknown:
    """The same of a variant that neither version knows, by the names of the wire."""
    return Unknown({new if name == old else name: member for name, member in value.raw.items()})
