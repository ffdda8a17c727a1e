"""A sentence made ready for rules: quotes set aside, politeness dropped, small slips of the pen mended."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A quoted piece becomes one private-use character, so that no rule and no split can look inside it.
FIRST_MARK = 0xE000
MARK = "[\ue000-\uf8ff]"

_FENCE = re.compile(r"```[^\n`]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_QUOTES = re.compile(r"``(.+?)``|`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<![\w])'([^'\n]+)'(?![\w])|‘([^’\n]+)’")
_MARKS = re.compile(MARK)

_LEAD = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|so|now|well|and|also|then|next|first|finally|afterwards?|there|please|pls|plz|"
    r"kindly|just|"
    r"simply|quickly|duologue|agent|assistant|alright|right|great|thanks|cool|actually|maybe|perhaps)\b[\s,:!.]*"
    r"|if\s+(?:needed|necessary|possible|so|not|you\s+can|(?:they|it|one|any|some|tests?|there)\s+(?:are\s+|"
    r"is\s+)?(?:any\s+)?"
    r"(?:fail(?:s|ure|ures|ed|ing)?|broken|red))\b[\s,:]*"
    r"|(?:can|could|would|will|may)\s+(?:you|we|i)\s+(?:please\s+|kindly\s+|just\s+|maybe\s+|quickly\s+)*"
    r"|(?:i\s+(?:want|need|like)|i'?d\s+like|i\s+would\s+like|i'?d\s+love)\s+(?:you\s+)?(?:to\s+)?"
    r"|(?:let'?s|lets|let\s+us|go\s+ahead\s+and|try\s+to|help\s+me\s+(?:to\s+)?|you\s+(?:should|need\s+to|must))\s+)",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[\s,]*\b(?:please|pls|plz|thanks|thank\s+you|thx|for\s+me|if\s+you\s+can|and\s+why|now|right\s+now|ok|okay|again)\b|"
    r"\s*[!?;,]+|(?<![\s./])\.+|\s+)$",
    re.IGNORECASE,
)

VOCABULARY = frozenset(
    [
        "find",
        "search",
        "grep",
        "look",
        "locate",
        "where",
        "show",
        "open",
        "read",
        "print",
        "display",
        "list",
        "explain",
        "outline",
        "describe",
        "summarize",
        "summarise",
        "overview",
        "replace",
        "change",
        "rename",
        "create",
        "write",
        "make",
        "append",
        "insert",
        "remove",
        "delete",
        "execute",
        "test",
        "tests",
        "check",
        "repair",
        "failing",
        "failed",
        "broken",
        "lint",
        "linter",
        "undo",
        "revert",
        "project",
        "files",
        "file",
        "folder",
        "directory",
        "function",
        "class",
        "method",
        "variable",
        "everywhere",
        "occurrences",
        "with",
        "line",
        "called",
        "named",
        "containing",
        "content",
        "contents",
        "before",
        "after",
        "run",
    ]
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """`text` with marks in place of quoted pieces; `kept` has them without their quotes, `raw` with them."""

    text: str
    kept: tuple[str, ...]
    raw: tuple[str, ...]

    def plain(self, piece: str) -> str:
        """A piece of the text: unquoted if all of it was quoted, else as the person wrote it."""
        whole = piece.strip()
        if re.fullmatch(MARK, whole):
            return self.kept[ord(whole) - FIRST_MARK]
        return self.source(whole)

    def source(self, piece: str) -> str:
        """A piece of the text as the person wrote it."""
        return _MARKS.sub(lambda mark: self.raw[ord(mark[0]) - FIRST_MARK], piece.strip())

    def part(self, text: str) -> Phrase:
        return Phrase(text, self.kept, self.raw)


def phrase_of(text: str) -> Phrase:
    """Set quoted and fenced pieces aside."""
    kept: list[str] = []
    raw: list[str] = []

    def keep(match: re.Match[str]) -> str:
        raw.append(match[0])
        kept.append(next(group for group in match.groups() if group is not None))
        return chr(FIRST_MARK + len(kept) - 1)

    clean = _MARKS.sub("", text)
    return Phrase(_QUOTES.sub(keep, _FENCE.sub(keep, clean)).strip(), tuple(kept), tuple(raw))


def polite(phrase: Phrase) -> Phrase:
    """Drop what carries no meaning at both ends."""
    text, before = phrase.text, ""
    while text != before:
        before = text
        shorter = _LEAD.sub("", text, count=1)
        text = shorter if shorter.strip() else text
        shorter = _TAIL.sub("", text, count=1)
        text = (shorter if shorter.strip() else text).strip()
    return phrase.part(text)


def mended(phrase: Phrase) -> Phrase:
    """Correct the spelling of words that rules look for, when they are one slip away from it."""
    return phrase.part(re.sub(r"(?<![\w./*\\-])[A-Za-z]{3,}(?![\w./*\\(-])", _mend, phrase.text))


def _mend(match: re.Match[str]) -> str:
    word = match[0].lower()
    if word in VOCABULARY:
        return match[0]
    near = sorted(known for known in VOCABULARY if known[0] == word[0] and one_slip(word, known))
    return near[0] if near else match[0]


def one_slip(a: str, b: str) -> bool:
    """True if one letter was dropped, added, changed, or swapped with its neighbour."""
    if a == b or abs(len(a) - len(b)) > 1 or max(len(a), len(b)) < 4:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    x, y = a[start:], b[start:]
    if len(x) == len(y):
        return x[1:] == y[1:] or (len(x) > 1 and x[0] == y[1] and x[1] == y[0] and x[2:] == y[2:])
    return x[1:] == y if len(x) > len(y) else y[1:] == x
