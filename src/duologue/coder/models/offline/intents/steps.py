"""What a person can ask for. A step says what, never how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal


@dataclass(frozen=True, slots=True)
class Find:
    """Where does a text occur? `where` is a file, folder or glob as the person wrote it."""

    text: str
    where: str | None = None
    regex: bool = False
    definition: bool = False


@dataclass(frozen=True, slots=True)
class FindFiles:
    pattern: str


@dataclass(frozen=True, slots=True)
class ListFiles:
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Show:
    path: str
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Explain:
    """Outline a file, or a function or class when `path` names one."""

    path: str


@dataclass(frozen=True, slots=True)
class Describe:
    """What does this project do?"""


@dataclass(frozen=True, slots=True)
class Replace:
    old: str
    new: str
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Rename:
    """Rename an identifier everywhere; `old` empty means what the step before found."""

    old: str
    new: str
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    """Give a name another literal; `value` is the literal as Python writes it."""

    name: str
    value: str
    where: str | None = None


@dataclass(frozen=True, slots=True)
class MoveFile:
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Create:
    path: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Insert:
    """Put a text into a file: at the end, at the start, or before or after a line (a number or a text of it)."""

    path: str
    text: str
    at: Literal["end", "start", "before", "after"] = "end"
    anchor: str | int | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    path: str


@dataclass(frozen=True, slots=True)
class Run:
    command: str


@dataclass(frozen=True, slots=True)
class Test:
    """Run the tests, all or those of `target`."""

    __test__: ClassVar[bool] = False  # pytest would take it for a test

    target: str | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """Repair a failing test; `target` is a test's or a file's name."""

    target: str | None = None


@dataclass(frozen=True, slots=True)
class Lint:
    """Run the linter; with `repair`, also mend what can be proven."""

    repair: bool = False
    target: str | None = None


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call a tool of an MCP server; without `server` the one that has it."""

    tool: str
    server: str | None
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Undo:
    pass


@dataclass(frozen=True, slots=True)
class Hello:
    """A greeting, thanks, or the question who this is; `kind` tells which."""

    kind: Literal["hello", "thanks", "who", "help"]


@dataclass(frozen=True, slots=True)
class Declined:
    """A request that is understood and not done; `why` says what would be needed."""

    why: str


@dataclass(frozen=True, slots=True)
class Unknown:
    text: str


Step = (
    Find
    | FindFiles
    | ListFiles
    | Show
    | Explain
    | Describe
    | Replace
    | Rename
    | Assign
    | MoveFile
    | Create
    | Insert
    | Delete
    | Run
    | Test
    | Repair
    | Lint
    | CallTool
    | Undo
    | Hello
    | Declined
    | Unknown
)


def title_of(step: Step) -> str:
    """A line for the plan and the title."""
    match step:
        case Find(text=text):
            return f"Find {text!r}"
        case FindFiles(pattern=pattern):
            return f"Find files named {pattern}"
        case ListFiles(where=where):
            return f"List files in {where}" if where else "List the files"
        case Show(path=path) | Explain(path=path):
            return f"{'Show' if isinstance(step, Show) else 'Explain'} {path}"
        case Describe():
            return "Say what this project does"
        case Replace(old=old, new=new):
            return f"Replace {old!r} with {new!r}"
        case Rename(old=old, new=new):
            return f"Rename {old or 'it'} to {new}"
        case Assign(name=name, value=value):
            return f"Set {name} to {value}"
        case MoveFile(old=old, new=new):
            return f"Move {old} to {new}"
        case _:
            return _title_of_change(step)


def _title_of_change(step: Step) -> str:
    match step:
        case Create(path=path):
            return f"Create {path}"
        case Insert(path=path):
            return f"Add text to {path}"
        case Delete(path=path):
            return f"Delete {path}"
        case Run(command=command):
            return f"Run {command}"
        case Test(target=target):
            return f"Run the tests of {target}" if target else "Run the tests"
        case Repair(target=target):
            return f"Repair {target}" if target else "Repair the failing tests"
        case Lint(repair=repair):
            return "Repair what the linter reports" if repair else "Run the linter"
        case CallTool(tool=tool):
            return f"Call {tool}"
        case Undo():
            return "Undo the last edits"
        case _:
            return "Answer"
