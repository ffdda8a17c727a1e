"""A version of the protocol as a value; which one a connection speaks; what differs between two.

What is new in version 2 is an expression: ``added(V1, V2)``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

import msgspec

from duologue.protocol.method import Key, Method, Notification, Request, Side
from duologue.protocol.topics import Topics


class Version(msgspec.Struct, frozen=True, eq=False, dict=True):
    """All that a version consists of. Its table and its types are loaded when first asked for.

    `batches`: whether a message may be an array of messages.
    """

    number: int
    batches: bool

    @property
    def name(self) -> str:
        """The name of its package, such as ``v2``."""
        return f"v{self.number}"

    @cached_property
    def methods(self) -> Mapping[Key, Method]:
        """Every method by its key, unstable ones included."""
        methods: Mapping[Key, Method] = import_module(f"duologue.protocol.{self.name}.table").METHODS
        return methods

    @property
    def unstable(self) -> frozenset[Method]:
        """The methods that are not part of the stable specification."""
        return frozenset(method for method in self.methods.values() if not method.stable)

    @cached_property
    def types(self) -> Topics:
        """Every type by its name."""
        types: Topics = import_module(f"duologue.protocol.{self.name}").TYPES
        return types

    def request(self, receiver: Side, name: str) -> Request[Any, Any] | None:
        """The request of that wire name which a side answers."""
        method = self.methods.get(Key(receiver, name, True))
        return method if isinstance(method, Request) else None

    def notification(self, receiver: Side, name: str) -> Notification[Any] | None:
        """The notification of that wire name which a side hears."""
        method = self.methods.get(Key(receiver, name, False))
        return method if isinstance(method, Notification) else None

    def __repr__(self) -> str:
        return f"Version({self.number})"


V1 = Version(1, batches=False)
V2 = Version(2, batches=True)
SUPPORTED = (V1, V2)
BY_NUMBER: Mapping[int, Version] = {version.number: version for version in SUPPORTED}


def negotiate(proposed: int, supported: Collection[Version] = SUPPORTED) -> Version:
    """The version an agent answers with: the proposed one if it has it, else its own newest."""
    newest = max(supported, key=lambda version: version.number)
    return next((version for version in supported if version.number == proposed), newest)


def added(old: Version, new: Version) -> frozenset[Key]:
    """The methods that only the new version has."""
    return frozenset(new.methods.keys() - old.methods.keys())


def removed(old: Version, new: Version) -> frozenset[Key]:
    """The methods that only the old version has."""
    return added(new, old)


def changed(old: Version, new: Version) -> frozenset[Key]:
    """The methods that both versions have, with other types or behind another capability."""
    both = old.methods.keys() & new.methods.keys()
    return frozenset(key for key in both if old.methods[key] is not new.methods[key])
