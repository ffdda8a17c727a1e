"""Pages that an agent sends its user to."""

from __future__ import annotations

from urllib.parse import urlsplit


def url_doubts(url: str) -> list[str]:
    """What to warn a user of before a page is opened, in words; nothing for a plain one. Nothing is fetched.

    Show the whole URL and its host beside them, and open no URL that has no host.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ["it is no URL"]
    doubts = {
        "it names no host": not host,
        "it is not encrypted (no https)": parts.scheme != "https",
        "it holds a user name, which can be taken for the host": parts.username is not None,
        "its host has letters that look like others": not host.isascii() or "xn--" in host,
        "it holds characters that do not show": not url.isprintable(),
    }
    return [words for words, holds in doubts.items() if holds]
