"""What a probe found besides its own requirement, in the version that is checked: the part that all benches share."""

from __future__ import annotations

from duologue.check.reason import Reason
from duologue.check.record import Said
from duologue.check.verdict import Finding


class Notebook:
    """The findings of one probe."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.findings: list[Finding] = []

    def row(self, v1: str, v2: str) -> str:
        """The id that a requirement has in this version."""
        return v1 if self.version == 1 else v2

    def note(self, row: str, problem: str = "", *said: Said, reason: Reason | None = None) -> None:
        """Report on a row besides the probe's own."""
        self.findings.append(Finding(row, problem, tuple(each.line for each in said), reason))
