"""A report for a person at a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from duologue.check.reports.report import Report, shown
from duologue.check.verdict import Status, Verdict


def text(report: Report, *, verbose: bool = False) -> Iterator[str]:
    """The lines. What comes from the program under test is not made safe for a terminal here."""
    for status in (Status.FAIL, Status.WARN):
        for verdict in report.of(status):
            yield ""
            yield f"{status.value.upper()} {_head(verdict)}"
            yield from (f"  {line}" for line in shown(verdict))
    for version in report.versions:
        yield ""
        yield f"version {version}: {_numbers(report, version)}"
        yield from _skipped(report, version, verbose)


def _head(verdict: Verdict) -> str:
    row = verdict.row
    where = f"version {verdict.version}, {row.level}{', inferred' if row.inferred else ''}; {row.page}"
    return f"{row.id}: {row.text} ({where})"


def _numbers(report: Report, version: int) -> str:
    counts = [(len(report.of(status, version)), status.value) for status in Status]
    return ", ".join(f"{count} {name}" for count, name in counts if count)


def _skipped(report: Report, version: int, verbose: bool) -> Iterator[str]:
    skipped = report.of(Status.SKIPPED, version)
    for reason, count in Counter(v.reason for v in skipped if v.reason is not None).most_common():
        yield f"  {count:4} {'by hand: ' if reason.by_hand else ''}{reason.value}"
        if verbose:
            yield from (f"         {v.row.id}: {v.row.text}" for v in skipped if v.reason is reason)
