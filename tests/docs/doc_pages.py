"""The pages of the documentation as programs: the Python blocks of a page, one after the other, are one module."""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

#: Pages whose blocks build on each other. The README's are whole files of `examples`.
PAGES = ("agent", "client", "mcp", "migration", "nes", "providers", "testing", "transports")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def module_text(page: str) -> str:
    """The page as a module, with empty lines so that each line keeps its number."""
    lines, inside = [], False
    for line in text_of(f"docs/{page}.md").splitlines():
        if line.startswith("```"):
            inside = line == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines) + "\n"


@cache
def load(page: str, folder: Path) -> ModuleType:
    """Run the blocks of a page as the module `page_NAME`, written to `folder`."""
    path = folder / f"page_{page}.py"
    path.write_text(module_text(page), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table_rows(text: str) -> list[list[str]]:
    """The cells of each row of each table whose first cell is code."""
    rows = [re.split(r"(?<!\\)\|", line.strip("|\n ")) for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row] for row in rows]
