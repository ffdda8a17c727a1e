"""What stands in code in the documentation exists: names, files, targets of make, and the doors of the plan."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest
from doc_pages import ROOT, text_of

SOURCE = ROOT / "src" / "duologue"
#: Written by programs, and about programs of others.
OF_OTHERS = {"coverage.md", "peers.md"}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "bench/README.md")),
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in OF_OTHERS),
]
#: Words in code that are not the program's, by page, and whose they are.
NOT_OURS = {
    "README.md": {"externally-managed-environment": "pip", ".jetbrains/acp.json": "JetBrains"},
    "CONTRIBUTING.md": {"reduce.py": "stands beside what the sentence is about"},
    "bench/README.md": {".bench/": "what a run installs"},
    "docs/agent.md": {"my_agent": "the reader", "basicConfig": "logging"},
    "docs/architecture.md": {"type_info": "msgspec", "xllamacpp": "a package that is not used yet"},
    "docs/cli.md": {"SERVER__": "the user", "GITHUB_TOKEN": "a server of the user"},
    "docs/mcp.md": {"server__": "the user"},
    "docs/testing.md": {"conftest.py": "the reader"},
}
WORD = re.compile(r"[A-Za-z_]\w*")
#: A word in capitals is to be filled in.
TO_FILL_IN = re.compile(r"[A-Z]+")
#: A file has a known ending, a folder a slash.
FILE = re.compile(r"[\w.-]+(/[\w.-]+)*(\.py|\.md|/)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def in_code(text: str) -> list[str]:
    """What stands between backticks, outside of fenced blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def unknown(page: str, text: str) -> list[str]:
    """Code of a page in which a word stands that no file of ours has."""
    wrong = []
    for code in in_code(text):
        ours = code
        for name in NOT_OURS.get(page, ()):
            ours = ours.replace(name, "")
        found = [word for word in WORD.findall(ours) if not TO_FILL_IN.fullmatch(word)]
        wrong += [f"`{code}`: {word}" for word in found if word not in words()]
    return wrong


@cache
def words() -> frozenset[str]:
    """Every word of the programs of this project, and of the names of its files. A fault is called by its class."""
    tops = [ROOT / top for top in ("src", "bench", "examples", "scripts", ".ci")]
    files = [path for top in tops for path in top.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    tests = [path for path in (ROOT / "tests").rglob("*") if "__pycache__" not in path.parts]
    texts = [path.read_text("utf-8", "replace") for path in [*files, ROOT / "Makefile", ROOT / "pyproject.toml"]]
    texts += [path.relative_to(ROOT).as_posix() for path in [*files, *tests]]
    found = {word for text in texts for word in WORD.findall(text)}
    return frozenset(found | {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).lower() for word in found})


# The names of the package that a program comes from stand in docs/migration.md; test_docs_migration.py looks at ours.
@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "migration.md"], ids=name_of)
def test_each_word_in_code_is_one_of_the_program(page: Path) -> None:
    wrong = unknown(name_of(page), page.read_text("utf-8"))
    assert not wrong, "these are not in the program (any more):\n" + "\n".join(wrong)


def test_a_name_that_is_gone_is_seen() -> None:
    text = "`Peer.request` is there\n```python\nno_" + "such_function()\n```\n`Peer.no_" + "such_method()` is not"
    assert unknown("page.md", text) == ["`Peer.no_" + "such_method()`: no_" + "such_method"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_each_file_in_code_exists(page: Path) -> None:
    paths = {code for code in in_code(page.read_text("utf-8")) if FILE.fullmatch(code)}
    places = (ROOT, SOURCE, SOURCE / "protocol", page.parent)
    missing = {path for path in paths if not any((place / path).exists() for place in places)}
    assert missing <= NOT_OURS.get(name_of(page), {}).keys()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_each_target_of_make_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    told = set(re.findall(r"(?:`|^\$ )make ([a-z][a-z-]*)", text, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    assert told <= targets


# --- The doors of the plan --------------------------------------------------------------------------------------------


def doors() -> list[tuple[str, str, str]]:
    """Room, name and what stands in its brackets, for each name that the plan says a room offers."""
    section = text_of("docs/architecture.md").split("\n## What a room offers")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| ") and "`" in line]
    found = []
    for rooms, offered in rows:
        for code in in_code(offered):
            name, _, rest = code.partition("(")
            found += [(room.strip(), name, rest.rstrip(")")) for room in rooms.split(",")]
    return found


@cache
def members(room: str) -> dict[str, object]:
    """All that a room and its modules have, by name; what a module defines goes before what it imports."""
    package = importlib.import_module(f"duologue.{room.replace('/', '.')}")
    found: dict[str, object] = {}
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        own = {name: value for name, value in vars(module).items() if getattr(value, "__module__", "") == info.name}
        found = {**vars(module), **found, **own, info.name.removeprefix(f"{package.__name__}."): module}
    return {**found, **vars(package)}


@pytest.mark.parametrize(("room", "name", "brackets"), doors())
def test_a_room_has_the_doors_of_the_plan(room: str, name: str, brackets: str) -> None:
    owner, _, member = name.partition(".")
    have = members(room)
    assert owner in have or name in have, f"{room} has no {name}"
    value = have[name] if name in have else getattr(have[owner], member) if member else have[owner]
    told = set(re.findall(r"\w+", brackets))
    if told:
        assert told <= inspect.signature(value).parameters.keys()  # type: ignore[arg-type]
