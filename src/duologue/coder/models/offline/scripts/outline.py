"""An outline of a file: what a reader wants to know before reading it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from duologue.coder.models.offline.parsing import UNPARSED, source_of, tree_of
from duologue.coder.texts import shorten
from duologue.local.lines import lines_of

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_HEADINGS = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_SECTION = re.compile(r"^\[+([^\]]+)\]+\s*$")
_CODE = re.compile(
    r"^\s*(?:export\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|protected\s+|static\s+|async\s+|default\s+|abstract\s+)*"
    r"((?:function|class|interface|struct|enum|trait|impl|func|fn|type|module|namespace|def)\s+[\w.<>:*]+[^{;\n]*)"
)
#: What stands below a heading in reStructuredText.
UNDERLINE = re.compile(r"\s*([=~^*#\"'`+.:_-])\1{2,}\s*")
MOST = 60


def outline(path: str, text: str) -> str:
    """A Markdown outline that fits the kind of the file."""
    count = len(lines_of(text))
    head = f"**{path}**: {count} line{'s' if count != 1 else ''}, {len(text.encode())} bytes.\n"
    if path.endswith((".py", ".pyi")):
        return head + _python(text)
    if path.endswith((".md", ".markdown", ".rst", ".txt")):
        return head + _prose(text)
    if path.endswith(".json"):
        return head + _json(text)
    return head + _sections(text)


def definition(path: str, node: Definition) -> str:
    """One function or class: where it is, its signature, its words, and what it calls."""
    lines = [f"{path}:{node.lineno}: `{signature(node)}`\n"]
    words = ast.get_docstring(node)
    lines.append(f"{words}\n" if words else "It has no docstring.\n")
    if isinstance(node, ast.ClassDef):
        lines += [
            f"- line {item.lineno}: `{signature(item)}`{_words(item)}"
            for item in node.body
            if isinstance(item, Definition)
        ]
        return "\n".join(lines) + "\n"
    calls = sorted({source_of(item.func) for item in ast.walk(node) if isinstance(item, ast.Call)})
    if calls:
        lines.append("It calls " + ", ".join(f"`{shorten(call, 40)}`" for call in calls[:12]) + ".\n")
    return "\n".join(lines) + "\n"


def signature(node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(source_of(base) for base in node.bases)
        return f"class {node.name}({bases})" if bases else f"class {node.name}"
    returns = f" -> {source_of(node.returns)}" if node.returns else ""
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{word} {node.name}({source_of(node.args)}){returns}"


def _words(node: Definition) -> str:
    words = ast.get_docstring(node)
    return f": {shorten(opening(words), 120)}" if words else ""


def _python(text: str) -> str:
    try:
        tree = ast.parse(text)
    except UNPARSED as error:
        return f"\nIt does not parse as Python: {error}.\n"
    words = ast.get_docstring(tree)
    lines = ["", shorten(prose_of(words), 400), ""] if words else [""]
    imports = list(_imports(tree))
    if imports:
        lines += ["Imports: " + ", ".join(f"`{name}`" for name in imports) + ".", ""]
    lines += list(_definitions(tree))[:MOST] or ["It defines no function, class or constant."]
    return "\n".join(lines) + "\n"


def in_short(path: str, text: str) -> str:
    """One line of a list: a module, its first words and what it defines."""
    tree = tree_of(text)
    if tree is None:
        return f"- {path}: does not parse as Python\n"
    words = ast.get_docstring(tree)
    names = [f"`{node.name}`" for node in tree.body if isinstance(node, Definition)]
    parts = [shorten(opening(words), 120)] if words else []
    if names:
        parts.append(", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else ""))
    return f"- {path}: {' — '.join(parts) or 'defines nothing'}\n"


def _imports(tree: ast.Module) -> Iterator[str]:
    seen = dict.fromkeys(name for node in ast.walk(tree) for name in _imported(node))
    yield from seen


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=module, level=level):
            return ["." * level + (module or "")]
        case _:
            return []


def _definitions(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.ClassDef():
                yield f"- line {node.lineno}: `{signature(node)}`{_words(node)}"
                for item in node.body:
                    if isinstance(item, Definition):
                        yield f"  - line {item.lineno}: `{signature(item)}`{_words(item)}"
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield f"- line {node.lineno}: `{signature(node)}`{_words(node)}"
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield f"- line {node.lineno}: `{name}`, a module variable"


def _prose(text: str) -> str:
    headings = [match for line in _outside_fences(text) if (match := _HEADINGS.match(line))]
    if headings:
        return "\n" + "\n".join(f"{'  ' * (len(match[1]) - 1)}- {match[2]}" for match in headings[:MOST]) + "\n"
    paragraph = next((part for part in prose_of(text).split("\n\n") if part.strip()), "")
    return f"\nIt begins: {shorten(paragraph, 300)}\n" if paragraph else "\nIt is empty.\n"


def opening(text: str) -> str:
    """The first paragraph, or the next one where that is no more than a heading."""
    parts = [part for part in text.split("\n\n") if part.strip()]
    said = (part for part in parts if not any(UNDERLINE.fullmatch(line) for line in part.splitlines()))
    return next(said, parts[0] if parts else "")


def prose_of(text: str) -> str:
    """A text without its code blocks, which do not fit on one line."""
    return "\n".join(_outside_fences(text))


def _outside_fences(text: str) -> Iterator[str]:
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            yield line


def _json(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"\nIt is not valid JSON: {error}.\n"
    if isinstance(value, dict):
        return "\nAn object with " + ", ".join(f"`{key}`" for key in list(value)[:30]) + ".\n"
    return f"\nA list of {len(value)} items.\n" if isinstance(value, list) else "\nA single value.\n"


def _sections(text: str) -> str:
    found = [
        f"- line {number}: `{shorten(match[1], 120)}`"
        for number, line in enumerate(text.split("\n"), 1)
        if (match := _SECTION.match(line) or _CODE.match(line))
    ]
    if not found:
        return f"\nIt begins: {shorten(text, 300)}\n" if text.strip() else "\nIt is empty.\n"
    return "\n" + "\n".join(found[:MOST]) + "\n"
