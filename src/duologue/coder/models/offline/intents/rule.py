"""How a rule of the grammar is written: a pattern for a whole clause, and the step its groups make."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from duologue.coder.models.offline.intents.phrase import MARK, Phrase
from duologue.coder.models.offline.intents.steps import Step
from duologue.coder.texts import counted

_NAMED = "Makefile|Dockerfile|LICENSE|README|CHANGELOG|NOTICE|Procfile|Justfile|Gemfile"

PIECES = {
    "PATH": rf"(?:{MARK}|(?:[\w.*-]*/)+[\w.*-]*|[\w*-]*\.[\w.*-]*\w|{_NAMED})",
    "WORD": rf"(?:{MARK}|[^\s,;]+)",
    "ANY": r"\S.*?",
    "THE": r"(?:(?:the|a|an|this|that|my|our|your|all|any|every|each|whole|full|entire|some|new|of)\s+)*",
    "TO": r"\s*(?:\s(?:to|into|as|with|by|for)\s|->|=>|→)\s*",
    "IN": r"\s+(?:in|inside|within|across|under|throughout|from|of)\s+",
    "+THE": r"(?:\s+(?:the|a|an|this|that|my|our|your|all|any|every|each|whole|full|entire|some|new|of))*",
    "+KIND": r"(?:\s+(?:function|method|class|variable|constant|identifier|name|symbol|attribute|field|parameter|"
    r"argument|module"
    r"|word|text|string|phrase|term|token|property|value|lines?|places?|usages?|uses?|mentions?|references?|calls?|"
    r"callers?|files?"
    r"|occurrences?|instances?|matches|everything|anything|code))*",
    "KIND": r"(?:(?:function|method|class|variable|constant|identifier|name|symbol|attribute|field|parameter|"
    r"argument|module"
    r"|word|text|string|phrase|term|token|property|value|occurrences?(?:\s+of)?|instances?(?:\s+of)?|"
    r"uses?(?:\s+of)?)\s+)*",
    "FILE": r"(?:(?:file|script|module|document|folder|directory|package|source)\s+)?",
    "PROJECT": r"(?:project|repo(?:sitory)?|code\s?base|code|program|package|app(?:lication)?|library|workspace|"
    r"folder|directory)",
    "EVERYWHERE": r"(?:\s+(?:everywhere|globally|throughout|(?:in|across|throughout|over|through)\s+"
    r"(?:all|every|the|this|my|"
    r"whole"
    r"|entire|of|our|\s)*(?:files?|project|repo(?:sitory)?|code\s?base|code|places?|workspace)))?",
}

Groups = dict[str, str | None]
_SOURCE = " source"


@dataclass(frozen=True)
class Rule:
    """A pattern is compiled when it is first needed: all of them together take a third of a second."""

    source: str
    make: Callable[[Groups], Step | None]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        source = self.source
        for name, piece in PIECES.items():
            source = source.replace("{" + name + "}", f"(?:{piece})")
        return re.compile(source.replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL)

    def match(self, phrase: Phrase) -> Step | None:
        found = self.pattern.fullmatch(phrase.text)
        if found is None:
            return None
        groups: Groups = {}
        for name, piece in found.groupdict().items():
            groups[name] = None if piece is None else phrase.plain(piece)
            groups[name + _SOURCE] = None if piece is None else phrase.source(piece)
        return self.make(groups)


def rule(pattern: str, make: Callable[[Groups], Step | None]) -> Rule:
    """A rule from a readable pattern: one space stands for any white space, and `{PATH}` and the like for a piece.

    Groups come unquoted; a quantifier's braces are not available.
    """
    return Rule(pattern, make)


def text(groups: Groups, name: str) -> str:
    """A group that the pattern always fills."""
    return groups[name] or ""


def source(groups: Groups, name: str) -> str:
    """A group as the person wrote it, with its quotes."""
    return groups.get(name + _SOURCE) or ""


def quoted(groups: Groups, name: str) -> bool:
    """True if all of a group was set in quotes, or follows `content:`."""
    return source(groups, name) != text(groups, name) or "\n" in text(groups, name)


def number(groups: Groups, name: str) -> int | None:
    value = groups.get(name)
    return counted(value) if value else None
