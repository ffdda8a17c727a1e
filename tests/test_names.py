"""House rules that a machine can read off the code: wire names stand in the tables, few places ask for the version,
private members stay in their file, and no failure is caught and forgotten."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from duologue.protocol.version import SUPPORTED

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "duologue"

WIRE_NAMES = {key.name for version in SUPPORTED for key in version.methods}
#: A name that stands in a line of JSON.
IN_A_LINE = re.compile(rb'"(%s)"' % b"|".join(re.escape(name.encode()) for name in sorted(WIRE_NAMES)))
#: Where wire names are written out, and why.
WRITTEN_OUT = {
    "protocol/*/table.py": "the tables",
    "check/**/*.py": "it judges the wire, so it must not believe the tables",
    "testing/wire.py": "it speaks bare lines, so that a test need not believe the tables",
    "testing/faults.py": "it speaks broken lines",
    "mcp/tools.py": "the names are those of MCP",
    "protocol/v[12]/__init__.py": "the names are those of modules",
    "agent/agent.py": "logout is the name of a function",
}


def texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """The strings and bytes of a module that are no docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documents = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in documents:
            yield node


def wire_names(path: Path) -> Iterator[str]:
    """Where a file writes the name of a method out."""
    for text in texts(parsed(path)):
        value = text.value
        if value in WIRE_NAMES or (isinstance(value, bytes) and IN_A_LINE.search(value)):
            yield f"{path.relative_to(SOURCE)}:{text.lineno}: {value!r}"


def test_wire_names_stand_in_the_tables_alone() -> None:
    excused = {path for pattern in WRITTEN_OUT for path in SOURCE.glob(pattern)}
    found = {path: list(wire_names(path)) for path in SOURCE.rglob("*.py")}
    wrong = [line for path, lines in found.items() if path not in excused for line in lines]
    assert not wrong, "take the name from the table of methods:\n" + "\n".join(wrong)
    idle = [pattern for pattern in WRITTEN_OUT if not any(found[path] for path in SOURCE.glob(pattern))]
    assert not idle, "these need no excuse any more"


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


# --- Versions ---------------------------------------------------------------------------------------------------------

#: Where it counts which version the wire speaks, and why the edge cannot see to it.
ASK_FOR_THE_VERSION = {
    "agent/handshake.py": "what is announced decides what is served before there is an edge",
    "agent/login.py": "the ways to log in stand in the data of an error, which no edge reads",
    "client/connecting.py": "the text of an error tells what else to propose",
    "client/file_server.py": "version 1 has methods for files, so that there nothing is lent",
    "client/login.py": "only version 1 has a request for a login by variables",
}


def asks_for_the_version(tree: ast.Module) -> bool:
    """Whether a value is compared with a version of the protocol."""
    sides = [
        side for node in ast.walk(tree) if isinstance(node, ast.Compare) for side in (node.left, *node.comparators)
    ]
    return any(isinstance(side, ast.Name) and side.id in ("V1", "V2") for side in sides)


def test_few_places_ask_for_the_version() -> None:
    # The check judges what each version asks of a program.
    files = [path for path in SOURCE.rglob("*.py") if SOURCE / "check" not in path.parents]
    asking = {path.relative_to(SOURCE).as_posix() for path in files if asks_for_the_version(parsed(path))}
    assert asking == ASK_FOR_THE_VERSION.keys(), "give the table of differences a row, or ask `offers`"


# --- Private members --------------------------------------------------------------------------------------------------

#: Members that begin with an underscore and are public all the same, and those of others that cannot be had otherwise.
NOT_OURS = {
    "_exit": "os: the end of a child that must run nothing of its parent's",
    "_callbacks": "asyncio: what a future calls once it is done, which nothing else tells",
    "_fields": "a named tuple",
    "_replace": "a named tuple",
    "_request": "pytest has no other way to run one test alone",
    "_initrequest": "pytest has no other way to run one test alone",
    "_excinfo": "pytest has no other way to forget how a test ended",
    "_value2member_map_": "enum",
    "_name_": "enum",
    "_value_": "enum",
}


def own_private_names(tree: ast.Module) -> set[str]:
    """The private members of the classes of a file: functions, declared ones, and what they set on themselves."""
    names: set[str] = set()
    for kind in ast.walk(tree):
        if not isinstance(kind, ast.ClassDef):
            continue
        for node in ast.walk(kind):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    names.add(name)
                case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                    names.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    names.add(name)
    return {name for name in names if name.startswith("_")}


def touched_from_outside(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of each private member that belongs to no class of the file."""
    own = own_private_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super"))):
                continue
            case ast.Attribute(attr=name) if name.startswith("_") and not name.startswith("__"):
                if name not in own and name not in NOT_OURS:
                    yield node.lineno, ast.unparse(node)


def test_private_members_are_touched_in_their_own_file_alone() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {member}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, member in touched_from_outside(parsed(path))
    ]
    assert not wrong, "make them public, with a docstring, or move the function:\n" + "\n".join(wrong)


def test_a_private_member_of_another_file_is_seen() -> None:
    code = (
        "class A:\n    def _own(self): self._set = 1\ndef f(a, b):\n    a._own(), a._set, b._foreign\n    b._late = 1\n"
    )
    assert sorted(touched_from_outside(ast.parse(code))) == [(4, "b._foreign"), (5, "b._late")]


# --- Failures ---------------------------------------------------------------------------------------------------------

BROAD = {"Exception", "BaseException"}


def catches_all(kind: ast.expr | None) -> bool:
    match kind:
        case None:
            return True
        case ast.Name(id=name):
            return name in BROAD
        case ast.Tuple(elts=kinds):
            return any(catches_all(each) for each in kinds)
    return False


def is_told(handler: ast.ExceptHandler) -> bool:
    """Whether a failure that is caught goes on: it is raised again, logged whole, or handed on as the value it is."""
    inside = [node for statement in handler.body for node in ast.walk(statement)]
    return any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Attribute) and node.attr in ("exception", "format_exc"))
        or (isinstance(node, ast.Name) and node.id == handler.name)
        for node in inside
    )


def forgotten(text: str) -> Iterator[int]:
    """The lines that catch whatever comes and tell nobody, without a comment that says why."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ExceptHandler(type=kind) if catches_all(kind) and not is_told(node):
                about = lines[node.lineno - 1 : node.body[0].lineno]
            case ast.Call(func=ast.Name(id="suppress") | ast.Attribute(attr="suppress"), args=kinds):
                if not any(catches_all(kind) for kind in kinds):
                    continue
                about = lines[node.lineno - 2 : node.lineno]
            case _:
                continue
        if not any("#" in line for line in about):
            yield node.lineno


def test_no_failure_is_caught_and_forgotten() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line in forgotten(path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "log it, hand it on, or say in a comment why nobody needs to know:\n" + "\n".join(wrong)


def test_a_forgotten_failure_is_seen() -> None:
    code = (
        "try: f()\nexcept Exception:\n    x = 1\n"
        "try: f()\nexcept Exception:\n    # It is a hint.\n    x = 1\n"
        "try: f()\nexcept (OSError, BaseException) as error:\n    tell(error)\n"
        "try: f()\nexcept Exception:\n    log.exception('f failed')\n"
        "try: f()\nexcept:\n    raise\n"
        "with suppress(Exception): f()\n"
        "with suppress(OSError): f()\n"
    )
    assert list(forgotten(code)) == [2, 17]
