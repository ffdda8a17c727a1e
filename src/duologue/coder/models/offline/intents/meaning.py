"""What a change of text means: a name, a value, exact text, or only a description of one."""

from __future__ import annotations

import ast
import re

from duologue.coder.models.offline.intents.rule import Groups, quoted, source, text
from duologue.coder.models.offline.intents.steps import (
    Assign,
    Create,
    Declined,
    Insert,
    MoveFile,
    Rename,
    Replace,
    Step,
)
from duologue.coder.texts import counted

_LOOKS_LIKE_FILE = re.compile(r"[\w./*-]*/[\w./*-]*|[\w.*-]*\.[A-Za-z]\w{0,6}")
NAME = re.compile(r"[^\W\d]\w*")
#: A member of a class; what is shorter behind the dot may be the ending of a file.
_OF_A_CLASS = re.compile(r"_?[A-Z][a-z]\w*\.(?:\w{5,}|\w*_\w*)")
_STATEMENT = re.compile(r"import [\w., ]+|from [\w.]+ import [\w.,* ]+")
#: Words after which a text is meant as it stands.
EXACT = re.compile(
    r"(?:(?:the|this|these|following)\s+)+(?:contents?|texts?|lines?|words?|string|sentence|following)\b:?"
    r"|contents?\b:?|text\b:?|that (?:says|reads)|which says|saying|reading|:",
    re.IGNORECASE,
)


#: Words beside a quoted text: they are no part of it.
_BESIDE = re.compile(
    r"(?:first|second|third|last|next|only)\s+[\"'`“‘]|(?:\"[^\"]+\"|'[^']+'|`[^`]+`|“[^”]+”|‘[^’]+’)[,\s]+\S"
)
_NOTHING = frozenset(('""', "''", "``", "“”", "‘’", "nothing"))
#: What may still be the text, or say where and when.
_WHERE_OR_WHEN = re.compile(
    r"[,\s]\s*(?:only|once|twice|but|except|unless|if|where|when|on|in|at|inside|within|across|throughout)(?:\s|$)",
    re.IGNORECASE,
)


def literal(words: str) -> str | None:
    """The Python literal that a person's words stand for."""
    value = words.strip().strip("`").strip()
    value = {"true": "True", "false": "False", "none": "None", "null": "None"}.get(value, value)
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value


def rename(groups: Groups) -> Step | None:
    old, new = text(groups, "old"), text(groups, "new")
    if _OF_A_CLASS.fullmatch(old) and NAME.fullmatch(new):
        name = old.rpartition(".")[2]
        return Declined(f"I rename by the bare name, wherever it occurs: say “rename {name} to {new}”.")
    if _LOOKS_LIKE_FILE.fullmatch(old) and (_LOOKS_LIKE_FILE.fullmatch(new) or not quoted(groups, "old")):
        return MoveFile(old, new)
    if not NAME.fullmatch(old.strip("()")):
        return replacement(groups)
    if not NAME.fullmatch(new.strip("()")):
        value = f"To change its value, say “set {old} to {new}”. " if literal(new) else ""
        text_of = f'To change text, say “replace "{old}" with "{new}"”.'
        return Declined(f"`{new}` is not a name, so I cannot rename `{old}` to it. {value}{text_of}")
    return Rename(old.strip("()"), new.strip("()"), groups.get("where"))


def replacement(groups: Groups) -> Step:
    """`replace X with Y`, where it is certain what belongs to the texts: else the rest would be written into files."""
    old, new = text(groups, "old"), text(groups, "new")
    for words in (_doubtful(groups, "old"), _doubtful(groups, "new")):
        if words:
            return Declined(
                f"I do not know where the text ends in “{words}”. Put the whole of it in quotes, and name one file or "
                'none: “replace "old" with "new" in app.py”.'
            )
    return Replace(old, "" if source(groups, "new") in _NOTHING else new, groups.get("where"))


def more_than_quoted(groups: Groups, name: str) -> bool:
    """True if there are words beside a quoted text: they may belong to it, or not."""
    return not quoted(groups, name) and _BESIDE.match(source(groups, name)) is not None


def _doubtful(groups: Groups, name: str) -> str:
    """The words of a group, if some of them may be no text."""
    words = source(groups, name)
    if quoted(groups, name):
        return ""
    return words if more_than_quoted(groups, name) or (name == "new" and _WHERE_OR_WHEN.search(words)) else ""


def change(groups: Groups) -> Step | None:
    """`change X to Y`: of a value, a name or exact text."""
    old, new, where = text(groups, "old"), text(groups, "new"), groups.get("where")
    in_code = where is None or where.endswith((".py", "/"))
    exact = quoted(groups, "old") and not source(groups, "old").startswith("`")
    if exact or not in_code or not (NAME.fullmatch(old) or " " in old):
        return replacement(groups)
    assigned = assign(groups)
    if assigned is not None:
        return assigned
    if NAME.fullmatch(new) and " " not in old:
        return Rename(old, new, where)
    return Declined(
        f"I cannot make a change from a description (“{old}” to “{new}”). "
        'Say it exactly: “set LIMIT to 7”, “rename old_name to new_name”, or “replace "old text" with "new text"”.'
    )


def assign(groups: Groups) -> Step | None:
    """`set NAME to literal`."""
    value = literal(source(groups, "new"))
    if value is None or not re.fullmatch(r"[^\W\d]\w*", text(groups, "old")):
        return None
    return Assign(text(groups, "old"), value, groups.get("where"))


def set_value(groups: Groups) -> Step | None:
    name, value = text(groups, "old"), text(groups, "new")
    return assign(groups) or Declined(
        f"I can only set a Python name to a number, a quoted text or another literal, and `{value}` is none for "
        f'`{name}`. Try “set {name} to 7”, or “replace "old" with "new" in a_file”.'
    )


def create(groups: Groups) -> Step | None:
    path, words = text(groups, "path"), groups.get("text")
    if not path:
        return None
    if words is None or _is_exact(groups):
        return Create(path, words)
    return Declined(
        f"I cannot write a file from a description (“{words}”), so I did not create {path}. "
        f'Give me the exact text: “create {path} with the content "..."”.'
    )


def insert(groups: Groups) -> Step:
    place = (groups.get("place") or "end").lower()
    at_start = place in ("start", "top", "beginning", "head", "front")
    return insertion(groups, Insert(text(groups, "path"), text(groups, "text"), "start" if at_start else "end"))


def insert_at(groups: Groups) -> Step:
    side = "after" if text(groups, "side").lower() in ("after", "below", "under", "behind") else "before"
    anchor = text(groups, "anchor")
    number = re.fullmatch(r"(?:line\s+)?(?:number\s+)?(\d+)", anchor, re.IGNORECASE)
    at = counted(number[1]) if number else anchor
    step = Insert(text(groups, "path"), text(groups, "text"), "after" if side == "after" else "before", at)
    return insertion(groups, step)


def insertion(groups: Groups, step: Insert) -> Step:
    if _is_exact(groups):
        return step
    return Declined(
        f"I cannot write from a description (“{step.text}”), so I did not touch {step.path}. "
        f'Give me the exact text in quotes: “append "..." to {step.path}”.'
    )


def _is_exact(groups: Groups) -> bool:
    """True if the text is quoted, announced as text, or a plain import."""
    if quoted(groups, "text") or _STATEMENT.fullmatch(text(groups, "text")):
        return True
    described = re.match(r"(?:of|from|about|for|that|which)\s", text(groups, "text"), re.IGNORECASE)
    if described or more_than_quoted(groups, "text"):
        return False
    return bool(EXACT.search(groups.get("as") or ""))
