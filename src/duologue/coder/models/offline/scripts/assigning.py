"""Give a Python name another literal where it is assigned one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from duologue.coder.models.offline.intents.steps import Assign
from duologue.coder.models.offline.parsing import tree_of
from duologue.coder.models.offline.scripts.hunks import change_of
from duologue.coder.models.offline.scripts.lookup import common, scope
from duologue.coder.models.offline.scripts.sound import must_compile
from duologue.coder.models.offline.turn import Turn, TurnStopped
from duologue.coder.texts import shorten

SHOWN = 6


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    value: ast.expr
    #: Not in a function.
    outside: bool

    def __str__(self) -> str:
        return f"{self.path}:{self.value.lineno}"


async def assign(turn: Turn, step: Assign) -> None:
    """Replace the literal of the one assignment that is meant; stop with the reason when that is not clear."""
    texts = await _texts(turn, step)
    place = _the_one(step, [place for path, text in texts.items() for place in _places(path, text, step.name)])
    text = texts[place.path]
    old = ast.get_source_segment(text, place.value) or ""
    if not _is_literal(place.value):
        raise TurnStopped(
            f"`{step.name}` is computed in {place} (`{shorten(old, 80)}`); I only put one literal in place of another."
        )
    if old == step.value:
        await turn.say(f"`{step.name}` is {step.value} already ({place}).\n")
        return
    new = _with_value(text, place.value, step.value)
    must_compile(place.path, text, new)
    await turn.must(change_of(place.path, text, new))
    await turn.say(f"Set `{step.name}` from `{shorten(old, 80)}` to `{shorten(step.value, 80)}` ({place}).\n")


async def _texts(turn: Turn, step: Assign) -> dict[str, str]:
    allowed = await scope(turn, step.where)
    pattern = rf"\b{step.name}\b\s*(:[^=]*)?=([^=]|$)"
    data = await turn.need("search", pattern=pattern, regex=True, glob="*.py", limit=200, path=common(allowed))
    found = dict.fromkeys(str(match["path"]) for match in data["matches"])
    return await turn.read_all([path for path in found if allowed is None or path in allowed])


def _places(path: str, text: str, name: str) -> Iterator[_Place]:
    tree = tree_of(text)
    if tree is None:
        return
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {node for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=known)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=known), value=ast.expr() as value)
            ) if known == name:
                yield _Place(path, value, node not in inside)


def _the_one(step: Assign, places: Sequence[_Place]) -> _Place:
    found = [place for place in places if place.outside] or places
    if len(found) == 1:
        return found[0]
    where = f" in {step.where}" if step.where else " in the Python files of this project"
    if not found:
        raise TurnStopped(f"`{step.name}` is assigned nowhere{where}, so there is nothing to set.")
    shown = ", ".join(str(place) for place in found[:SHOWN]) + (" and more" if len(found) > SHOWN else "")
    raise TurnStopped(
        f"`{step.name}` is assigned in {len(found)} places ({shown}), and I set just one. "
        f"Name the file: “set {step.name} to {step.value} in {found[0].path}”."
    )


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return False
    return True


def _with_value(text: str, old: ast.expr, new: str) -> str:
    """The text with another expression; the columns of `ast` count UTF-8 bytes."""
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: old.lineno - 1])) + old.col_offset
    end = sum(map(len, lines[: (old.end_lineno or old.lineno) - 1])) + (old.end_col_offset or 0)
    data = text.encode()
    return (data[:start] + new.encode() + data[end:]).decode()
