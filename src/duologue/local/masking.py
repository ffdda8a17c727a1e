"""Secrets kept out of what is written down: found by the name of what holds them, and by the shape of a text.

A name counts by how it ends, as `OPENAI_API_KEY`, `--auth-token` and `clientSecrets` do. Numbers of tokens are no
secrets, so `inputTokens` and `--max-tokens 500` stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from duologue.late import late_pattern

MASK = "***"

#: Characters behind a cut that are looked at too, so that a secret which is cut in two is still known.
MARGIN = 4096

#: Not in the middle of a word; in JSON that was not read an escape may stand before it.
_START = r"(?:(?<!\w)|(?<=\\[nrt]))"

#: Texts that are keys, signed tokens, bearer tokens, or passwords in an address. Names in programs look like some of
#: them, but hold no digit. What many of them begin with stands once, since it is looked for at each character.
_SHAPES = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*-----|\Z)"
    rf"|{_START}(?:"
    r"(?:sk|gsk|xai|glpat|xox[a-z]|xapp)-[A-Za-z0-9_\-*.]{6,}"
    r"|(?:sk|pk|rk|gsk|xai|key|gh[a-z]|github_pat|glpat|hf|npm)[-_]"
    r"(?=[A-Za-z_\-.]{0,80}[0-9*])[A-Za-z0-9_\-*.]{6,}"
    r"|pypi-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_-]{10,}|A(?:KI|SI)A[A-Z0-9]{12,}"
    r"|(?<!-)eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*)"
    r"|(?<=[ /])(?:"
    r"(?<=Bearer )[^\s\"',]+"
    r"|(?<=bearer )(?=[^\s\"',\d]*\d)[^\s\"',]{8,}"
    r"|(?<=Basic )(?=\S*(?:[0-9=]|[a-z][A-Z]))[A-Za-z0-9+/=_-]{6,}"
    r"|(?<=://)[^/@\s]+(?=@))"
)

#: How the name of a secret ends, in words; what stands between them, and case, do not count.
_WORDS = (
    *("api key", "access key", "private key", "secret key", "signing key", "encryption key", "account key"),
    *("token", "authorization", "password", "passwd", "passphrase", "secret", "credential", "cookie"),
)
_ENDS = tuple(words.replace(" ", "") for words in _WORDS)
_PLURAL_ENDS = tuple(f"{end}s" for end in _ENDS)

#: Members of which everything inside is a secret: of an object each value, of a list each `value`.
_HOLDERS = ("env", "environment", "headers", "vars")

#: Members that name what stands under `value` beside them.
_NAMING = ("name", "key", "configId")

_NOT_LETTERS = late_pattern(r"[^a-z]")
_OPTION = late_pattern(r"--?\w[\w-]*")

_NAME = "(?:" + "|".join(words.replace(" ", "[-_]?") for words in _WORDS) + ")"
#: What stands behind a name: something in quotes, or all up to the next space. A number behind a plural is a count.
_VALUE = r"(?!(?:None|True|False|null|true|false)\b)(?:\"(?:[^\"\\]|\\.)*\"?|'[^']*'?|[^\s\"'&,;()]+)"
_PLURAL = r"(?:s(?![=\s]+\d+(?![^\s,;])))?"

_TEXTS = (
    # A part of an address.
    rf"([?&][\w.-]*(?:{_NAME}|key|sig|signature)=)[^&#\s\"']+",
    # An option of a command.
    rf"((?<![\w-])--?(?:\w[\w-]*)?{_NAME}{_PLURAL}(?:=|[ \t]+(?!-))){_VALUE}",
    # One that may mean something else: then it counts that the value looks like a key, and not like a file.
    r"((?<![\w-])--?(?:\w[\w-]*-)?(?:auth|key|pass|pwd)(?:=|[ \t]+))"
    r"(?=[\"']?[\w+=-]*\d)(?=[\"']?[\w+=-]*[a-z])[\"']?[a-z0-9][\w+=-]{7,}(?![\w./])",
    # A variable before a command or in a file of them, and the same in small letters.
    rf"((?<![\w$.-])(?=\w+=)(?-i:\w*(?:_KEY(?==)|(?:API|ACCESS|PRIVATE|SECRET|SIGNING|ENCRYPTION|ACCOUNT)_?KEY"
    rf"|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)){_PLURAL}=){_VALUE}",
    r"((?<![\w$.-])(?=\w+=)\w*(?:api_?key|access_?token|auth_?token|client_?secret|password|passwd|passphrase)=)"
    rf"{_VALUE}",
    # A header of a request.
    r"((?<![\w-])(?:(?:proxy-)?authorization|(?:set-)?cookie|api-key|\w[\w-]*-(?:api-key|token))[\"']?:\s+)"
    r"(?=\S{4})(?!(?:Bearer|Basic) )[^\"'\n,]+",
    # A member of an object.
    rf"([\"'][\w.-]*{_NAME}s?[\"']\s*:\s*)(?:\"(?:[^\"\\]|\\.)*|'[^']*)",
)

#: The same in a text that is no JSON, though it began as such: whatever its value is, and members that need others to
#: be judged.
_INSIDE = r"(?:\"(?:[^\"\\]|\\.)*|\[[^\]]*|\{[^}]*)"
_BROKEN = (
    rf"(\"(?:value|[\w.-]*key|[\w.-]*{_NAME}s?|{'|'.join(_HOLDERS)})\"\s*:\s*){_INSIDE}"
    rf"|(\"[\w.-]*{_NAME}\"\s*:\s*)-?\d[\d.eE+-]*"
)


@cache
def _texts() -> tuple[re.Pattern[str], ...]:
    # Late: a program that has nothing to mask must not wait for these at its start.
    return (re.compile(_SHAPES), *(re.compile(pattern, re.IGNORECASE) for pattern in _TEXTS))


@cache
def _broken() -> re.Pattern[str]:
    return re.compile(_BROKEN, re.IGNORECASE)


@cache
def _hints() -> re.Pattern[str]:
    return re.compile(rf"{_NAME}|bearer|basic|://", re.IGNORECASE)


def unfinished(text: str) -> int:
    """Where in a text that goes on a secret may have begun whose end is still to come; its length when nowhere.

    That is a private key without its end, and a last line that names a secret: what follows on it may be one.
    """
    start = len(text)
    key = text.rfind("-----BEGIN")
    if key >= 0 and "-----END" not in text[key:]:
        start = key
    line = text.rfind("\n") + 1
    return min(start, line) if _hints().search(text, line) else start


def mask_text(text: str) -> str:
    """The text without what has the shape of a secret, or stands behind a name of one."""
    shapes, *named = _texts()
    text = shapes.sub(MASK, text)
    for pattern in named:
        text = pattern.sub(_behind_name, text)
    return text


def mask_broken(text: str) -> str:
    """The same for JSON that cannot be read, as far as that can be told."""
    return mask_text(_broken().sub(_behind_name, text))


def mask(value: Any, most: int, name: str = "") -> Any:
    """A JSON value without secrets, each of its strings cut to `most` characters. `name` is the member that holds it.

    Masked is what stands under a name such as `apiKey` or `Authorization`, or behind it in a list of arguments, every
    value of `env` and `headers`, and what `mask_text` finds.
    """
    plain = _NOT_LETTERS.sub("", name.lower())
    if plain in _HOLDERS:
        return _hidden(value, most)
    if plain.endswith("tokens"):
        return _texts_hidden(value)
    if _is_secret(plain):
        return value if value is None or isinstance(value, bool) else MASK
    match value:
        case str():
            return _cut(value, most)
        case Mapping():
            return _members(value, most)
        case list():
            return _items(value, most)
        case _:
            return value


def _is_secret(plain: str) -> bool:
    return plain.endswith((*_ENDS, *_PLURAL_ENDS)) and plain != "progresstoken"


def _cut(text: str, most: int) -> str:
    # Cut twice: masking costs time for each character.
    short = mask_text(text[: most + MARGIN])[:most]
    return short if len(text) <= most else f"{short} … {len(text) - most} more characters"


def _members(value: Mapping[str, Any], most: int) -> dict[str, Any]:
    """An object. Its `value` counts by the name that stands beside it, when that is one of a secret."""
    named = next((found for key in _NAMING if isinstance(found := value.get(key), str)), "")
    if not _is_secret(_NOT_LETTERS.sub("", named.lower())):
        named = "value"
    return {key: mask(item, most, named if key == "value" else key) for key, item in value.items()}


def _items(value: Sequence[Any], most: int) -> list[Any]:
    """A list, which may be one of arguments: what follows an option counts by the option's name."""
    shown, name = [], ""
    for item in value:
        known = bool(name) and isinstance(item, str) and mask_text(f"{name} {item[:MARGIN]}") == f"{name} {MASK}"
        shown.append(MASK if known else mask(item, most, name))
        name = item if isinstance(item, str) and _OPTION.fullmatch(item) else ""
    return shown


def _texts_hidden(value: Any) -> Any:
    """Tokens: the texts among them are secrets, the numbers say how many there are."""
    match value:
        case str():
            return value if value.isdigit() else MASK
        case Mapping():
            return {key: _texts_hidden(item) for key, item in value.items()}
        case list():
            return [_texts_hidden(item) for item in value]
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


def _behind_name(found: re.Match[str]) -> str:
    """The name, and a mask for what stands behind it, in the quotes that it began with."""
    name = next(group for group in found.groups() if group is not None)
    quote = found[0][len(name)] if found[0][len(name)] in "\"'" else ""
    closed = quote and len(found[0]) > len(name) + 1 and found[0].endswith(quote)
    return f"{name}{quote}{MASK}{quote if closed else ''}"
