"""All that a report has to say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from duologue.check.verdict import Status, Verdict


@dataclass(frozen=True)
class Report:
    """A check that was made: of which side, of which command, in which versions, and what came of it."""

    side: str
    command: str
    versions: tuple[int, ...]
    verdicts: Sequence[Verdict]

    def of(self, status: Status, version: int | None = None) -> list[Verdict]:
        """The verdicts with a status, in one version or in all."""
        return [v for v in self.verdicts if v.status is status and version in (None, v.version)]

    @property
    def failed(self) -> bool:
        return bool(self.of(Status.FAIL))


_ITEM = re.compile(r"\[\d+\]")


def shown(verdict: Verdict) -> list[str]:
    """The problems of a verdict, each with the lines that show it, once each; that of many items of a list once."""
    lines: list[str] = []
    told: set[str] = set()
    for problem in verdict.problems:
        kind = _ITEM.sub("[]", problem.problem)
        if kind not in told:
            told.add(kind)
            lines += [problem.problem, *(f"  {line}" for line in dict.fromkeys(problem.lines))]
    return lines
