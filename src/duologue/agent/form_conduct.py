"""What a form may not be used for: secrets, which belong to a page of their own, and links to click."""

from __future__ import annotations

import re
from collections.abc import Iterator

from duologue.protocol.common.elicitation_schema import ElicitationSchema

_SECRET = re.compile(
    r"pass(word|phrase|code)|\bsecret\b|(api|access|private|secret|signing|encryption) ?key"
    r"|(access|api|auth|bearer|refresh|security|session) ?token|credential|(credit|debit|bank) ?card|card ?number"
    r"|\b(cvc|cvv|iban|pin)\b",
    re.IGNORECASE,
)
_LINK = re.compile(r"\bhttps?://\S", re.IGNORECASE)


def secret_fields(schema: ElicitationSchema) -> list[str]:
    """The fields whose name or title says that they want a password, a key, a token or the means to pay."""
    fields = schema.properties or {}
    return [name for name, field in fields.items() if _SECRET.search(words(name, getattr(field, "title", None)))]


def has_links(message: str, schema: ElicitationSchema) -> bool:
    """Whether a form tells of addresses that a user may want to click on."""
    return any(_LINK.search(text) for text in (message, *_told(schema)))


def _told(schema: ElicitationSchema) -> Iterator[str]:
    for part in (schema, *(schema.properties or {}).values()):
        for member in ("title", "description"):
            text = getattr(part, member, None)
            if isinstance(text, str):
                yield text


def words(*texts: object) -> str:
    """Names of members as words: `apiKey`, `api_key` and `API key` read the same."""
    told = " ".join(text for text in texts if isinstance(text, str))
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", told))
