"""The environment of a command that a model wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from duologue.processes.environment import child_environment

# No pager, editor or question may wait for a person who is not there.
FIXED = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "NO_COLOR": "1"}


def command_environment(
    parent: Mapping[str, str] | None = None, *, names: Iterable[str] = (), values: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What a command may see: `child_environment`, told that nobody watches it."""
    return child_environment(parent, names=names, values={**FIXED, **(values or {})})
