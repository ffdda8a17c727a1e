"""The servers that a client names for a session, and what may be told of them.

Values of variables and headers are secrets: they are in no `repr`, and `masked` takes them out of any text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlsplit

from duologue.local.masking import MASK, mask, mask_text

if TYPE_CHECKING:
    from duologue.mcp import McpChannel

Pairs: TypeAlias = tuple[tuple[str, str], ...]

#: A value that is shorter may be any word of a text: it is taken out where it stands alone.
SHORT = 4

#: Characters of one argument of a command that are told.
SHOWN_ARGUMENT = 400


@dataclass(frozen=True)
class Stdio:
    """A program that speaks over its standard input and output."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Pairs = field(default=(), repr=False)


@dataclass(frozen=True)
class Http:
    """An endpoint for streamable HTTP."""

    name: str
    url: str = field(repr=False)
    headers: Pairs = field(default=(), repr=False)


@dataclass(frozen=True)
class Sse(Http):
    """An endpoint for the older transport with server-sent events."""


@dataclass(frozen=True)
class Lent:
    """A server of the client itself; `connect` opens a channel to it."""

    name: str
    id: str
    connect: Callable[[], Awaitable[McpChannel]] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Unusable:
    """An entry that names no server that can be reached, and why, in words."""

    name: str
    why: str


Entry: TypeAlias = Stdio | Http | Lent | Unusable


def split(url: str) -> SplitResult | None:
    """The parts of a URL; None when it is none."""
    try:
        return urlsplit(url)
    except ValueError:
        return None


def identity(entry: Entry) -> str:
    """What tells two entries of one name apart, whatever their order."""
    match entry:
        case Stdio(command=command, args=args):
            return shlex.join((command, *args))
        case Http(url=url):
            return url
        case Lent(id=id):
            return id
    return ""


def told(entry: Entry) -> str:
    """How a person knows the server: its command, or its address, without secrets."""
    match entry:
        case Stdio(command=command, args=args):
            return masked(entry, f"command: `{shlex.join((command, *mask(list(args), SHOWN_ARGUMENT)))}`")
        case Http(url=url):
            return masked(entry, f"address: {_without_query(url)}")
    return ""


def masked(entry: Entry, text: str) -> str:
    """A text without the values of the entry's variables and headers, and without what looks like a key."""
    for secret in sorted(set(_secrets(entry)), key=len, reverse=True):
        if len(secret) >= SHORT:
            text = text.replace(secret, MASK)
        else:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
    return mask_text(text)


def _secrets(entry: Entry) -> Iterable[str]:
    match entry:
        case Stdio(env=pairs) | Http(headers=pairs):
            for _, value in pairs:
                yield from (part for part in (value, value.strip(), *value.split()) if part.strip())
    if isinstance(entry, Http) and (parts := split(entry.url)):
        values = (value for _, value in parse_qsl(parts.query))
        yield from (part for part in (parts.query, parts.password, parts.username, *values) if part)


def _without_query(url: str) -> str:
    parts = split(url)
    if parts is None:
        return "not a URL"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"
