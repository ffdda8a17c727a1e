"""`read_file`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from duologue.coder.errors import ToolError
from duologue.coder.events import Location
from duologue.coder.limits import CoderLimits
from duologue.coder.texts import plain, shorten
from duologue.coder.tools.base import CALL_TITLE_CHARACTERS, Arguments, Context, Outcome, Plan, tool
from duologue.local.lines import lines_of
from duologue.local.workspace import Place


class ReadFile(Arguments, frozen=True):
    path: Annotated[str, Meta(description="File to read, relative to the working folder or absolute.")]
    line: Annotated[int, Meta(ge=1, description="First line to read, counted from 1.")] | None = None
    limit: Annotated[int, Meta(ge=0, description="How many lines to read at most.")] | None = None


@tool("read_file", "Read a text file, or some of its lines.", "read", ReadFile)
async def read_file(arguments: ReadFile, context: Context) -> Plan:
    place = context.workspace.resolve(arguments.path)

    async def perform(call: str) -> Outcome:
        try:
            text = plain(await context.files.read_text(place.shown))
        except FileNotFoundError:
            raise ToolError(f"{place.name}: there is no such file") from None
        return excerpt(place, text, arguments, context.limits)

    title = shorten(f"Read {place.name}", CALL_TITLE_CHARACTERS)
    return Plan(title, None, perform, locations=(Location(place.shown, arguments.line),))


def excerpt(place: Place, text: str, arguments: ReadFile, limits: CoderLimits) -> Outcome:
    """The lines that were asked for, as far as the limits go; past the end there are none."""
    lines = lines_of(text)
    first = arguments.line or 1
    most = limits.read_lines if arguments.limit is None else min(arguments.limit, limits.read_lines)
    part = "".join(lines[first - 1 : first - 1 + most])
    cut = len(part) > limits.read_characters
    part = part[: limits.read_characters]
    last = first - 1 + len(lines_of(part))
    truncated = cut or last < len(lines)
    data = {"path": place.name, "text": part, "line": first, "total_lines": len(lines), "truncated": truncated}
    return Outcome(part + _notice(first, last, len(lines), cut), data, shown=part)


def _notice(first: int, last: int, total: int, cut: bool) -> str:
    if cut:
        return f"\n[cut off in line {last} of {total}: too many characters for one call]"
    if last < first:
        return f"[no lines from {first} on; the file has {total}]" if total else "[the file is empty]"
    return "" if last >= total else f"\n[lines {first} to {last} of {total}; go on with line={last + 1}]"
