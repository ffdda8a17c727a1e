"""What a tool is: a name the model knows, a plan that says what will happen, and the work itself.

A plan is made before anyone is asked and changes nothing. Only `dispatch` runs its `perform`, after the gate said yes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from duologue.coder.commands import Runner
from duologue.coder.errors import BadArguments
from duologue.coder.events import Event, FileDiff, Location, ToolKind
from duologue.coder.files import Disk, Files
from duologue.coder.journal import Journal
from duologue.coder.limits import CoderLimits
from duologue.coder.models.base import ToolSpec
from duologue.local.rules import Subject
from duologue.local.workspace import Workspace

A = TypeVar("A", bound="Arguments")

#: Characters of the title of a call.
CALL_TITLE_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Context:
    """What tools work with. `emit` tells the outside, and waits while the reader is behind."""

    workspace: Workspace
    files: Files
    disk: Disk
    runner: Runner
    journal: Journal
    limits: CoderLimits
    emit: Callable[[Event], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave: `text` for the model, `data` as structure; `shown` is for people where it differs, `blocks` are
    content blocks as MCP writes them."""

    text: str
    data: Any = None
    ok: bool = True
    shown: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    blocks: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call will do. `subject` is what needs permission, None for work without effects.

    `perform` gets the call's id and does the work; it may raise ToolError or OSError. A `quiet` call speaks by its own
    events alone (a plan, a title) and is not shown as a tool call. `description` tells who is asked what it does and
    why, where title and command do not.
    """

    title: str
    subject: Subject | None
    perform: Callable[[str], Awaitable[Outcome]]
    locations: tuple[Location, ...] = ()
    diffs: tuple[FileDiff, ...] = ()
    command: str | None = None
    cwd: Path | None = None
    quiet: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: how a model sees it, its kind, and the function that checks the arguments and plans a call.

    `plan` raises ToolError when the call cannot be meant so.
    """

    spec: ToolSpec
    kind: ToolKind
    plan: Callable[[dict[str, Any], Context], Awaitable[Plan]]


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of a tool's arguments; the JSON schema and the check come from the fields."""


def tool(
    name: str, description: str, kind: ToolKind, arguments: type[A]
) -> Callable[[Callable[[A, Context], Awaitable[Plan]]], Tool]:
    """Make a tool of a function that plans."""

    def decorate(plan: Callable[[A, Context], Awaitable[Plan]]) -> Tool:
        async def checked_plan(values: dict[str, Any], context: Context) -> Plan:
            return await plan(checked(values, arguments), context)

        return Tool(ToolSpec(name, description, schema_of(arguments)), kind, checked_plan)

    return decorate


def checked(values: dict[str, Any], arguments: type[A]) -> A:
    """Raises BadArguments with the place and the reason."""
    try:
        return msgspec.convert(values, arguments)
    except msgspec.ValidationError as error:
        raise BadArguments(f"the arguments do not fit: {error}") from None


def schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """The JSON schema in the form that all providers take: no references; what is optional is just not required."""
    whole = msgspec.json.schema(arguments)
    schema: dict[str, Any] = _plain(whole, whole["$defs"])
    return schema


def _plain(schema: Any, definitions: dict[str, Any]) -> Any:
    match schema:
        case {"$ref": str(reference)}:
            return _plain(definitions[reference.rpartition("/")[2]], definitions)
        case {"anyOf": [only, {"type": "null"}]}:
            return _plain(only, definitions)
        case dict():
            return {key: _part(key, schema[key], definitions) for key in schema if _belongs(key, schema[key])}
        case list():
            return [_plain(item, definitions) for item in schema]
        case _:
            return schema


def _part(key: str, value: Any, definitions: dict[str, Any]) -> Any:
    # The keys of `properties` are names of arguments, whatever they look like.
    if key == "properties":
        return {name: _plain(each, definitions) for name, each in value.items()}
    return _plain(value, definitions)


def _belongs(key: str, value: Any) -> bool:
    return key not in ("title", "$defs") and not (key == "default" and value is None)
