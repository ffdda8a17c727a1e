"""Keys that cannot be printed by accident, and the removal of secrets from text that people will read."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit, urlunsplit

from duologue.local.masking import MASK, mask_text

# Shorter values are placeholders; masking them would only spoil the words around them.
SHORTEST_SECRET = 4


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
    """Mask the given keys, and whatever else looks like a secret (`mask_text`)."""
    return mask_text(without(text, secrets))


def without(text: str, secrets: Iterable[Secret]) -> str:
    """Mask the given keys, in any case of letters and in base64, also as a part of what was encoded."""
    for secret in secrets:
        if len(secret.reveal()) >= SHORTEST_SECRET:
            text = re.sub("|".join(_forms(secret.reveal())), MASK, text, flags=re.IGNORECASE)
    return text


def _forms(value: str) -> list[str]:
    """Patterns of the value, and of its base64 at each of the three places that it may begin at, without the ends that
    other characters share."""
    data = value.encode("utf-8", "surrogatepass")
    encoded = (base64.b64encode(bytes(before) + data) for before in range(3))
    inner = [code.rstrip(b"=")[skip:].decode() for code, skip in zip(encoded, (0, 2, 3), strict=True)]
    whole = [form if (len(data) + before) % 3 == 0 else form[:-1] for before, form in enumerate(inner)]
    coded = [form.replace("+", "[+-]").replace("/", "[/_]") for form in whole if len(form) >= SHORTEST_SECRET]
    return [re.escape(value), *coded]


def address_secrets(url: str) -> tuple[Secret, ...]:
    """What must not be read of the user and password that an address may hold: both, as a header sends them, and the
    password."""
    parts = urlsplit(url)
    if not parts.username and not parts.password:
        return ()
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return tuple(Secret(text) for text in (f"{user}:{password}", password) if text)


def public_address(url: str) -> str:
    """The address without user, password, query and fragment, which may all hold secrets."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
