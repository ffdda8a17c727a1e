"""Secrets kept out of what is written down: found by the name of a member, and by the shape of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "***"

#: Texts that are keys, bearer tokens, or passwords in an address.
SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key|ghp|glpat|AIza)[-_][A-Za-z0-9_\-*.]{6,}"
    r"|(?<=Bearer )[^\s\"',]+"
    r"|(?<=Basic )(?=\S*(?:[0-9=]|[a-z][A-Z]))[A-Za-z0-9+/=_-]{6,}"
    r"|(?<=://)[^/@\s]+(?=@)"
)
_QUERY = re.compile(r"([?&][\w.-]*(?:token|key|secret|password|sig|signature)=)[^&#\s\"']+", re.IGNORECASE)

#: Members in a text that is no JSON, though it began as such.
_MEMBERS = re.compile(
    r"(\"(?:value|[\w.-]*(?:key|token|authorization|password|passphrase|secret|credentials?|cookie))\"\s*:\s*\")"
    r"(?:[^\"\\]|\\.)*",
    re.IGNORECASE,
)

#: How the name of a member ends that holds a secret; case and what stands between the words do not count.
SECRET_NAMES = (
    *("apikey", "accesskey", "privatekey", "token", "authorization", "password", "passwd", "passphrase"),
    *("secret", "secrets", "credential", "credentials", "cookie"),
)
#: Of these members everything inside is one: of the first each value, of the others each `value` of a list.
_HOLDERS = frozenset(("env", "environment", "headers", "vars"))
_NOT_LETTERS = re.compile(r"[^a-z]")


def mask_text(text: str) -> str:
    """The text without what has the shape of a secret."""
    return _QUERY.sub(rf"\1{MASK}", SHAPES.sub(MASK, text))


def mask_broken(text: str) -> str:
    """The same for JSON that cannot be read: what stands behind a name of a secret, as far as that can be told."""
    return _MEMBERS.sub(rf"\1{MASK}", text)


def mask(value: Any, most: int, name: str = "") -> Any:
    """A JSON value without secrets, each of its strings cut to `most` characters. `name` is the member that holds it.

    Masked is what stands under a name such as `apiKey` or `Authorization`, every value of `env` and `headers`, and
    what has the shape of a key.
    """
    plain = _NOT_LETTERS.sub("", name.lower())
    if plain in _HOLDERS:
        return _hidden(value, most)
    if plain.endswith(SECRET_NAMES) and plain != "progresstoken":
        return value if value is None or isinstance(value, bool) else MASK
    match value:
        case str():
            # Cut first: masking costs time for each character.
            short = mask_text(value[:most])
            return short if len(value) <= most else f"{short} … {len(value) - most} more characters"
        case Mapping():
            return {key: mask(item, most, key) for key, item in value.items()}
        case list():
            return [mask(item, most) for item in value]
        case _:
            return value


def _hidden(value: Any, most: int) -> Any:
    """Variables or headers: their names stay."""
    match value:
        case Mapping():
            return dict.fromkeys(value, MASK)
        case list():
            return [
                {key: MASK if key == "value" else mask(part, most, key) for key, part in item.items()}
                if isinstance(item, Mapping)
                else MASK
                for item in value
            ]
        case None:
            return None
        case _:
            return MASK
