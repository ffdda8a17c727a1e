"""Slips in literals: numbers, truth values, strings."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from .source import Edit, Source
from .vocabulary import TYPO, Vocabulary

_MODES = ("r", "w", "a", "x", "rb", "wb", "ab", "rt", "wt", "r+", "w+")


def constant_edits(source: Source, node: ast.AST, words: Vocabulary) -> Iterator[Edit]:
    if not isinstance(node, ast.Constant) or _is_prose(source, node):
        return
    whole, value = _signed(source, node)
    start, end = source.start(whole), source.end(whole)
    written = source.text[start:end]
    if not _trusted(written, value):
        return
    for new, kind, weight in _other_values(written, value, words):
        if new != written:
            yield source.edit(start, end, new, kind, weight)


def _signed(source: Source, node: ast.Constant) -> tuple[ast.expr, object]:
    """A number with the minus before it, if there is one: `-1` becomes `0`, not `-0`."""
    parent = source.parents.get(node)
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub) and type(node.value) in (int, float):
        return parent, -node.value  # type: ignore[operator]  # a number, as just asked
    return node, node.value


def _is_prose(source: Source, node: ast.Constant) -> bool:
    """A docstring, or a piece of an f-string, which has no quotes of its own."""
    parent = source.parents.get(node)
    return isinstance(parent, (ast.Expr, ast.JoinedStr)) or source.annotates(node)


def _trusted(written: str, value: object) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError):
        return False
    return type(read) is type(value) and bool(read == value)


def _other_values(written: str, value: object, words: Vocabulary) -> Iterator[tuple[str, str, float]]:
    if value is True or value is False:
        yield str(not value), "truth value", 1.0
        yield "None", "truth value", 0.3
    elif value is None:
        yield from (
            ("True", "truth value", 0.4),
            ("False", "truth value", 0.4),
            ("0", "number", 0.2),
            ("''", "string", 0.2),
        )
    elif isinstance(value, int):
        yield from _integers(written, value, words)
        if value in (0, 1):
            yield "None", "truth value", 0.5
    elif isinstance(value, float):
        yield from _floats(value, words)
    elif isinstance(value, str):
        yield from _strings(written, value, words)
    elif isinstance(value, bytes):
        yield from _bytes(written, value, words)


def _integers(written: str, value: int, words: Vocabulary) -> Iterator[tuple[str, str, float]]:
    base = hex if written.lower().startswith("0x") else oct if written.lower().startswith("0o") else str
    base = bin if written.lower().startswith("0b") else base
    near = dict.fromkeys((value + 1, value - 1), 0.95)
    for number in (0, 1, -value, value * 10, value // 10, -1):
        near.setdefault(number, 0.5 if number in (0, 1) else 0.35)
    for number in words.numbers_near(value):
        near.setdefault(number, 0.3)
    near.pop(value, None)
    for number, weight in near.items():
        yield base(number), "number", weight


def _floats(value: float, words: Vocabulary) -> Iterator[tuple[str, str, float]]:
    near = [
        value + 1,
        value - 1,
        -value,
        value * 10,
        value / 10,
        value * 2,
        value / 2,
        value + 0.1,
        value - 0.1,
        0.0,
        1.0,
    ]
    near += [value + 0.01, value - 0.01, 1 - value]
    for number in dict.fromkeys(round(number, 10) for number in near):
        if number != value:
            yield repr(number), "number", 0.6
    for number in words.floats_near(value):
        yield repr(number), "number", 0.4


def _strings(written: str, value: str, words: Vocabulary) -> Iterator[tuple[str, str, float]]:
    known = dict.fromkeys(words.meant(value), 1.0)
    for new, weight in {**string_variants(value, words), **known}.items():
        text = _requoted(written, new)
        if text is not None:
            yield text, TYPO if new in known else "string", weight


def _bytes(written: str, value: bytes, words: Vocabulary) -> Iterator[tuple[str, str, float]]:
    for new, weight in string_variants(value.decode("latin-1"), words).items():
        if all(ord(letter) < 256 for letter in new):
            yield repr(new.encode("latin-1")), "string", weight


def string_variants(value: str, words: Vocabulary) -> dict[str, float]:
    """Other strings this one may have been, with how likely that is."""
    found: dict[str, float] = {}
    for other in words.strings_near(value):
        found.setdefault(other, 0.9)
    for match in re.finditer(r"[^\W\d_]\w*", value):
        for word in words.words_near(match[0]):
            found.setdefault(value[: match.start()] + word + value[match.end() :], 0.8)
    if value in _MODES:
        found.update({mode: 0.6 for mode in _MODES if mode not in found})
    if len(value) > 4 and value.startswith("XX") and value.endswith("XX"):
        found[value[2:-2]] = 0.9
    for other in (value.lower(), value.upper(), value.capitalize(), value.strip()):
        found.setdefault(other, 0.4)
    found.setdefault("" if value else " ", 0.4)
    if value.isidentifier() and len(value) <= 12:
        for index in range(len(value)):
            found.setdefault(value[:index] + value[index + 1 :], 0.2)
            found.setdefault(value[:index] + value[index + 1 : index + 2] + value[index] + value[index + 2 :], 0.2)
    if 0 < len(value) <= 2:
        for other in words.short_strings():
            found.setdefault(other, 0.3)
    found.pop(value, None)
    return found


def _requoted(written: str, new: str) -> str | None:
    """The new value in the quotes and the spelling of the old one, if it can be written so."""
    head = re.match(r"(?i)[rbu]*('''|\"\"\"|'|\")", written)
    if head is None:
        return repr(new)
    for body in (new, new.encode("unicode_escape").decode("ascii")):
        text = head[0] + body + head[1]
        if _trusted(text, new):
            return text
    return repr(new) if len(head[1]) == 1 else None
