"""Reports as files: JSON, JUnit XML, and one page of HTML that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from xml.sax.saxutils import quoteattr

from duologue.check.reports.report import Report, shown
from duologue.check.verdict import Status, Verdict


def as_json(report: Report) -> str:
    """An object with a list of all requirements, each with its status."""
    rows = [_as_object(verdict) for verdict in report.verdicts]
    whole = {"side": report.side, "command": report.command, "versions": report.versions, "rows": rows}
    return json.dumps(whole, indent=1) + "\n"


def _as_object(verdict: Verdict) -> dict[str, object]:
    row = verdict.row
    facts = {"id": row.id, "version": verdict.version, "level": row.level, "area": row.area, "page": row.page}
    problems = [{"problem": p.problem, "messages": [str(line) for line in p.lines]} for p in verdict.problems]
    reason = verdict.reason.value if verdict.reason is not None else None
    return {**facts, "text": row.text, "status": verdict.status.value, "reason": reason, "problems": problems}


def as_junit(report: Report) -> str:
    """A test suite for each version and a test case for each requirement; warnings are no failures there."""
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n']
    for version in report.versions:
        verdicts = [verdict for verdict in report.verdicts if verdict.version == version]
        numbers = (
            f'tests="{len(verdicts)}" failures="{len(report.of(Status.FAIL, version))}" '
            f'skipped="{len(report.of(Status.SKIPPED, version))}"'
        )
        parts.append(f" <testsuite name={quoteattr(f'ACP {report.side} version {version}')} {numbers}>\n")
        parts += [_as_case(verdict) for verdict in verdicts]
        parts.append(" </testsuite>\n")
    return "".join([*parts, "</testsuites>\n"])


def _as_case(verdict: Verdict) -> str:
    row = verdict.row
    head = f"  <testcase classname={quoteattr(f'{row.area}.v{verdict.version}')} name={quoteattr(row.id)}"
    details = _escaped("\n".join(shown(verdict)))
    match verdict.status:
        case Status.PASS:
            return f"{head}/>\n"
        case Status.FAIL:
            return f"{head}><failure message={quoteattr(row.text)}>{details}</failure></testcase>\n"
        case Status.WARN:
            return f"{head}><system-out>{_escaped(row.text)}\n{details}</system-out></testcase>\n"
    reason = verdict.reason.value if verdict.reason is not None else ""
    return f"{head}><skipped message={quoteattr(reason)}/></testcase>\n"


def _escaped(text: str) -> str:
    """Text for XML, which has no words for most control characters."""
    return escape("".join(c if c in "\n\t" or c >= " " else "\ufffd" for c in text), quote=False)


STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .3rem .6rem; vertical-align: top }
td:last-child { width: 50% }
tr { border-top: 1px solid #ddd }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; font-size: 12px }
.pass { color: #17803d } .fail { color: #c0182b; font-weight: 600 } .warn { color: #9a6700 } .skipped { color: #777 }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } tr { border-color: #333 } }
"""


def as_page(report: Report) -> str:
    """One page; failures first."""
    order = list(Status)
    order.sort(key=[Status.FAIL, Status.WARN, Status.PASS, Status.SKIPPED].index)
    numbers = ", ".join(
        f'<span class="{status.value}">{len(report.of(status))} {status.value}</span>' for status in order
    )
    rows = "".join(_as_row(verdict) for status in order for verdict in report.of(status))
    title = f"ACP {report.side}: {escape(report.command)}"
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    columns = "<tr><th>status<th>requirement<th>version<th>level<th>what was found</tr>"
    return f"{head}<h1>{title}</h1><p>{numbers}</p><table>{columns}{rows}</table></html>\n"


def _as_row(verdict: Verdict) -> str:
    row, status = verdict.row, verdict.status.value
    level = f"{row.level}{' (inferred)' if row.inferred else ''}"
    reason = escape(verdict.reason.value) if verdict.reason is not None else ""
    details = f"<pre>{escape(chr(10).join(shown(verdict)))}</pre>" if verdict.problems else reason
    text = f"<b>{row.id}</b><br>{escape(row.text)}"
    return f'<tr><td class="{status}">{status}<td>{text}<td>{verdict.version}<td>{level}<td>{details}</tr>'


#: By the end of the file's name.
FORMATS: Mapping[str, Callable[[Report], str]] = {".json": as_json, ".xml": as_junit, ".html": as_page}


def written(report: Report, suffix: str) -> str:
    """The contents of a file whose name ends so. Raises `KeyError` for an ending that is no format."""
    # JSON can have halves of characters, and what quotes it then has them too; no file takes them.
    return FORMATS[suffix](report).encode("utf-8", "backslashreplace").decode("utf-8")
