"""Seeded single-token faults in Python sources, for `repairs.py`. It knows nothing of how a repair is found."""

from __future__ import annotations

import ast
import io
import itertools
import keyword
import random
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

# A token, and what it may become.
_OPERATORS = """
    == != <= >=
    != ==
    < <= > >=
    <= < > >=
    > >= < <=
    >= > < <=
    + - *
    - +
    * + / //
    / * //
    // / *
    % * /
    ** *
    += -= =
    -= += =
    *= /= +=
    |= &= =
    & |
    | &
    << >>
    >> <<
"""
_WORDS = """
    and or
    or and
    is ==
    True False
    False True
    None 0
    break continue
    continue break
    min max
    max min
    any all
    all any
"""
_METHODS = """
    lower upper
    strip lstrip rstrip
    find rfind
    split rsplit
    startswith endswith
    append extend
    keys values items
    add discard
    start end
    match search
    ljust rjust
    isdigit isalpha
    sorted reversed
    floor ceil
    union intersection
"""


def _rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


OPERATORS = {first: others for first, *others in _rows(_OPERATORS)}
WORDS = {**{first: others for first, *others in _rows(_WORDS)}, "not": [""], "in": ["not in"]}
METHODS = _rows(_METHODS)
_BEFORE_DOCSTRINGS = (tokenize.INDENT, tokenize.NEWLINE, tokenize.NL, tokenize.DEDENT)
KINDS = ("operator", "word", "number", "string", "name", "method")


@dataclass(frozen=True)
class Fault:
    """Replace `text[start:end]`, one token of a file, by `new`."""

    path: str
    start: int
    end: int
    new: str
    kind: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.end :]


def faults(path: str, text: str, chance: random.Random) -> Iterator[Fault]:
    """One fault for each token that can have one; some may not parse, or mean the same."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    starts = _starts(text)
    names = _names_of_functions(text)
    for before, token in itertools.pairwise(tokens):
        start = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        for kind, new in _slips(before, token, names.get(token.start[0], ()), chance):
            if new != token.string:
                yield Fault(path, start, end, new, kind)


def _starts(text: str) -> list[int]:
    starts = [0]
    for line in io.StringIO(text):
        starts.append(starts[-1] + len(line))
    return starts


def _slips(
    before: tokenize.TokenInfo, token: tokenize.TokenInfo, names: tuple[str, ...], chance: random.Random
) -> Iterator[tuple[str, str]]:
    word = token.string
    if token.type == tokenize.OP and word in OPERATORS and _is_binary(before):
        yield "operator", chance.choice(OPERATORS[word])
    elif token.type == tokenize.NAME and word in WORDS:
        yield "word", chance.choice(WORDS[word])
    elif token.type == tokenize.NUMBER:
        yield from _number(word, chance)
    elif token.type == tokenize.STRING and before.type not in _BEFORE_DOCSTRINGS:
        yield from _string(word, chance)
    elif token.type == tokenize.NAME and not keyword.iskeyword(word):
        family = next((family for family in METHODS if word in family), None)
        if family:
            yield "method", chance.choice([other for other in family if other != word])
        others = [name for name in names if name != word]
        if others and before.string not in ("def", "class", "import", "from", "as"):
            yield "name", chance.choice(others)


def _is_binary(before: tokenize.TokenInfo) -> bool:
    return (
        before.type in (tokenize.NUMBER, tokenize.STRING)
        or before.string in (")", "]", "}")
        or (before.type == tokenize.NAME and not keyword.iskeyword(before.string))
    )


def _number(word: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    if word.isdigit():
        yield "number", str(int(word) + chance.choice((-1, 1)))


def _string(word: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Leave one letter out, or change one: what a finger does."""
    inside = range(1, len(word) - 1)
    letters = [index for index in inside if word[index].isalpha() and word[index - 1] != "\\"]
    if len(letters) < 3 or word.startswith(('"""', "'''")):
        return
    at = chance.choice(letters)
    other = "" if chance.random() < 0.5 else chance.choice("abcdefghijklmnopqrstuvwxyz")
    yield "string", word[:at] + other + word[at + 1 :]


def _names_of_functions(text: str) -> dict[int, tuple[str, ...]]:
    """For each line of a function, the variables and attributes the function uses."""
    found: dict[int, tuple[str, ...]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
            names |= {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)}
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[line] = tuple(sorted(names))
    return found


def is_other_code(old: str, new: str) -> bool:
    """True if the new text parses, to another program."""
    try:
        return ast.dump(ast.parse(old)) != ast.dump(ast.parse(new))
    except (SyntaxError, ValueError):
        return False
