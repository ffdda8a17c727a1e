"""Where each type is written down, so that a name can be found without loading what is not asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

#: Topic -> the names that its module defines, separated by white space.
Listing = Mapping[str, str]


class Topics:
    """The types of one version by name: those of its own topics, and the common ones."""

    def __init__(self, **rooms: Listing) -> None:
        self._homes = {
            name: f"duologue.protocol.{room}.{topic}"
            for room, listing in rooms.items()
            for topic, names in listing.items()
            for name in names.split()
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def home(self, name: str) -> str:
        """The module that defines a name. Raises `KeyError`."""
        return self._homes[name]

    def find(self, name: str) -> Any:
        """The type itself; loads its topic. Raises `KeyError`."""
        return getattr(import_module(self._homes[name]), name)
