"""One request, several steps: where a sentence divides, and what "it" means."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterator, Sequence

from duologue.coder.models.offline.intents import changing, looking, running
from duologue.coder.models.offline.intents.calling import plain_call
from duologue.coder.models.offline.intents.phrase import FIRST_MARK, MARK, Phrase, mended, phrase_of, polite
from duologue.coder.models.offline.intents.rule import Rule
from duologue.coder.models.offline.intents.steps import (
    Assign,
    Create,
    Declined,
    Delete,
    Explain,
    Find,
    FindFiles,
    Insert,
    Lint,
    MoveFile,
    Rename,
    Repair,
    Replace,
    Run,
    Show,
    Step,
    Test,
    Unknown,
)

_VERBS = (
    "find|search|grep|look|locate|where|show|open|read|print|display|list|explain|outline|describe|summari[sz]e|"
    "replace|change|"
    "rename|move|create|write|make|append|prepend|insert|add|put|remove|delete|run|rerun|re-run|execute|test|check|"
    "fix|repair|"
    "lint|undo|revert|tell|if|report|see|do|call|substitute|swap|debug|which|what|save|touch|verify|please|also|"
    "finally|get|git|set|use|identify|update|turn|rm|mv|discard|roll|lower|raise|again"
)
_DIVIDE = re.compile(
    rf"\s*(?:[.;!?]+\s+|[.;!?]*\s*\n+\s*(?:[-*•]|\d+[.)])?\s*|,?\s+(?:and|&)\s+(?:then\s+|afterwards?\s+|"
    rf"after\s+that,?\s+|finally\s+|also\s+)?|,?\s*\bthen\s+"
    rf"|,?\s+(?:after\s+that|afterwards?),?\s+|,\s+|,?\s+and\s+(?={MARK}))(?=(?:{_VERBS})\b)",
    re.IGNORECASE,
)
# A repair does nothing when there is nothing to repair, so the condition can go.
_CONDITION = re.compile(r"(?:if|when|in case)\s[^,]*", re.IGNORECASE)
# What stands after these is a step of its own, also when no rule knows it.
_THEN = re.compile(r",?\s+(?:and\s+)?then\s+(?!(?:run|the)?\s*$)", re.IGNORECASE)
_IF = re.compile(
    r"(?:(?:and|but|then)\s+)?(?:if|when|unless|in\s+case)\s(?!(?:possible|needed|necessary|you\s+can|so)\b)",
    re.IGNORECASE,
)
_LINT_AND_FIX = re.compile(
    r"(?:(?:run|use)\s+)?(?:the\s+)?(?:lint(?:er)?|ruff|flake8)(?:\s+(?:the\s+|this\s+|my\s+)?(?:project|code|files|it|all|"
    r"everything))?(?:,?\s+and(?:\s+then)?|,?\s+then|,)\s+(?:fix|repair|mend|correct|resolve)(?:\s+(?:it|them|all|what\s+it\s+"
    r"(?:finds|reports|says)|(?:the\s+|all\s+|its\s+)*(?:problems?|errors?|findings?|issues?|warnings?|rest)))?",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_OPEN_TEXT = re.compile(
    r"^(?:.*\b)?(?:create|write|make|append|add|insert|save|put|generate)\b.*?\b(?:contents?|text|containing|saying|"
    r"says|lines?|with|following)"
    r"\s*:\s*(?P<text>\S.*)$|^[^\n]*?\b(?:create|write|make|append|save|generate)\b[^\n]*:[ \t]*\n(?P<block>.*\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_PRONOUNS = frozenset(("it", "that", "this", "them", "those", "there", "the file", "that file", "this file"))
_TALK = running.SMALL_TALK
_RULES = (*running.RULES, *changing.RULES, *looking.RULES)


#: A text with more parts than this is no list of things to do.
MOST_CLAUSES = 24


def understand(text: str, earlier: Sequence[str] = ()) -> tuple[Step, ...]:
    """The steps a request asks for, in order; one `Unknown` if no rule fits. `earlier` requests tell what "it" is."""
    if called := plain_call(text):
        return (called,)
    phrase = _set_aside_open_text(phrase_of(text))
    for reading in (phrase, mended(phrase)):
        steps = _read(reading)
        if steps:
            return _whole(text, tuple(_without_repeats(_resolved(steps, earlier))))
    return (Unknown(text),)


def _whole(text: str, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Nothing is done when a step is declined, or when nothing tells what to run again."""
    declined = [step for step in steps if isinstance(step, Declined)]
    if declined:
        return (declined[0],)
    if any(isinstance(step, Rename | Assign) and _is_pronoun(_name_of(step)) for step in steps):
        return (Declined("I do not know what “it” is here. Please write its name."),)
    return (Unknown(text),) if any(isinstance(step, Run) and _is_pronoun(step.command) for step in steps) else steps


def _name_of(step: Rename | Assign) -> str:
    return step.old if isinstance(step, Rename) else step.name


def _is_pronoun(words: str) -> bool:
    return words.lower() in _PRONOUNS


def _read(phrase: Phrase) -> list[Step]:
    talk = _first(_TALK, phrase)
    if talk is not None:
        return [talk]
    if _LINT_AND_FIX.fullmatch(polite(phrase).text):
        return [Lint(repair=True)]
    pieces = _clauses(phrase)
    steps = list(_steps(pieces))
    if len(pieces) > 1 and all(steps):
        return [step for step in steps if step is not None]
    whole = _unread(phrase) or _clause(phrase)
    return [whole] if whole is not None else []


