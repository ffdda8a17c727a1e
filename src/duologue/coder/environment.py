"""The environment of a command that a model wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from duologue.processes.environment import UNATTENDED, child_environment

# A model reads what is printed, so it has no colours.
FIXED = {**UNATTENDED, "NO_COLOR": "1"}


def command_environment(
    parent: Mapping[str, str] | None = None, *, names: Iterable[str] = (), values: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What a command may see: `child_environment`, told that nobody watches it."""
    return child_environment(parent, names=names, values={**FIXED, **(values or {})})
