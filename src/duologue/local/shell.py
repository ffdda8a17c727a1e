"""Reading a command line as plain words, for permission rules: anything a shell would expand or combine is refused."""

from __future__ import annotations

import re
import shlex

# Unquoted characters that mean themselves in every shell. A line with any other is not simple.
PLAIN = re.compile(r"[\w@%+:,./=^-]+")
SINGLE = re.compile(r"'([^']*)'")
DOUBLE = re.compile(r'"([^"$`\\!]*)"')
BLANK = re.compile(r"[ \t]+")
# What neither ends a word nor may begin a quoted part: a long word is not gone through one character at a time.
WITHIN = re.compile(r"[^ \t'\"]+")

KEYWORDS = frozenset(
    (
        *("if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done"),
        *("in", "function", "time", "coproc"),
    )
)


def simple_words(line: str) -> tuple[str, ...] | None:
    """The words of a command without operators, redirects, substitutions, globs or assignments; None for any other."""
    line = line.lstrip(" ").rstrip(" \n")
    if not line or not line.isprintable():
        return None
    words = [_word(line, start, end) for start, end in _spans(line)]
    if not words or None in words:
        return None
    found = tuple(word for word in words if word is not None)
    if not found[0] or "=" in found[0] or found[0] in KEYWORDS:
        return None
    return found


def _spans(line: str) -> list[tuple[int, int]]:
    """Start and end of each word; quotes hold blanks together."""
    spans: list[tuple[int, int]] = []
    start = position = 0
    while position < len(line):
        if blank := BLANK.match(line, position):
            if position > start:
                spans.append((start, position))
            start = position = blank.end()
            continue
        part = WITHIN.match(line, position) or SINGLE.match(line, position) or DOUBLE.match(line, position)
        position = part.end() if part else position + 1
    return [*spans, (start, position)]


def _word(line: str, position: int, end: int) -> str | None:
    parts: list[str] = []
    while position < end:
        if quoted := SINGLE.match(line, position, end) or DOUBLE.match(line, position, end):
            parts.append(quoted[1])
            position = quoted.end()
        elif plain := PLAIN.match(line, position, end):
            parts.append(plain[0])
            position = plain.end()
        else:
            return None
    return "".join(parts)


def join(words: tuple[str, ...]) -> str:
    """Words as a line that `simple_words` reads back, where that is possible."""
    return shlex.join(words)


# Programs whose arguments are, or may be, another command.
STARTERS = frozenset(
    (
        *(
            "sh",
            "bash",
            "dash",
            "ash",
            "zsh",
            "ksh",
            "csh",
            "tcsh",
            "fish",
            "pwsh",
            "busybox",
            "toybox",
            "eval",
            "exec",
        ),
        *("env", "sudo", "doas", "su", "runuser", "setpriv", "command", "builtin", "nice", "ionice", "nohup", "setsid"),
        *(
            "timeout",
            "time",
            "stdbuf",
            "xargs",
            "parallel",
            "find",
            "fd",
            "watch",
            "script",
            "ssh",
            "chroot",
            "unshare",
        ),
        *(
            "nsenter",
            "strace",
            "flock",
            "entr",
            "source",
            ".",
            "awk",
            "gawk",
            "mawk",
            "sed",
            "vi",
            "vim",
            "ed",
            "emacs",
        ),
    )
)
INTERPRETERS = re.compile(r"(?:python|pypy|perl|ruby|node|nodejs|bun|deno|php|lua|tclsh|osascript)[\d.]*")


def by_name(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words with the program's name, in small letters, in place of its path: some file systems start `git` as
    `GIT` too."""
    return (words[0].rpartition("/")[2].casefold(), *words[1:]) if words else words


def starts_others(words: tuple[str, ...]) -> bool:
    """Whether a command may start any other one: a shell, a wrapper, or code that stands in its arguments."""
    program = by_name(words)[0]
    if program in STARTERS:
        return True
    given = [word for word in words[1:] if word.startswith("-")]
    code = any(word == "-" or re.match(r"-\w*[ceErp]|--eval|--exec|--print", word) for word in given)
    return INTERPRETERS.fullmatch(program) is not None and (code or len(words) == 1 or words[1] == "eval")


# What may follow when a person has allowed one of these programs for good: these options, and paths inside the project.
# An option that writes elsewhere, loads a plugin or starts a program must never be in here.
HARMLESS: dict[tuple[str, ...], frozenset[str]] = {
    ("cargo", "check"): frozenset(("-q", "--quiet", "--all-targets", "--workspace", "--all-features", "--release")),
    ("cargo", "test"): frozenset(("-q", "--quiet", "--workspace", "--all-features", "--release", "--lib", "--doc")),
    ("echo",): frozenset(("-n", "-e")),
    ("git", "status"): frozenset(("-s", "--short", "-b", "--branch", "--porcelain")),
    ("ls",): frozenset(("-l", "-a", "-la", "-al", "-1", "-h", "-lh", "-lah", "-R", "-t", "-lt")),
    ("mypy",): frozenset(("--strict", "--no-error-summary", "--pretty")),
    ("npm", "test"): frozenset(("--silent", "-s")),
    ("pwd",): frozenset(),
    ("pytest",): frozenset(
        (
            *("-q", "-qq", "-v", "-vv", "-x", "-s", "-l", "-k", "-m", "-ra", "--lf", "--ff", "--sw", "--co"),
            *(
                "--tb=short",
                "--tb=long",
                "--tb=no",
                "--tb=line",
                "--collect-only",
                "--exitfirst",
                "--quiet",
                "--verbose",
            ),
        )
    ),
    ("ruff", "check"): frozenset(("-q", "--quiet", "--diff", "--statistics")),
    ("ruff", "format", "--check"): frozenset(("-q", "--quiet", "--diff")),
    ("ruff", "format", "--diff"): frozenset(("-q", "--quiet", "--check")),
    ("wc",): frozenset(("-l", "-w", "-c")),
}
for _python in ("python", "python3"):
    HARMLESS[(_python, "-m", "pytest")] = HARMLESS[("pytest",)]


def harmless_prefix(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The program part of a command that belongs to the table above with harmless arguments only."""
    for size in (3, 2, 1):
        options = HARMLESS.get(words[:size])
        if options is not None:
            return words[:size] if all(_is_harmless(word, options) for word in words[size:]) else None
    return None


def _is_harmless(word: str, options: frozenset[str]) -> bool:
    if word.startswith("-"):
        return word in options
    return not word.startswith(("/", "@")) and ".." not in word.split("/") and "://" not in word
