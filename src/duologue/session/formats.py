"""Texts with a form that the schema names: addresses, days and points of time."""

from __future__ import annotations

import re
from datetime import date, datetime
from urllib.parse import urlsplit

from duologue.late import late_pattern

_DATE = late_pattern(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE_TIME = late_pattern(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)


def is_uri(value: str) -> bool:
    """Whether a text is an absolute address by RFC 3986, all that is not ASCII escaped."""
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    printable = value.isascii() and value.isprintable() and not set(' "<>\\^`{|}') & set(value)
    return printable and bool(parts.scheme) and len(value) > len(parts.scheme) + 1


def is_date(value: str) -> bool:
    """Whether a text is a day as in RFC 3339."""
    return _DATE.fullmatch(value) is not None and _reads(date, value)


def is_date_time(value: str) -> bool:
    """Whether a text is a point of time as in RFC 3339."""
    # A second of 60 is a leap second, which the standard library does not know.
    usual = re.sub(r"(?<=:\d\d):60", ":59", value).upper()
    return _DATE_TIME.fullmatch(value) is not None and _reads(datetime, usual)


def _reads(kind: type[date], value: str) -> bool:
    try:
        kind.fromisoformat(value)
    except ValueError:
        return False
    return True
