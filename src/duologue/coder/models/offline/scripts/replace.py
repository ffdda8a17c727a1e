"""Replace a text, or rename an identifier, over the whole project: read, plan, then edit file by file."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass

from duologue.coder.models.base import ToolResult
from duologue.coder.models.offline.intents.steps import Rename, Replace
from duologue.coder.models.offline.scripts.hunks import change_of
from duologue.coder.models.offline.scripts.lookup import scope
from duologue.coder.models.offline.scripts.renaming import rename_in, uses
from duologue.coder.models.offline.scripts.sound import must_compile
from duologue.coder.models.offline.turn import Turn, TurnStopped, is_refused, why_not
from duologue.local.lines import lines_of

SHOWN = 30
BATCH = 20


@dataclass(frozen=True, slots=True)
class _Change:
    path: str
    old: str
    new: str
    count: int


async def replace(turn: Turn, step: Replace) -> None:
    """Replace exact text."""
    if not step.old.strip("\n"):
        raise TurnStopped('I need the text to replace: “replace "old" with "new"”.')
    paths = await _files_with(turn, step.old, step.where)
    changes = []
    for path, text in (await turn.read_all(paths)).items():
        new = _without(text, step.old) if not step.new else text.replace(step.old, step.new)
        changes.append(_Change(path, text, new, text.count(step.old)))
    await _apply(
        turn, f"Replace `{step.old}` with `{step.new}`", [change for change in changes if change.old != change.new]
    )


def _without(text: str, old: str) -> str:
    """Drop a text; a line that held nothing else goes with it."""
    lines = [(line, line.replace(old, "")) for line in lines_of(text)]
    new = "".join(after for before, after in lines if before == after or after.strip())
    return new.replace(old, "")


async def rename(turn: Turn, step: Rename) -> None:
    """Rename an identifier: Python by tokens, prose by whole words where it is clearly meant."""
    old, new = step.old, step.new
    _check_names(old, new)
    paths = await _files_with(turn, old, step.where)
    changes, left = [], 0
    for path, text in (await turn.read_all(paths)).items():
        if path.endswith(".py") and uses(text, new):
            raise TurnStopped(
                f"`{new}` is already used in {path}; renaming `{old}` to it would mix two meanings. "
                "Choose another name."
            )
        try:
            renamed = rename_in(path, text, old, new)
        except ValueError as error:
            raise TurnStopped(f"I cannot rename in {path}: {error}") from error
        left += renamed.left
        if renamed.changed:
            changes.append(_Change(path, text, renamed.text, renamed.changed))
    await _apply(turn, f"Rename `{old}` to `{new}`", changes)
    if left and changes:
        await turn.say(
            f"I left {left} mention{'s' if left != 1 else ''} in strings or prose alone, "
            f"where `{old}` may be an ordinary word.\n"
        )


def _check_names(old: str, new: str) -> None:
    if not old:
        raise TurnStopped("I do not know what to rename: “rename `old_name` to `new_name`”.")
    for name in (old, new):
        if not name.isidentifier() or keyword.iskeyword(name):
            raise TurnStopped(
                f'`{name}` is not an identifier. To change any other text, say “replace "{old}" with "{new}"”.'
            )


async def _files_with(turn: Turn, text: str, where: str | None) -> list[str]:
    allowed = await scope(turn, where)
    found = await _paths_with(turn, _searched(text), ".")
    if allowed is not None:
        found &= set(allowed)
    if not found:
        raise TurnStopped(
            f"`{text}` occurs nowhere{f' in {where}' if where else ' in this project'}, so there is nothing to change."
        )
    return sorted(found)


def _searched(text: str) -> str:
    """What to search for: a line of the text with more than white space, as far as there is one."""
    lines = text.strip("\n").split("\n")
    return next((line.strip() for line in lines if line.strip()), lines[0])


async def _paths_with(turn: Turn, text: str, folder: str) -> set[str]:
    """Files that hold a text; a search that is cut short is made again for each part of the folder."""
    data = await turn.need("search", pattern=text, path=folder, limit=200)
    found = {str(match["path"]) for match in data["matches"]}
    if not data["truncated"] or folder in found:
        return found
    prefix = "" if folder == "." else folder + "/"
    parts = {prefix + path[len(prefix) :].split("/")[0] for path in await turn.files() if path.startswith(prefix)}
    for part in sorted(parts):
        found |= await _paths_with(turn, text, part)
    return found


async def _apply(turn: Turn, title: str, changes: Sequence[_Change]) -> None:
    total = sum(change.count for change in changes)
    if not changes:
        raise TurnStopped(f"{title}: there is nothing to change.")
    for change in changes:
        must_compile(change.path, change.old, change.new)
    lines = [
        f"{title}: {total} place{'s' if total != 1 else ''} in {len(changes)} file{'s' if len(changes) != 1 else ''}.\n"
    ]
    lines += [f"- {change.path}: {change.count}" for change in changes[:SHOWN]]
    await turn.say("\n".join(lines) + "\n\n")
    for start in range(0, len(changes), BATCH):
        await _edit(turn, changes, start)
    await turn.say(f"Done: {total} place{'s' if total != 1 else ''} changed.\n")


async def _edit(turn: Turn, changes: Sequence[_Change], start: int) -> None:
    batch = changes[start : start + BATCH]
    calls = [change_of(change.path, change.old, change.new) for change in batch]
    results = await turn.calls(*calls)
    failed = next((result for result in results if not result.ok), None)
    if failed is not None:
        made = [change for change, result in zip(batch, results, strict=True) if result.ok]
        left = [change for change in changes[start:] if change not in made]
        raise TurnStopped(f"{why_not('edit_file', failed)}{_so_far(turn, [*changes[:start], *made], left, failed)}")


def _so_far(turn: Turn, made: Sequence[_Change], left: Sequence[_Change], failed: ToolResult) -> str:
    """What is changed and what is not, after a change that was refused or failed."""
    # After a refusal the whole turn says what stays.
    refused = is_refused(failed)
    if not made:
        return "" if refused else f" Not changed: {_names(left)}."
    back = " “undo” takes that back." if turn.can_undo and not refused else ""
    return f" Changed: {_names(made)}.{back} Not changed: {_names(left)}."


def _names(changes: Sequence[_Change]) -> str:
    more = len(changes) - SHOWN
    return ", ".join(change.path for change in changes[:SHOWN]) + (f" and {more} more" if more > 0 else "")
