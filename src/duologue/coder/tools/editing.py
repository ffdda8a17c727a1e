"""`edit_file`: exact replacements, all or none."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated

from msgspec import Meta

from duologue.coder.diffs import change_of, text_of
from duologue.coder.errors import ToolError
from duologue.coder.settling import in_thread
from duologue.coder.texts import BOM, Flat, keep_endings, line_of, newline_of, plain
from duologue.coder.tools.base import Arguments, Context, Outcome, Plan, tool
from duologue.coder.tools.changing import plan_changes

# How much of a file is looked through for lines that resemble what was not found.
COMPARED_LINES = 5000
COMPARED_CHARACTERS = 300
MOST_PLACES = 100_000
NAMED_LINES = 10


class Edit(Arguments, frozen=True):
    old: Annotated[
        str, Meta(min_length=1, description="Text as it stands in the file, with enough of it to be unique.")
    ]
    new: Annotated[str, Meta(description="Text to put in its place.")]
    all: Annotated[bool, Meta(description="Replace each occurrence.")] = False


class EditFile(Arguments, frozen=True):
    path: Annotated[str, Meta(description="File to change.")]
    edits: Annotated[list[Edit], Meta(min_length=1, description="Replacements, made one after the other.")]


@tool(
    "edit_file",
    "Replace exact pieces of text in a file. Either all edits are made or none. An `old` that occurs several times "
    "is an error unless `all` is true.",
    "edit",
    EditFile,
)
async def edit_file(arguments: EditFile, context: Context) -> Plan:
    place = context.workspace.resolve(arguments.path)
    before = await text_of(context.files, place.shown)
    if before is None:
        raise ToolError(f"{place.name}: there is no such file; write_file creates one")
    # In a thread: looking for what is nearest takes a while in a large file.
    after, count = await in_thread(apply, before, arguments.edits, place.name)
    if after == before:
        raise ToolError(f"{place.name}: the edits change nothing")
    data = {"path": place.name, "replacements": count}
    done = Outcome(f"Made {count} replacement{'s' * (count != 1)} in {place.name}.", data)
    return plan_changes(f"Edit {place.name}", (change_of(place, before, after),), done, context)


def apply(text: str, edits: Sequence[Edit], name: str) -> tuple[str, int]:
    """The text after all edits, and the number of replacements. Raises ToolError for the first that does not fit."""
    mark = BOM if text.startswith(BOM) else ""
    body = text.removeprefix(BOM)
    count = 0
    for number, edit in enumerate(edits, 1):
        which = f"{name}: edit {number} of {len(edits)}" if len(edits) > 1 else name
        body, made = _apply_one(body, edit, which)
        count += made
    return mark + body, count


def _apply_one(body: str, edit: Edit, which: str) -> tuple[str, int]:
    flat = Flat(body)
    old, new = plain(edit.old), plain(edit.new)
    if old == new:
        raise ToolError(f"{which}: old and new are the same")
    places = list(islice(_find(flat.text, old, len(old) if edit.all else 1), MOST_PLACES + 1))
    if len(places) > MOST_PLACES:
        raise ToolError(f"{which}: the old text occurs more than {MOST_PLACES} times; give more of the text around it")
    if not places:
        raise ToolError(f"{which}: the old text does not occur in the file. {_nearest(flat.text, old)}")
    if len(places) > 1 and not edit.all:
        raise ToolError(
            f"{which}: the old text occurs {len(places)} times, on lines {_lines(flat.text, places)}; "
            "give more of the text around it, or set all to true"
        )
    return _replace(flat, places, len(old), new), len(places)


def _find(text: str, old: str, step: int) -> Iterator[int]:
    position = text.find(old)
    while position >= 0:
        yield position
        position = text.find(old, position + step)


def _replace(flat: Flat, places: Sequence[int], length: int, new: str) -> str:
    """The original with the pieces replaced; lines that a piece has kept keep their endings."""
    style = newline_of(flat.original)
    parts: list[str] = []
    done = 0
    for place in places:
        start, end = flat.place(place), flat.place(place + length)
        parts += [flat.original[done:start], keep_endings(flat.original[start:end], new, style)]
        done = end
    return "".join((*parts, flat.original[done:]))


def _lines(text: str, places: Sequence[int]) -> str:
    numbers = ", ".join(str(line_of(text, place)) for place in places[:NAMED_LINES])
    return numbers + (", ..." if len(places) > NAMED_LINES else "")


def _nearest(text: str, old: str) -> str:
    """The lines that resemble the first line of what was not found, to help with the next attempt."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")[:COMPARED_CHARACTERS]
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n", COMPARED_LINES)[:COMPARED_LINES], 1):
        lines.setdefault(line.strip()[:COMPARED_CHARACTERS], number)
    similar = difflib.get_close_matches(wanted, lines, n=3, cutoff=0.6) if wanted else []
    if not similar:
        return "No line resembles its first line; read the file again."
    whole = text.split("\n")
    found = "; ".join(f"line {lines[line]}: {shorten_line(whole[lines[line] - 1])}" for line in similar)
    return f"The lines most like its first line: {found}. White space counts."


def shorten_line(line: str) -> str:
    """A line with its white space visible, not too long."""
    return repr(line if len(line) <= 200 else line[:200] + "…")
