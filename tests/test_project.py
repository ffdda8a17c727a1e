"""House rules that a machine can hold: who may import whom, what ships, and that the project stands by itself."""

import ast
import builtins
import gc
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import duologue

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "duologue"


def rooms() -> tuple[str, ...]:
    """Top to bottom, as docs/architecture.md lists them; `version` is a value that anyone may read."""
    plan = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listing = plan[plan.index("src/duologue/\n") : plan.index("\ntests/")]
    return ("version", *re.findall(r"^  (\w+)(?:/|\.py) ", listing, re.MULTILINE))


ROOMS = rooms()

# These parts of the coder, and all that they import, know no ACP; other modules of it translate.
BLIND_TO_ACP = ("events", "loop", "models", "tools")

# What waits, reads, writes or starts something.
IO = {"asyncio", "os", "pathlib", "select", "selectors", "shutil", "socket", "subprocess", "sys", "threading", "time"}

HEAVY = {
    *("asyncio", "logging", "msgspec", "sqlite3", "typing_extensions"),
    *("anthropic", "httpx", "hypercorn", "mcp", "openai", "pydantic", "pydantic_ai", "textual"),
}


# --- Rooms -----------------------------------------------------------------------------------------------------------


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path) -> tuple[tuple[int, str], ...]:
    """Line and full name of each module or member of ours that a file imports, also late and by name."""
    return tuple(_imports_of(path, parsed(path)))


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file.

    Made without collections: hypothesis follows each with code of its own, in which another thread may come to parse as
    well, and Python 3.11 then takes the depth of the one for that of the other (SystemError).
    """
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()


def _imports_of(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = (
                    [*package[: len(package) + 1 - level], *([module] if module else [])] if level else [module or ""]
                )
                yield from ((node.lineno, ".".join([*base, alias.name])) for alias in names)
            case ast.Call(
                func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(target)), *_]
            ):
                if name in {"import_module", "__import__"} and target.startswith("duologue"):
                    yield node.lineno, target


def our_imports(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line and path below the package, such as `["peer", "Peer"]`."""
    for line, name in imports_of(path):
        top, *below = name.split(".")
        if top == "duologue" and below:
            yield line, below


def room_files() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.parent != SOURCE or path.stem in ROOMS]


def test_every_module_belongs_to_a_room() -> None:
    here = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert here - {"__init__", "__main__"} <= set(ROOMS), "give the new room its place in docs/architecture.md"


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_above_it(room: str) -> None:
    allowed = {*ROOMS[: ROOMS.index(room) + 1], "__version__"}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {'.'.join(target)}"
        for path in room_files()
        if module_name(path).split(".")[1] == room
        for line, target in our_imports(path)
        if target[0] not in allowed
    ]
    assert not wrong, "\n".join(wrong)


def rooms_without(what: str) -> list[str]:
    """The rooms of which the plan says in brackets that they have none of something."""
    plan = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(rf"^  (\w+)/ .*\([^)]*no {what}\b[^)]*\)$", plan, re.MULTILINE)


def test_rooms_without_acp_stand_above_the_protocol() -> None:
    without = rooms_without("ACP")
    assert "jsonrpc" in without
    assert set(without) <= set(ROOMS[: ROOMS.index("protocol")])


def test_rooms_without_io_import_nothing_that_does_it() -> None:
    without = rooms_without("I/O")
    assert "jsonrpc" in without
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for room in without
        for path in files_of(room)
        for line, name in imports_of(path)
        if name.split(".")[0] in IO or name.startswith(("duologue.local", "duologue.processes"))
    ]
    assert not wrong, "\n".join(wrong)


def test_the_loop_tools_and_models_of_the_coder_know_no_acp() -> None:
    waiting = [path for name in BLIND_TO_ACP for path in files_of("coder", name)]
    assert waiting
    seen = set(waiting)
    wrong = []
    while waiting:
        path = waiting.pop()
        for line, target in our_imports(path):
            if target[0] == "coder":
                new = set(files_of(*target[:2])) - seen
                seen |= new
                waiting += new
            elif target[0] not in {"version", "__version__", "late", "errors", "local", "processes"}:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {'.'.join(target)}")
    assert not wrong, "\n".join(wrong)


def files_of(*module: str) -> list[Path]:
    """The files of a module or, if it is a package, of all of it."""
    place = SOURCE.joinpath(*module)
    return (
        sorted(place.rglob("*.py"))
        if place.is_dir()
        else [file for file in [place.with_suffix(".py")] if file.exists()]
    )


def test_the_import_reader_sees_each_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "duologue" / "peer"
    package.mkdir(parents=True)
    code = "import duologue.cli\nfrom duologue import codec\nfrom ..client import x\nfrom . import y\ndef f():\n    "
    (package / "a.py").write_text(code + "return import_module('duologue.check')\n", encoding="utf-8")
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path / "duologue")
    seen = {".".join(target) for _, target in our_imports(package / "a.py")}
    assert seen == {"cli", "codec", "client.x", "peer.y", "check"}


