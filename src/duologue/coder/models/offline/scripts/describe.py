"""What a project does, from its README, its metadata and its layout."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from duologue.coder.models.offline.parsing import tree_of
from duologue.coder.models.offline.scripts.outline import UNDERLINE, opening, prose_of
from duologue.coder.models.offline.turn import Turn
from duologue.coder.texts import shorten

_NAMES_OF_LANGUAGES = """
    py:Python js:JavaScript ts:TypeScript tsx:TypeScript rs:Rust go:Go java:Java c:C h:C cpp:C++ rb:Ruby php:PHP
    sh:shell md:Markdown html:HTML css:CSS
"""
#: Lines of a README that say nothing: images, links, HTML, and what reStructuredText has for them.
_MARKUP = re.compile(r"\s*(\[!|!\[|<|\.\. |\[[^\]]+\]:\s|(\|[^|]+\|_{0,2}\s*)+$|:[\w-]+:(\s|$))")
_LANGUAGES = dict(pair.split(":") for pair in _NAMES_OF_LANGUAGES.split())

#: What the readers of JSON and TOML raise.
_UNREADABLE = (ValueError, RecursionError)


async def describe(turn: Turn) -> None:
    """Say what is known about the project without reading all of it."""
    files = await turn.files()
    if not files:
        await turn.say("The project is empty.\n")
        return
    readme = next((path for path in files if re.fullmatch(r"readme(\.\w+)?", path, re.IGNORECASE)), None)
    parts = [_from_readme(await turn.read(readme))] if readme else ["There is no README.\n"]
    for path, reader in _METADATA.items():
        if path in files:
            parts.append(reader(await turn.read(path)))
    parts.append(_layout(files))
    for part in parts:
        if part:
            await turn.say(part + "\n")
    await _main_modules(turn, files)


def _from_readme(text: str) -> str:
    lines = _headed([line for line in prose_of(text).splitlines() if not _MARKUP.match(line)])
    title = next((line.lstrip("# ").strip() for line in lines if line.strip()), "")
    body = "\n".join(line for line in lines if not line.startswith("#"))
    paragraphs = [shorten(part, 500) for part in body.split("\n\n") if part.strip() and part.strip() != title]
    return f"**{title}**\n\n" + "\n\n".join(paragraphs[:2]) + "\n"


def _headed(lines: Sequence[str]) -> list[str]:
    """The lines with each heading as Markdown writes it."""
    found: list[str] = []
    for line in lines:
        if not UNDERLINE.fullmatch(line):
            found.append(line)
        elif found and found[-1].strip():
            found[-1] = f"# {found[-1]}"
    return found


def _from_pyproject(text: str) -> str:
    try:
        project = _table(tomllib.loads(text), "project")
    except _UNREADABLE as error:
        return f"pyproject.toml does not parse: {error}.\n"
    lines = []
    if project.get("name"):
        lines.append(f"A Python project named `{project['name']}`: {project.get('description', 'no description')}")
    dependencies = project.get("dependencies")
    if dependencies and isinstance(dependencies, list):
        lines.append("It depends on " + ", ".join(f"`{name}`" for name in dependencies[:12]) + ".")
    if scripts := _table(project, "scripts"):
        lines.append("Commands: " + ", ".join(f"`{name}` ({at})" for name, at in list(scripts.items())[:8]) + ".")
    return "\n".join(lines) + "\n" if lines else ""


def _from_package_json(text: str) -> str:
    try:
        package = json.loads(text)
    except _UNREADABLE as error:
        return f"package.json does not parse: {error}.\n"
    if not isinstance(package, dict):
        return "package.json holds no object.\n"
    scripts = ", ".join(f"`{name}`" for name in _table(package, "scripts"))
    return (
        f"A JavaScript package named `{package.get('name', '?')}`: {package.get('description', 'no description')}\n"
        + (f"Scripts: {scripts}.\n" if scripts else "")
    )


def _from_cargo(text: str) -> str:
    try:
        package = _table(tomllib.loads(text), "package")
    except _UNREADABLE as error:
        return f"Cargo.toml does not parse: {error}.\n"
    return f"A Rust crate named `{package.get('name', '?')}`: {package.get('description', 'no description')}\n"


def _table(values: dict[str, Any], name: str) -> dict[str, Any]:
    """The table of that name; an empty one where there is none, be it that something else has the name."""
    value = values.get(name)
    return value if isinstance(value, dict) else {}


_METADATA = {"pyproject.toml": _from_pyproject, "package.json": _from_package_json, "Cargo.toml": _from_cargo}


def _layout(files: Sequence[str]) -> str:
    languages = Counter(_LANGUAGES.get(path.rsplit(".", 1)[-1], "") for path in files)
    known = ", ".join(f"{count} {name}" for name, count in languages.most_common() if name)
    folders = Counter(path.split("/", 1)[0] + "/" for path in files if "/" in path)
    tops = [path for path in files if "/" not in path]
    lines = [f"{len(files)} file{'s' if len(files) != 1 else ''}{f' ({known})' if known else ''}:\n"]
    lines += [f"- {name} ({count} file{'s' if count != 1 else ''})" for name, count in folders.most_common(12)]
    lines += [f"- {', '.join(tops[:12])}"] if tops else []
    return "\n".join(lines) + "\n"


async def _main_modules(turn: Turn, files: Sequence[str]) -> None:
    modules = [
        path
        for path in files
        if path.endswith(".py") and not re.search(r"(^|/)(tests?/|test_|conftest|setup\.py|docs?/)", path)
    ]
    modules.sort(key=lambda path: (path.count("/"), path))
    texts = await turn.read_all(modules[:8])
    said = [f"- {path}: {words}" for path, text in texts.items() if (words := _module_words(text))]
    if said:
        await turn.say("Main modules:\n\n" + "\n".join(said) + "\n")


def _module_words(text: str) -> str:
    tree = tree_of(text)
    words = None if tree is None else ast.get_docstring(tree)
    return shorten(opening(words), 160) if words else ""
