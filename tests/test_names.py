"""House rules on names that a machine can hold: wire names stand in the tables, private members stay in their file."""

import ast
import re
from collections.abc import Iterator
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


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


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
