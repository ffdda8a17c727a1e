"""The limits of the offline model, by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Times are seconds."""

    #: Turns that are kept while they wait for results; an older one is rebuilt from its history.
    remembered_turns: int = 64
    #: The longest run of a project's tests.
    test_seconds: float = 300
    #: Time to look for a repair, after the first run of the tests.
    repair_seconds: float = 60
    #: A single test that takes longer than this counts as failing while a repair is looked for.
    hanging_seconds: float = 10
    #: The largest project of which a scratch copy is made.
    copied_bytes: int = 300_000_000
