"""Rename an identifier in one text, with a sense for what is code and what is prose."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass

from duologue.coder.models.offline.parsing import UNPARSED


@dataclass(frozen=True, slots=True)
class Renamed:
    """A text after a rename: how many places changed, and how many mentions were left alone."""

    text: str
    changed: int
    left: int


def rename_in(path: str, text: str, old: str, new: str) -> Renamed:
    """Python by its tokens, other files by whole words; raises ValueError when Python does not parse."""
    if path.endswith((".py", ".pyi")):
        return _in_python(text, old, new)
    return _in_prose(text, old, new)


def distinctive(name: str) -> bool:
    """True for a name that no English sentence uses: `parse_line`, `LineParser`, `x2`."""
    return bool(re.search(r"_|\d|[a-z][A-Z]", name))


def uses(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _in_prose(text: str, old: str, new: str) -> Renamed:
    word = rf"(?<!\w){re.escape(old)}(?!\w)"
    pattern = (
        word
        if distinctive(old)
        else rf"(?<=`){re.escape(old)}(?=[`(.])|(?<=\.){re.escape(old)}(?=\()|(?<!\w){re.escape(old)}(?=\()"
    )
    changed, count = re.subn(pattern, new, text)
    return Renamed(changed, count, len(re.findall(word, text)) - count)


def _in_python(text: str, old: str, new: str) -> Renamed:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise ValueError(f"it does not parse as Python: {error}") from error
    starts = _line_starts(text)
    pieces: list[str] = []
    at = changed = left = 0
    for index, token in enumerate(tokens):
        if not uses(token.string, old):
            continue
        start, end = starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
        done = _renamed_token(token, tokens[index - 1] if index else None, old, new)
        pieces += [text[at:start], done.text]
        at, changed, left = end, changed + done.changed, left + done.left
    result = "".join(pieces) + text[at:]
    _must_parse(result)
    return Renamed(result, changed, left)


def _renamed_token(token: tokenize.TokenInfo, before: tokenize.TokenInfo | None, old: str, new: str) -> Renamed:
    if token.type == tokenize.NAME:
        return Renamed(new, 1, 0)
    if token.type == tokenize.STRING and re.match(r"(?i)[rb]*f", token.string):
        return _in_fstring(token.string, old, new)
    documents = token.type == tokenize.COMMENT or _is_docstring(token, before)
    if documents or _names_code(token.string, old):
        return _in_prose(token.string, old, new) if documents else _whole_words(token.string, old, new)
    return Renamed(token.string, 0, len(re.findall(rf"(?<!\w){re.escape(old)}(?!\w)", token.string)))


def _whole_words(text: str, old: str, new: str) -> Renamed:
    changed, count = re.subn(rf"(?<!\w){re.escape(old)}(?!\w)", new, text)
    return Renamed(changed, count, 0)


def _is_docstring(token: tokenize.TokenInfo, before: tokenize.TokenInfo | None) -> bool:
    opens = before is None or before.type in (
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.NL,
        tokenize.ENCODING,
        tokenize.DEDENT,
    )
    return token.type == tokenize.STRING and opens


def _names_code(string: str, old: str) -> bool:
    """True for a literal that names the identifier: `"parse_line"` of `__all__`, `"app.text.parse_line"` of a patch."""
    inside = string.strip("rRbBuU\"'")
    if inside == old:
        return distinctive(old)
    return re.fullmatch(rf"[\w.]+\.{re.escape(old)}(\.\w+)*", inside) is not None


def _in_fstring(string: str, old: str, new: str) -> Renamed:
    """Rename in the expressions of an f-string that is one token, as it is before Python 3.12."""
    places = list(re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", string))
    inside = _expression_offsets(string)
    text, at = "", 0
    for match in places:
        if match.start() in inside:
            text, at = text + string[at : match.start()] + new, match.end()
    changed = sum(match.start() in inside for match in places)
    return Renamed(text + string[at:], changed, len(places) - changed)


def _expression_offsets(string: str) -> set[int]:
    """Offsets inside of expressions: neither text, nor a format after its colon, nor a string in an expression."""
    found: set[int] = set()
    modes: list[str] = ["text"]
    quote = ""
    for index, letter in enumerate(string.replace("{{", "  ").replace("}}", "  ") if "{{" in string else string):
        mode = modes[-1]
        if quote:
            quote = "" if letter == quote else quote
        elif letter == "{" and mode in ("text", "format"):
            modes.append("expression")
        elif letter == "}" and len(modes) > 1:
            modes.pop()
            if mode == "format":
                modes.pop()
        elif mode == "expression" and letter in "([{":
            modes.append("expression")
        elif mode == "expression" and letter in ")]" and len(modes) > 2:
            modes.pop()
        elif mode == "expression" and letter == ":" and modes[-2] in ("text", "format"):
            modes.append("format")
        elif mode == "expression":
            quote = letter if letter in "'\"" else ""
            found.add(index)
    return found


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in io.StringIO(text):
        starts.append(starts[-1] + len(line))
    return starts


def _must_parse(text: str) -> None:
    try:
        ast.parse(text)
    except UNPARSED as error:
        raise ValueError(f"the renamed text would not parse: {error}") from error
