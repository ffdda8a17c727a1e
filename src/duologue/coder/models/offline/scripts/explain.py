"""Show a file, or explain a file or one definition of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from duologue.coder.models.offline.intents.steps import Find, Show
from duologue.coder.models.offline.parsing import tree_of
from duologue.coder.models.offline.scripts import outline
from duologue.coder.models.offline.scripts.commands import fenced
from duologue.coder.models.offline.scripts.find import find
from duologue.coder.models.offline.scripts.lookup import inside, matching, one_file
from duologue.coder.models.offline.turn import Turn, TurnStopped
from duologue.local.lines import lines_of

SHOWN_LINES = 120
SHOWN_MODULES = 40


async def show(turn: Turn, step: Show) -> None:
    """Show a file or some lines of it."""
    path = await one_file(turn, step.path)
    first = step.first or 1
    limit = min((step.last or first + SHOWN_LINES - 1) - first + 1, 400)
    data = await turn.need("read_file", path=path, line=first, limit=max(limit, 1))
    lines = lines_of(str(data["text"]))
    language = "python" if path.endswith(".py") else ""
    if not lines:
        await turn.say(f"{path} has {data['total_lines']} lines; there is nothing to show from line {first} on.\n")
        return
    rest = data["total_lines"] - (first + len(lines) - 1)
    more = f"\n… {rest} more lines of {path}.\n" if rest > 0 and step.last is None else ""
    await turn.say(
        f"{path}, lines {first}-{first + len(lines) - 1} of {data['total_lines']}:\n\n"
        + fenced("".join(lines).removesuffix("\n"), language)
        + more
    )


async def explain(turn: Turn, wanted: str) -> None:
    """Outline the file that is meant, or else the function or class of that name."""
    files = await turn.files()
    modules = _modules(files, wanted)
    if modules:
        await _explain_package(turn, wanted, modules)
        return
    if matching(files, wanted) or "/" in wanted:
        path = await one_file(turn, wanted)
        await turn.say(outline.outline(path, await turn.read(path)))
        return
    await _explain_definition(turn, wanted.removesuffix("()").rsplit(".", 1)[-1], wanted)


def _modules(files: Sequence[str], wanted: str) -> list[str]:
    """The Python modules of a folder, which may be named as a package is."""
    folder = wanted if "/" in wanted or wanted in files else wanted.replace(".", "/")
    return [path for path in inside(files, folder) if path.endswith(".py")] if folder not in files else []


async def _explain_package(turn: Turn, wanted: str, modules: Sequence[str]) -> None:
    count = len(modules)
    await turn.say(f"**{wanted.rstrip('/')}**: {count} Python module{'s' if count != 1 else ''}.\n\n")
    texts = await turn.read_all(modules[:SHOWN_MODULES])
    await turn.say("".join(outline.in_short(path, text) for path, text in texts.items()))
    if count > SHOWN_MODULES:
        await turn.say(f"- … and {count - SHOWN_MODULES} more\n")


async def _explain_definition(turn: Turn, name: str, wanted: str) -> None:
    if not name.isidentifier():
        await one_file(turn, wanted)
    data = await turn.need(
        "search", pattern=rf"^\s*(async\s+def|def|class)\s+{name}\b", regex=True, glob="*.py", limit=20
    )
    if not data["matches"]:
        if "." in wanted:
            await one_file(turn, wanted)
        found = await turn.need("search", pattern=rf"^\s*{name}\s*(:[^=]+)?=([^=]|$)", regex=True, limit=20)
        if found["matches"]:
            await find(turn, Find(name, definition=True))
            return
        raise TurnStopped(f"There is neither a file nor a Python function or class named `{wanted}` in this project.")
    for match in data["matches"][:3]:
        node = _node_at(await turn.read(match["path"]), match["line"])
        if node is not None:
            await turn.say(outline.definition(match["path"], node))
    await find(turn, Find(name))


def _node_at(text: str, line: int) -> outline.Definition | None:
    tree = tree_of(text)
    if tree is None:
        return None
    nodes = (node for node in ast.walk(tree) if isinstance(node, outline.Definition))
    return next((node for node in nodes if node.lineno == line), None)
