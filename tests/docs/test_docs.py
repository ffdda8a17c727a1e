"""What the documentation says in code and in tables holds."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from doc_pages import EXAMPLES, PAGES, ROOT, blocks, module_text, table_rows, text_of

import duologue
from duologue.protocol import v2
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.v2 import updates
from duologue.session import Message, TerminalState, ToolCallState
from duologue.session.shelf import Kept

UNITS = {"KiB": 1024, "MiB": 1024 * 1024}


# --- Code ------------------------------------------------------------------------------------------------------------


def test_every_page_with_python_is_tested() -> None:
    found = {path.stem for path in (ROOT / "docs").glob("*.md") if blocks(path.read_text("utf-8"), "python")}
    assert found == set(PAGES), "add the page to PAGES, and say in test_docs_pages.py what its code does"


def test_the_first_page_shows_the_examples_word_for_word() -> None:
    shown = blocks(text_of("README.md"), "python")
    assert shown == [(EXAMPLES / name).read_text("utf-8") for name in ("agent.py", "client.py")]


def test_python_in_the_documentation_has_the_right_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    for page in PAGES:
        (tmp_path / f"page_{page}.py").write_text(module_text(page), encoding="utf-8")
    files = [*sorted(tmp_path.glob("page_*.py")), *sorted(EXAMPLES.glob("*.py"))]
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_python_in_the_documentation_is_formatted(tmp_path: Path) -> None:
    pytest.importorskip("ruff")
    for page in ["../README", *PAGES]:
        for number, block in enumerate(blocks(text_of(f"docs/{page}.md"), "python")):
            (tmp_path / f"{Path(page).stem}_{number}.py").write_text(block, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--check",
        "--config",
        str(ROOT / "pyproject.toml"),
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_settings_in_the_documentation_are_well_formed() -> None:
    import json
    import tomllib

    text = text_of("README.md")
    for block in blocks(text, "json"):
        (server,) = json.loads(block)["agent_servers"].values()
        assert server["args"] == ["agent"]
    (config,) = blocks(text, "toml")
    assert tomllib.loads(config)["providers"]


def test_the_config_file_of_the_first_page_is_understood(tmp_path: Path) -> None:
    from duologue.coder.models.config import read_config
    from duologue.coder.models.registry import available_models

    path = tmp_path / "config.toml"
    path.write_text(blocks(text_of("README.md"), "toml")[0], encoding="utf-8")
    environment = {"DUOLOGUE_CONFIG": str(path), "ANTHROPIC_API_KEY": "key"}
    assert read_config(environment).warnings == ()
    offered = [choice.spec for choice in available_models(None, environment)]
    assert offered == ["home:qwen3", "anthropic:claude-sonnet-4-5", "offline"]


# --- Names -----------------------------------------------------------------------------------------------------------


def names_in_text() -> list[str]:
    """Every dotted name of ours that stands in code in the documentation."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = {name for path in pages for name in re.findall(r"`(duologue(?:\.\w+)+)", path.read_text("utf-8"))}
    return sorted(found)


@pytest.mark.parametrize("name", names_in_text())
def test_a_name_in_the_documentation_exists(name: str) -> None:
    assert resolve(name) is not None


def resolve(name: str) -> object:
    """A module, or a member of one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            value = getattr(value, part)
        return value
    raise LookupError(name)


def test_members_to_override_are_those_of_the_class() -> None:
    section = text_of("docs/agent.md").split("## What to override")[1].split("\n## ")[0]
    told = set(re.findall(r"`(\w+)[`(]", " ".join(row[0] for row in table_rows(section))))
    members = {name for name in vars(duologue.Agent) if not name.startswith("_")}
    assert told == members


def test_every_event_is_told_with_its_members() -> None:
    section = text_of("docs/client.md").split("\n## A turn")[1].split("\n## ")[0]
    told = {row[0].strip("`"): {*re.findall(r"`(\w+)`", row[2])} for row in table_rows(section)}
    (union, *_) = get_args(updates.SessionUpdate)
    members = {event.__name__: {*event.__struct_fields__} - {"meta"} for event in get_args(union)}
    assert told == members
    assert all(hasattr(v2, name) for name in told)


def test_every_member_of_an_entry_of_a_transcript_is_told() -> None:
    told: dict[str, set[str]] = {}
    entry = ""
    for line in text_of("docs/client.md").split("\n| in a transcript")[1].split("\n\n")[0].splitlines()[2:]:
        _, first, names, *_ = line.split("|")
        entry = first.strip(" `") or entry
        told.setdefault(entry, set()).update(re.findall(r"`(\w+)[`(]", names))
    classes = (Message, ToolCallState, TerminalState)
    # What folds updates in and gives them out is for transcripts.
    inner = {"add", "replace", "patch", "write", "updates", *(name for name in dir(Kept) if not name.startswith("_"))}
    members = {each.__name__: {name for name in dir(each) if not name.startswith("_")} - inner for each in classes}
    assert told == members


# --- Limits and errors -----------------------------------------------------------------------------------------------


def value_of(text: str) -> object:
    """A default as the page writes it."""
    if text == "none":
        return None
    number, _, unit = text.partition(" ")
    return float(number) * UNITS.get(unit, 1)


def limit_sections() -> dict[str, dict[str, object]]:
    found = {}
    for section in text_of("docs/limits.md").split("\n## ")[1:]:
        heading = section.splitlines()[0]
        home = re.search(r"`([\w.]+)`", heading)
        found[home[1] if home else heading] = {row[0].strip("`"): value_of(row[1]) for row in table_rows(section)}
    return found


def defaults(home: str) -> dict[str, object]:
    parameters = inspect.signature(resolve(home)).parameters.values()  # type: ignore[arg-type]
    return {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}


HOMES = [home for home in limit_sections() if "." in home]


@pytest.mark.parametrize("home", HOMES)
def test_every_limit_is_told_with_its_default(home: str) -> None:
    assert limit_sections()[home] == defaults(home), "docs/limits.md tells other limits than the code has"


def test_every_time_of_a_connection_is_told() -> None:
    told = limit_sections()["Times of a connection"]
    rooms = ("processes", "agent", "client", "peer", "transports", "cli")
    files = [path for room in rooms for path in (ROOT / "src" / "duologue" / room).glob("*.py")]
    named = {
        f"duologue.{path.parent.name}.{path.stem}.{name}": float(value)
        for path in files
        for name, value in re.findall(r"^([A-Z_]+_SECONDS) = ([\d.]+)$", path.read_text("utf-8"), re.MULTILINE)
    }
    # How often something is looked at bounds nothing.
    named = {name: value for name, value in named.items() if "POLL" not in name and "CATCH_UP" not in name}
    assert told == named, "docs/limits.md tells other times than the code has"


@pytest.mark.parametrize(("name", "told"), limit_sections()["Other bounds"].items())
def test_other_bounds_are_as_told(name: str, told: object) -> None:
    assert resolve(name) == told


def test_the_trees_of_errors_are_as_drawn() -> None:
    for tree in blocks(text_of("docs/errors.md"), ""):
        check_tree(tree.splitlines())


def check_tree(lines: list[str]) -> None:
    """Each line: bars, a class, its module (or that of the class above), and what it means."""
    above: list[type] = []
    module = "builtins"
    for line in lines:
        bars, name, rest = re.fullmatch(r"([│├└─ ]*)(\w+) *(.*)", line).groups()  # type: ignore[union-attr]
        depth = len(bars) // 4
        home = re.match(r"duologue[\w.]+", rest)
        module = home[0] if home else module
        error = resolve(f"{module}.{name}")
        assert isinstance(error, type) and issubclass(error, Exception)
        assert depth == 0 or error.__bases__[0] is above[depth - 1], name
        above[depth:] = [error]


def test_a_wrong_tree_is_seen() -> None:
    with pytest.raises(AssertionError, match="TooLarge"):
        check_tree(["LocalError    duologue.local.errors", "├── NotText", "│   └── TooLarge"])
    with pytest.raises(AttributeError):
        check_tree(["ToolError    duologue.coder.errors", "└── NoSuch"])


def test_every_error_code_is_told() -> None:
    told = {int(code): name.strip("`") for code, name in re.findall(r"^\| (-\d+) \| (`\w+`)", errors_page(), re.M)}
    assert told == {code.value: code.name for code in ErrorCode}


def errors_page() -> str:
    return text_of("docs/errors.md")
