"""Find text, definitions and files."""

from __future__ import annotations

import re
from typing import Any

from duologue.coder.models.offline.intents.steps import Find
from duologue.coder.models.offline.scripts.lookup import common, inside, matching, scope
from duologue.coder.models.offline.turn import Turn
from duologue.coder.texts import shorten

SHOWN = 40
#: The search itself shows every place, so the answer names only the first.
SHOWN_PLACES = 5


async def find(turn: Turn, step: Find) -> None:
    """Search and show the places, grouped by file."""
    where = await scope(turn, step.where)
    matches, truncated = await _matches(turn, step, where)
    if not matches and not step.regex:
        matches, truncated = await _matches(turn, step, where, ignore_case=True)
    if not matches:
        place = f"in {step.where}" if step.where else "in the project"
        seen = ", as far as I have looked: there are very many places elsewhere" if truncated else ""
        await turn.say(f"`{step.text}` occurs nowhere {place}{seen}.\n")
        return
    await turn.say(_shown(step, matches, truncated))


async def _matches(
    turn: Turn, step: Find, where: list[str] | None, *, ignore_case: bool = False
) -> tuple[list[dict[str, Any]], bool]:
    pattern, regex = step.text, step.regex
    if step.definition:
        name = re.escape(step.text.removesuffix("()"))
        pattern, regex = (
            rf"\b(def|class|func|function|fn|struct|const|let|var|type|interface)\s+{name}\b|^\s*{name}\s*[:=]",
            True,
        )
    # Not the whole project: places elsewhere would use the limit up.
    arguments: dict[str, Any] = {"pattern": pattern, "regex": regex, "limit": 200, "path": common(where)}
    if ignore_case:
        arguments["ignore_case"] = True
    data = await turn.need("search", **arguments)
    allowed = None if where is None else set(where)
    found = [match for match in data["matches"] if allowed is None or match["path"] in allowed]
    if step.definition and not found:
        return await _matches(turn, Find(step.text, step.where), where, ignore_case=ignore_case)
    return found, bool(data["truncated"])


def _shown(step: Find, matches: list[dict[str, Any]], truncated: bool) -> str:
    paths = list(dict.fromkeys(match["path"] for match in matches))
    places = (
        f"{len(matches)} place{'s' if len(matches) != 1 else ''} in {len(paths)} file{'s' if len(paths) != 1 else ''}"
    )
    lines = [f"`{step.text}`: {places}{' (there are more)' if truncated else ''}.\n"]
    for match in matches[:SHOWN_PLACES]:
        lines.append(f"- {match['path']}:{match['line']}: `{shorten(match['text'], 140)}`")
    if len(matches) > SHOWN_PLACES:
        lines.append(f"- … and {len(matches) - SHOWN_PLACES} more, in the result of the search")
    return "\n".join(lines) + "\n"


async def find_files(turn: Turn, pattern: str) -> None:
    """Show the files whose name fits."""
    files = await turn.files()
    found = matching(files, pattern) or [path for path in files if pattern.strip("*").lower() in path.lower()]
    if not found:
        await turn.say(f"No file fits `{pattern}`.\n")
        return
    await turn.say(f"{len(found)} file{'s fit' if len(found) != 1 else ' fits'} `{pattern}`:\n\n{_listing(found)}")


async def list_files(turn: Turn, where: str | None) -> None:
    """Show the project's files, or those of one folder."""
    files = list(await turn.files())
    found = files if where is None else inside(files, where) or matching(files, where)
    if not found:
        await turn.say(f"There are no files{f' in `{where}`' if where else ''}.\n")
        return
    await turn.say(
        f"{len(found)} file{'s' if len(found) != 1 else ''}{f' in `{where}`' if where else ''}:\n\n{_listing(found)}"
    )


def _listing(found: list[str]) -> str:
    lines = [f"- {path}" for path in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"- … and {len(found) - SHOWN} more")
    return "\n".join(lines) + "\n"