def _steps(pieces: Sequence[Phrase]) -> Iterator[Step | None]:
    """A step for each clause, None where no rule fits. What is to be done only if something holds is declined."""
    condition = ""
    for piece in pieces:
        condition = condition or (piece.source(piece.text) if _IF.match(piece.text) else "")
        step = _clause(piece)
        if step is None and _CONDITION.fullmatch(piece.text):
            continue
        if condition and step is not None and not isinstance(step, Repair | Lint | Test):
            step = Declined(
                f"I cannot make a step depend on a condition (“{condition}”). Ask for one step after another."
            )
        yield step


def _unread(phrase: Phrase) -> Declined | None:
    """A step that no rule knows among steps that are known: none is done, and it is named."""
    parts = [phrase.part(part) for part in _THEN.split(phrase.text) if part.strip()]
    if len(parts) < 2 or len(parts) > MOST_CLAUSES or isinstance(_clause(phrase), Run):
        return None
    known = [bool(_read(part)) for part in parts]
    if all(known) or not any(known):
        return None
    missed = parts[known.index(False)]
    return Declined(f"I understand the rest, but no rule of mine fits “{missed.source(missed.text)}”.")


def _clauses(phrase: Phrase) -> list[Phrase]:
    pieces = _DIVIDE.split(_BULLET.sub("", phrase.text))
    if len(pieces) > MOST_CLAUSES:
        return []
    return [phrase.part(_BULLET.sub("", piece).strip()) for piece in pieces if piece.strip()]


def _clause(phrase: Phrase) -> Step | None:
    ready = polite(phrase)
    alone = re.fullmatch(MARK, ready.text)
    if alone is not None and ready is not phrase and len(phrase.text) > 1:
        return None
    return _first(_RULES, ready) or _first(_TALK, ready)


def _first(rules: Sequence[Rule], phrase: Phrase) -> Step | None:
    return next((step for rule in rules if (step := rule.match(phrase)) is not None), None)


def _set_aside_open_text(phrase: Phrase) -> Phrase:
    """Treat what follows `content:` as quoted, so that its words are not read as requests."""
    found = _OPEN_TEXT.match(phrase.text)
    if found is None:
        return phrase
    group = "text" if found["text"] is not None else "block"
    if re.fullmatch(MARK, found[group].strip()):
        return phrase
    mark = chr(FIRST_MARK + len(phrase.kept))
    text = phrase.plain(found[group])
    return Phrase(phrase.text[: found.start(group)] + mark, (*phrase.kept, text), (*phrase.raw, f" {text}"))


def subject_of(step: Step) -> str | None:
    """What "it" means after this step."""
    match step:
        case (
            Find(text=subject)
            | FindFiles(pattern=subject)
            | Replace(new=subject)
            | Rename(new=subject)
            | MoveFile(new=subject)
        ):
            return subject
        case Show(path=subject) | Explain(path=subject) | Create(path=subject) | Insert(path=subject):
            return subject
        case Test(target=target) | Repair(target=target):
            return target
        case _:
            return None


def _resolved(steps: Sequence[Step], earlier: Sequence[str]) -> Iterator[Step]:
    subject, before = _earlier_subject(earlier), _earlier_step(earlier)
    for step in steps:
        step = _again(step, before) or _with_subject(step, subject)
        before = step
        subject = subject_of(step) or subject
        yield step


def _again(step: Step, before: Step | None) -> Step | None:
    """`run it again` after a run means that run."""
    if not (isinstance(step, Run) and _is_pronoun(step.command)):
        return None
    match before:
        case Run() | Test() | Lint():
            return before
        case Repair(target=target):
            return Test(target)
        case _:
            return None


def _earlier_step(earlier: Sequence[str]) -> Step | None:
    if not earlier:
        return None
    steps = _read(_set_aside_open_text(phrase_of(earlier[-1])))
    return steps[-1] if steps else None


def _earlier_subject(earlier: Sequence[str]) -> str | None:
    for text in reversed(earlier[-8:]):
        found = [subject_of(step) for step in _read(_set_aside_open_text(phrase_of(text)))]
        named = [subject for subject in found if subject and subject.lower() not in _PRONOUNS]
        if named:
            return named[-1]
    return None


def _with_subject(step: Step, subject: str | None) -> Step:
    if subject is None:
        return step
    if isinstance(step, Delete | Show | Explain | Insert | Create) and step.path.lower() in _PRONOUNS:
        return dataclasses.replace(step, path=subject)
    if isinstance(step, Rename | Replace | MoveFile) and step.old.lower() in _PRONOUNS:
        return dataclasses.replace(step, old=subject)
    if isinstance(step, Assign) and _is_pronoun(step.name):
        return dataclasses.replace(step, name=subject) if subject.isidentifier() else step
    if isinstance(step, Run) and step.command.lower() in _PRONOUNS:
        return Run(f"python3 {shlex.quote(subject)}") if subject.endswith(".py") else step
    if isinstance(step, Repair | Test) and (step.target or "").lower() in _PRONOUNS:
        return dataclasses.replace(step, target=subject)
    return step


def _without_repeats(steps: Iterator[Step]) -> Iterator[Step]:
    before: Step | None = None
    for step in steps:
        if step != before:
            yield step
        before = step
