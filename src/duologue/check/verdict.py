"""What the check found about a requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from duologue.check.reason import Reason
from duologue.check.record import Line
from duologue.check.row import Row


class Status(Enum):
    """How a program stands to a requirement."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Finding:
    """Something that one probe or watcher saw: `problem` says what was wrong, `reason` why nothing could be seen.

    With neither the requirement was kept.
    """

    row: str
    problem: str = ""
    lines: tuple[Line, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True)
class Verdict:
    """The sum of all findings about a requirement in one version."""

    row: Row
    version: int
    status: Status
    problems: tuple[Finding, ...] = ()
    reason: Reason | None = None


def judge(row: Row, version: int, findings: Sequence[Finding], unjudged: Reason | None) -> Verdict:
    """One problem is enough to fail, one sound observation to pass; what was not seen at all is skipped."""
    problems = tuple(finding for finding in findings if finding.problem)
    if problems:
        return Verdict(row, version, Status.FAIL if row.binding else Status.WARN, problems)
    if any(finding.reason is None for finding in findings):
        return Verdict(row, version, Status.PASS)
    reasons = [finding.reason for finding in findings if finding.reason is not None]
    return Verdict(row, version, Status.SKIPPED, reason=unjudged or (reasons[0] if reasons else Reason.NOT_OBSERVED))
