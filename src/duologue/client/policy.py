"""Who may do what: rules in order, the first that speaks decides, and what is not a clear yes is none.

```
rule       =  ( "allow" | "reject" | "ask" ) " " condition
condition  =  a rule of duologue.local.rules: edit:GLOB  delete:GLOB  run:WORDS  use:NAME
           |  kind:KIND    the kind of the tool call
           |  title:GLOB   its title, in any case; `*` and `?` are wildcards
```

A rule that allows must cover all of what is asked, and only when it is certain what that is; one that rejects or asks,
any part. Where a rule that rejects may be meant without being certain, it is asked. A kind and a title are the agent's
own words: titles allow nothing, and of the kinds only those that change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, get_args

from duologue.client.subjects import Matter
from duologue.local.rules import KINDS, REJECTING, Effect, Rule, Run, Subject, Write, parse_rule
from duologue.protocol.common.tools import ToolKind

Answer = Literal["allow", "reject", "ask"]

#: Kinds of call that an agent may be trusted to name rightly, since nothing is changed by them.
HARMLESS_KINDS = frozenset((ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK))

#: From the mildest to the strictest.
_STRICTNESS: tuple[Answer, ...] = ("allow", "ask", "reject")


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy says, and the rule that said it; None when no rule did."""

    answer: Answer
    rule: str | None = None


class Policy:
    """Rules for permission requests and for what the client itself does for an agent: `Policy("allow edit:src/**")`.

    What no rule speaks about is answered with `otherwise`. Raises `ValueError` for a rule that means nothing, and
    `TypeError` for what is no text.
    """

    def __init__(self, *rules: str, otherwise: Answer = "ask") -> None:
        if otherwise not in get_args(Answer):
            raise ValueError(f"otherwise is one of {', '.join(get_args(Answer))}, not {otherwise!r}")
        self.rules = tuple(rules)
        self.otherwise: Answer = otherwise
        self._parsed = [_parse(text) for text in rules]

    def decide(self, matter: Matter, project: Path) -> Decision:
        """The strictest answer to all that a request is about; paths of rules are relative to `project`."""
        decisions = [self._about(matter, subject, project) for subject in matter.subjects or (None,)]
        return max(decisions, key=lambda decision: _STRICTNESS.index(decision.answer))

    def about(self, subject: Subject, project: Path) -> Decision:
        """The answer to one action that is known for certain."""
        kind = {Run: ToolKind.EXECUTE, Write: ToolKind.EDIT}.get(type(subject))
        return self.decide(Matter((subject,), certain=True, kind=kind), project)

    def _about(self, matter: Matter, subject: Subject | None, project: Path) -> Decision:
        for rule in self._parsed:
            answer = rule.answer_to(matter, subject, project)
            if answer is not None:
                return Decision(answer, rule.text)
        return Decision(self.otherwise)


@dataclass(frozen=True, slots=True)
class _Ordered:
    """One rule of a policy."""

    text: str
    answer: Answer
    condition: Rule | ToolKind | str

    def answer_to(self, matter: Matter, subject: Subject | None, project: Path) -> Answer | None:
        """The answer, None when the rule does not speak about this."""
        match self.condition:
            case Rule() as rule:
                return self._by_rule(rule, matter, subject, project)
            case ToolKind() as kind:
                return self.answer if kind == matter.kind and self._may_go_by_kind(matter) else None
            case glob:
                said = any(fnmatchcase(title.casefold(), glob.casefold()) for title in matter.titles)
                return self.answer if said else None

    def _by_rule(self, rule: Rule, matter: Matter, subject: Subject | None, project: Path) -> Answer | None:
        if subject is not None and rule.covers(subject, project):
            return self.answer if self.answer != "allow" or matter.certain else None
        doubtful = not matter.certain or (subject is not None and rule.may_cover(subject, project))
        return "ask" if self.answer != "allow" and doubtful else None

    def _may_go_by_kind(self, matter: Matter) -> bool:
        """A call of a harmless kind that names a command or a change is no harmless one."""
        return self.answer != "allow" or not any(isinstance(subject, Run | Write) for subject in matter.subjects)


def _parse(text: str) -> _Ordered:
    if not isinstance(text, str):
        raise TypeError(f"a rule is a text, not {type(text).__name__}; the rules of a list are Policy(*rules)")
    word, _, condition = text.strip().partition(" ")
    word = "reject" if word in REJECTING else word
    for answer in _STRICTNESS:
        if word == answer:
            return _Ordered(text, answer, _condition(answer, condition.strip(), text))
    raise ValueError(f"{text!r}: a rule begins with {', '.join(_STRICTNESS)}, such as 'allow edit:src/**'")


def _condition(answer: Answer, condition: str, text: str) -> Rule | ToolKind | str:
    name, _, rest = condition.partition(":")
    if name == "kind":
        if answer == "allow" and rest not in HARMLESS_KINDS:
            raise ValueError(f"{text!r}: a kind is the agent's word; allow what changes things by edit: and run: rules")
        if rest not in {kind.value for kind in ToolKind}:
            raise ValueError(f"{text!r}: there is no kind {rest!r}")
        return ToolKind(rest)
    if name == "title":
        if answer == "allow":
            raise ValueError(f"{text!r}: a title is the agent's word; it can be rejected or asked about, not allowed")
        return rest
    if name not in KINDS and condition.split(" ")[0] not in REJECTING:
        raise ValueError(f"{text!r}: what follows is KIND:PATTERN; KIND is {', '.join(KINDS)}, kind or title")
    rule = parse_rule(condition)
    if rule.effect == "reject":
        raise ValueError(f"{text!r}: a rule says once what it answers, such as 'reject run:git push *'")
    # What is asked about is covered as widely as what is rejected.
    effect: Effect = "allow" if answer == "allow" else "reject"
    return Rule(effect, rule.kind, rule.pattern)
