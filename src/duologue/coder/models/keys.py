"""Keys that cannot be printed by accident, and the removal of secrets from text that people will read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit, urlunsplit

MASK = "***"
# Shorter values are placeholders; masking them would only spoil the words around them.
SHORTEST_SECRET = 4

_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key|ghp|glpat|AIza)[-_][A-Za-z0-9_\-*.]{6,}"
    r"|(?<=Bearer )[^\s\"',]+"
    r"|(?<=://)[^/@\s]+(?=@)"
)


class Secret:
    """A key. Its `repr` and `str` never show it; `reveal` gives it to the one place that sends it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))


def redact(text: str, secrets: Iterable[Secret] = ()) -> str:
    """Mask the given keys, and whatever else has the shape of a key, a bearer token or a password in an address."""
    for secret in secrets:
        if len(secret.reveal()) >= SHORTEST_SECRET:
            text = text.replace(secret.reveal(), MASK)
    return _SHAPES.sub(MASK, text)


def public_address(url: str) -> str:
    """The address without user, password, query and fragment, which may all hold secrets."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