# --- What a user gets ------------------------------------------------------------------------------------------------


def test_import_stays_light() -> None:
    code = "import sys; before = set(sys.modules); import duologue; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "duologue" in loaded
    assert not loaded & HEAVY


def public_modules() -> Iterator[ModuleType]:
    yield duologue
    for found in pkgutil.walk_packages(duologue.__path__, "duologue."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        if hasattr(module, "__all__"):
            yield module


def test_exported_names_exist_once() -> None:
    for module in public_modules():
        names = list(module.__all__)
        assert len(names) == len(set(names)), f"{module.__name__}.__all__ says a name twice"
        missing = [name for name in names if not hasattr(module, name)]
        assert not missing, f"{module.__name__} exports {missing}, which do not exist"


def test_what_a_package_defines_or_gathers_in_public_is_exported() -> None:
    for module in public_modules():
        if not hasattr(module, "__path__"):
            continue
        gathered = {
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value))
            if value.__module__.startswith("duologue")
        }
        assert gathered <= set(module.__all__), f"{module.__name__}.__all__ lacks {gathered - set(module.__all__)}"


def test_the_wheel_ships_types_and_nothing_of_the_workshop(tmp_path: Path) -> None:
    isolation = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", *isolation]
    subprocess.run([*pip, "--wheel-dir", tmp_path, ROOT], check=True, capture_output=True, text=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "duologue/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names} == {"duologue", f"duologue-{duologue.__version__}.dist-info"}


# --- The project stands by itself -------------------------------------------------------------------------------------


def project_texts() -> Iterator[tuple[Path, str]]:
    """Files a reader of the project meets: what git tracks, or without git all but what is ignored."""
    for path in project_files():
        if path.is_file() and path.suffix not in {".gz", ".png", ".svg", ".whl"}:
            yield path, path.read_text(encoding="utf-8", errors="replace")


def project_files() -> list[Path]:
    if (ROOT / ".git").exists():
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        return [ROOT / name for name in done.stdout.split("\0") if name]
    tops = ("src", "tests", "docs", "bench", "examples", "scripts", ".ci")
    return [
        *ROOT.glob("*.*"),
        *(path for top in tops for path in (ROOT / top).rglob("*") if "__pycache__" not in str(path)),
    ]


def test_no_file_names_the_machine_it_was_written_on() -> None:
    own_checkout = re.compile(re.escape(str(ROOT)) + r"(?![\w.-])")
    registry = re.compile(
        r"(?:extra-)?index-url\s*[=:]|find-links\s*=|^registry\s*=|\"resolved\":|https?://[\w.-]*(?:mirror|nexus|artifactory)",
        re.M,
    )
    wrong = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path, text in project_texts()
        if path != Path(__file__)
        for pattern in (own_checkout, registry)
        if (found := pattern.search(text))
    ]
    assert not wrong, "\n".join(wrong)


def test_documents_lead_only_to_files_of_the_project() -> None:
    link = re.compile(r"\]\(([^)#\s]+)[^)]*\)|`(\.\./[^`\s]+)`")
    wrong = []
    for path, text in project_texts():
        if path.suffix != ".md":
            continue
        targets = [first or second for first, second in link.findall(text)]
        local = [target for target in targets if not re.match(r"[a-z]+:", target)]
        wrong += [f"{path.relative_to(ROOT)}: {target}" for target in local if not (path.parent / target).exists()]
    assert not wrong, "\n".join(wrong)


def test_a_mark_without_a_row_stops_the_run(tmp_path: Path) -> None:
    code = "import pytest\n@pytest.mark.req('all-framing-01', 'all-nothing-99')\ndef test_a(): pass\n"
    (tmp_path / "test_it.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "--rootdir=.", "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "all-nothing-99 in test_it.py::test_a" in done.stderr
    assert "all-framing-01 in" not in done.stderr


#: Exceptions that end a walk or a turn within their room and reach nobody outside of it.
SIGNALS = {
    *("Unspeakable", "TurnCancelled", "TurnStopped", "Failed", "Skipped"),
    *("CannotSwap", "TooBig", "CannotCollect", "NoAnswer"),
}


def test_every_error_with_a_public_name_has_the_one_root() -> None:
    """Told by the source: not every module can be loaded everywhere."""
    known = {name for name, value in vars(builtins).items() if isinstance(value, type)}
    loose = set()
    for path in (ROOT / "src/duologue").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
                raised = [base for base in bases if base in known and issubclass(getattr(builtins, base), Exception)]
                if raised and len(raised) == len(bases):
                    loose.add(node.name)
    assert loose == SIGNALS | {"DuologueError"}
