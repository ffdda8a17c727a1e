"""The tools of MCP servers as tools of the coder. Each call needs permission, whatever the server says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from duologue.coder.events import Location
from duologue.coder.limits import McpLimits
from duologue.coder.mcp.results import outcome_of
from duologue.coder.models.base import ToolSpec
from duologue.coder.naming import tool_name
from duologue.coder.texts import scrub_all, shorten
from duologue.coder.tools.base import CALL_TITLE_CHARACTERS, Context, Outcome, Plan, Tool
from duologue.local.errors import LocalError
from duologue.local.rules import Use

if TYPE_CHECKING:
    import mcp_types

    from duologue.coder.mcp.server import Server

#: Arguments of these names that hold a path of the session's folders are shown as places.
PATHS = ("path", "file", "file_path", "filepath", "filename")


def usable(tool: mcp_types.Tool, limits: McpLimits) -> mcp_types.Tool | None:
    """What is kept of a tool that a server lists; None when its name and schema are too large."""
    schema = schema_of(tool.input_schema)
    if len(tool.name) + len(json.dumps(schema)) > limits.schema:
        return None
    return type(tool)(name=tool.name, description=_description(tool, limits), input_schema=schema)


def tools_of(server: Server, part: str) -> Iterator[Tool]:
    """A server's tools, as they were kept."""
    for each in server.tools:
        yield _tool(server, each, ToolSpec(tool_name(part, each.name), each.description or "", each.input_schema))


def schema_of(given: dict[str, Any]) -> dict[str, Any]:
    """The schema of the arguments, which every model's wire format wants to be that of an object."""
    schema: dict[str, Any] = scrub_all(given)
    properties = schema.get("properties")
    return {**schema, "type": "object", "properties": properties if isinstance(properties, dict) else {}}


def _description(tool: mcp_types.Tool, limits: McpLimits) -> str:
    text = str(scrub_all(tool.description or tool.title or tool.name))
    return text if len(text) <= limits.description_characters else text[: limits.description_characters] + "…"


def _tool(server: Server, tool: mcp_types.Tool, spec: ToolSpec) -> Tool:
    async def plan(arguments: dict[str, Any], context: Context) -> Plan:
        async def perform(call: str) -> Outcome:
            result = await server.call(tool.name, arguments)
            wire = result.model_dump(by_alias=True, mode="json", exclude_unset=True)
            return outcome_of(scrub_all(wire), server.limits)

        title = shorten(f"{server.entry.name}: {tool.name}", CALL_TITLE_CHARACTERS)
        return Plan(title, Use(spec.name), perform, locations=tuple(_places(arguments, context)))

    # Its kind is not what the server says: a client may allow all that only reads.
    return Tool(spec, "other", plan)


def _places(arguments: dict[str, Any], context: Context) -> Iterator[Location]:
    """Files that the arguments name, inside the session's folders."""
    for name in PATHS:
        value = arguments.get(name)
        if not isinstance(value, str) or not value:
            continue
        try:
            place = context.workspace.resolve(value)
        except (LocalError, ValueError):
            continue
        yield Location(place.shown)
