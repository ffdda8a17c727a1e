"""What a check found, as text for a terminal and as files for machines and browsers."""

from duologue.check.reports.files import FORMATS, written
from duologue.check.reports.report import Report
from duologue.check.reports.text import text

__all__ = ["FORMATS", "Report", "text", "written"]
