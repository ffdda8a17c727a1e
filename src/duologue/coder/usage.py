"""Adding up what a turn took."""

from __future__ import annotations

from duologue.coder.events import TurnUsage
from duologue.coder.models.base import Usage


class UsageSum:
    """The tokens of all steps of a turn. Nothing known is not the same as nothing used."""

    def __init__(self) -> None:
        self._steps: list[Usage] = []

    def add(self, usage: Usage) -> None:
        self._steps.append(usage)

    def total(self) -> TurnUsage | None:
        if not self._steps:
            return None
        return TurnUsage(
            **{name: sum(getattr(step, name) for step in self._steps) for name in TurnUsage.__struct_fields__}
        )
