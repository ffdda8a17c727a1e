"""Permission rules: what a person has allowed or refused beforehand, and exactly what that covers.

```
rule   =  [ "reject " ] kind ":" pattern       ("deny " is read as "reject ")

edit:GLOB     writing and editing files, such as  edit:src/**   edit:docs/*.md   edit:/other/root/**
delete:GLOB   deleting and moving files
run:WORDS     one command, word for word, such as  run:make test
run:WORDS *   the same with any further words, such as  run:git diff *   (run:git diff* means the same)
run:WORDS ... the same with arguments known to do no harm, such as  run:pytest ...   (see shell.HARMLESS)
run:*         any simple command
use:NAME      another tool by name; `*` and `?` are wildcards
```

Globs are relative to the project folder, or absolute and without links. Wildcards pass no name that begins with a dot,
and nothing inside a `.git`, `.hg` or `.svn` folder is ever allowed: what lies there can start programs. A rule that
rejects takes capital and small letters for the same, as some file systems do. No rule that allows covers a command line
with operators, redirects, substitutions, globs or assignments: such a line is always asked about. A rule that rejects a
command knows the program by its name in whatever folder; where it cannot tell what a line does (`Rule.may_cover`) the
line is asked about. A rule that rejects edits rejects deleting as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

import msgspec

from duologue.local import globs, shell

Effect = Literal["allow", "reject"]
RuleKind = Literal["edit", "delete", "run", "use"]

KINDS: Mapping[str, RuleKind] = {kind: kind for kind in get_args(RuleKind)}

#: What a rule that rejects begins with: the specification's word, and one that people try.
REJECTING = ("reject", "deny")

CLOSED_FOLDERS = frozenset((".git", ".hg", ".svn"))

#: The longest command that the words for "always" name, in characters; a longer one stands beside them.
NAMED_CHARACTERS = 100

GRAMMAR = (
    'a rule is KIND:PATTERN, such as "edit:src/**" or "run:pytest *", or "reject KIND:PATTERN"; '
    "KIND is edit, delete, run or use"
)


class Write(msgspec.Struct, frozen=True):
    """Files that a call would write, or delete. The paths are real ones."""

    paths: tuple[Path, ...]
    kind: Literal["edit", "delete"] = "edit"


class Run(msgspec.Struct, frozen=True):
    """A command line that a call would give to the shell."""

    command: str
    cwd: Path


class Use(msgspec.Struct, frozen=True):
    """A tool with effects of its own, known by name only."""

    tool: str


Subject = Write | Run | Use


class Rule(msgspec.Struct, frozen=True):
    """One rule. `project` limits it to one project (None: the one at hand), `folder` to commands that run there."""

    effect: Effect
    kind: RuleKind
    pattern: str
    project: Path | None = None
    folder: Path | None = None

    def covers(self, subject: Subject, project: Path) -> bool:
        """Whether the rule speaks about this. A rule that allows must cover all of it, one that rejects any part."""
        if self.project not in (None, project):
            return False
        match subject:
            case Write(paths, kind) if kind == self.kind or (self.effect == "reject" and self.kind == "edit"):
                quantifier: Callable[..., bool] = all if self.effect == "allow" else any
                return bool(paths) and quantifier(self._covers_path(path, project) for path in paths)
            case Run(command, cwd) if self.kind == "run":
                return self._covers_folder(cwd, project) and self._covers_command(command)
            case Use(tool) if self.kind == "use":
                return globs.matches(self.pattern, tool)
            case _:
                return False

    def _covers_folder(self, cwd: Path, project: Path) -> bool:
        """A command means another thing elsewhere: what allows it does so in the project alone."""
        if self.folder is not None:
            return self.folder == cwd
        return self.effect == "reject" or cwd.is_relative_to(project)

    def may_cover(self, subject: Subject, project: Path) -> bool:
        """Whether a rule that rejects could speak about a command or a tool, which may do more than it says."""
        if self.effect == "allow" or self.project not in (None, project) or isinstance(subject, Write):
            return False
        if isinstance(subject, Use):
            return self.kind != "use"
        words = shell.simple_words(subject.command)
        if words is None or shell.starts_others(words):
            return self.kind != "use"
        match self.kind:
            case "run":
                return self._may_cover_words(shell.by_name(words))
            case "edit" | "delete":
                named = (
                    Path(os.path.realpath(subject.cwd / part)) for word in words for part in (word, *word.split("="))
                )
                return any(self._covers_path(path, project) for path in named)
        return False

    def _may_cover_words(self, words: tuple[str, ...]) -> bool:
        """Options may stand between the words: `git -C x push` is a push."""
        pattern = command_pattern(self.pattern)
        if pattern is None or not pattern[0] or shell.by_name(pattern[0])[0] != words[0]:
            return False
        rest = iter(words[1:])
        return all(word in rest for word in pattern[0][1:])

    @property
    def names_all(self) -> bool:
        """Whether what the rule covers was known to the person who gave it, not only how it begins."""
        if self.kind != "run":
            return True
        pattern = command_pattern(self.pattern)
        return pattern is not None and pattern[1] != "any"

    def _covers_path(self, path: Path, project: Path) -> bool:
        rejects = self.effect == "reject"
        if not rejects and CLOSED_FOLDERS.intersection(part.casefold() for part in path.parts):
            return False
        # Some file systems take several spellings for one name: what is rejected must not get by with another.
        matches = globs.may_match if rejects else globs.matches_seen
        if self.pattern.startswith("/"):
            return matches(self.pattern[1:], path.as_posix()[1:])
        return path.is_relative_to(project) and matches(self.pattern, path.relative_to(project).as_posix())

    def _covers_command(self, command: str) -> bool:
        if self.effect == "reject" and command.strip() == self.pattern.strip():
            return True
        words, pattern = shell.simple_words(command), command_pattern(self.pattern)
        if words is None or pattern is None:
            return False
        head, rest = pattern
        if self.effect == "reject":
            words, head = shell.by_name(words), shell.by_name(head)
        if rest == "none":
            return words == head
        if words[: len(head)] != head:
            return False
        return rest == "any" or shell.harmless_prefix(words) == head

    def __str__(self) -> str:
        return f"{'reject ' if self.effect == 'reject' else ''}{self.kind}:{self.pattern}"


def allowing_rule(rules: Iterable[Rule], subject: Subject, project: Path) -> Rule | None:
    """The rule that allows this: where a rule that rejects could speak about it, only one that names all of it."""
    rules = tuple(rules)
    open_to_rejection = any(rule.may_cover(subject, project) for rule in rules)
    for rule in rules:
        if rule.effect == "allow" and (rule.names_all or not open_to_rejection) and rule.covers(subject, project):
            return rule
    return None


def command_pattern(pattern: str) -> tuple[tuple[str, ...], Literal["none", "any", "harmless"]] | None:
    """The words a command must begin with, and what may follow. None for a pattern that no simple command fits."""
    pattern = pattern.strip()
    if pattern == "*":
        return (), "any"
    rest: Literal["none", "any", "harmless"] = "none"
    if pattern.endswith(" ..."):
        pattern, rest = pattern.removesuffix(" ..."), "harmless"
    elif pattern.endswith("*"):
        pattern, rest = pattern.removesuffix("*"), "any"
    words = shell.simple_words(pattern)
    return None if words is None else (words, rest)


def parse_rule(text: str) -> Rule:
    """A rule as people write it. Raises ValueError that says what is wrong."""
    effect: Effect = "allow"
    body = text.strip()
    word, _, rest = body.partition(" ")
    if word in REJECTING:
        effect, body = "reject", rest.lstrip()
    kind, colon, pattern = body.partition(":")
    known = KINDS.get(kind)
    if not colon or known is None or not pattern.strip():
        raise ValueError(f"{text!r}: {GRAMMAR}")
    return checked(Rule(effect, known, pattern.strip()), text)


def checked(rule: Rule, text: str | None = None) -> Rule:
    """The rule, if it can mean something. Raises ValueError."""
    text = text or str(rule)
    if rule.kind == "run":
        pattern = command_pattern(rule.pattern)
        if pattern is None and rule.effect == "allow":
            raise ValueError(
                f"{text!r}: a rule covers plain words only, no shell operators, redirects, substitutions or globs"
            )
        if pattern is not None and pattern[1] == "harmless" and shell.harmless_prefix(pattern[0]) != pattern[0]:
            raise ValueError(f'{text!r}: no harmless arguments are known for this program; write "*" for any')
        return rule
    if ".." in rule.pattern.split("/"):
        raise ValueError(f'{text!r}: a pattern must not hold ".."')
    globs.compiled(rule.pattern)
    return rule


Parts = tuple[tuple[RuleKind, str, Path | None], ...]


class Always(msgspec.Struct, frozen=True):
    """What "always" would cover: kind, pattern and folder of the rules to keep, and the same in words."""

    rules: Parts
    scope: str


def always(subject: Subject, project: Path) -> Always | None:
    """The rule that a person accepts with "always". None when nothing may be allowed for good."""
    match subject:
        case Write(paths, kind):
            return _always_write(paths, kind, project)
        case Run(command, cwd):
            return _always_run(command, cwd, project)
        case Use(tool):
            return Always((("use", tool, None),), f"the tool `{tool}` in this project")


def _always_write(paths: tuple[Path, ...], kind: Literal["edit", "delete"], project: Path) -> Always | None:
    patterns = sorted({_folder_pattern(path, project) for path in paths})
    rules = [Rule("allow", kind, pattern) for pattern in patterns]
    if not all(any(rule.covers(Write((path,), kind), project) for rule in rules) for path in paths):
        return None
    verb = "changes of files" if kind == "edit" else "deleting and moving files"
    parts: Parts = tuple((kind, pattern, None) for pattern in patterns)
    return Always(parts, f"{verb} that match {', '.join(f'`{pattern}`' for pattern in patterns)} in this project")


def _folder_pattern(path: Path, project: Path) -> str:
    """The folder of a file with all below it; for a file at the top of the project, the files there."""
    if not path.is_relative_to(project):
        return f"{escape(path.parent.as_posix())}/**"
    folder = path.relative_to(project).parent.as_posix()
    return "*" if folder == "." else f"{escape(folder)}/**"


def escape(path: str) -> str:
    """A path as a pattern that means only itself."""
    return "".join(f"\\{character}" if character in "*?[]{}\\" else character for character in path)


def _always_run(command: str, cwd: Path, project: Path) -> Always | None:
    words = shell.simple_words(command)
    if words is None:
        return None
    place = "in this project" if cwd == project else f"in {cwd}"
    if prefix := shell.harmless_prefix(words):
        line = shell.join(prefix)
        return Always((("run", f"{line} ...", cwd),), f"`{line}` with paths and harmless options, {place}")
    line = shell.join(words)
    if command_pattern(line) != (words, "none"):
        return None
    named = f"`{line}`" if len(line) <= NAMED_CHARACTERS else "this command"
    return Always((("run", line, cwd),), f"exactly {named}, {place}")


def exactly(subject: Subject) -> Parts:
    """Kind, pattern and folder of rules that name this subject and no other; used to refuse."""
    match subject:
        case Write(paths, kind):
            return tuple((kind, escape(path.as_posix()), None) for path in paths)
        case Run(command, cwd):
            return (("run", command.strip(), cwd),)
        case Use(tool):
            return (("use", escape(tool), None),)
