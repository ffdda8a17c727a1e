"""A small MCP server that has tools and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from duologue.errors import DuologueError
from duologue.jsonrpc.errors import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from duologue.local.arguments import several
from duologue.mcp.channel import CANCELLED, McpChannel, McpMessage
from duologue.mcp.errors import ChannelClosed
from duologue.peer.overriding import check_async

log = logging.getLogger("duologue.mcp")

#: The revisions of MCP in which tools look as they do here, the newest first.
REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

_TYPES = {"string": str, "integer": int, "boolean": bool}


class McpToolError(DuologueError):
    """Raised by a tool that could not do its work; the model reads the text."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool: what the model is told, its parameters by name as JSON Schemas, and what it does.

    Parameters that are not in `required` may be left out. `call` gets those that were given, of the right type (string,
    integer or boolean), and returns the text of the answer. Raises `TypeError` and `ValueError` for a tool that could
    not be called.
    """

    name: str
    description: str
    call: Callable[[dict[str, Any]], Awaitable[str]]
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: Sequence[str] = ()
    #: What MCP calls annotations, such as `readOnlyHint`. Without that hint a client may ask before each call.
    hints: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_async(f"call of the tool {self.name}", self.call)
        for name, schema in self.parameters.items():
            if not isinstance(schema, Mapping) or schema.get("type") not in _TYPES:
                kinds = ", ".join(f"{{'type': {kind!r}}}" for kind in _TYPES)
                raise ValueError(f"the parameter {name} of the tool {self.name} is described by one of {kinds}")
        for name in several(self.required, f"required of the tool {self.name}"):
            if name not in self.parameters:
                raise ValueError(f"the tool {self.name} requires {name!r}, which is none of its parameters")

    def describe(self) -> dict[str, Any]:
        schema = {"type": "object", "properties": dict(self.parameters), "required": list(self.required)}
        hints = dict(self.hints)
        return {"name": self.name, "description": self.description, "inputSchema": schema, "annotations": hints}

    def check(self, arguments: Any) -> dict[str, Any]:
        """The arguments of a call. Raises `McpToolError`, from which a model learns what to give."""
        if not isinstance(arguments, dict):
            raise McpToolError("the arguments must be an object")
        given = {name: value for name, value in arguments.items() if value is not None}
        for name in self.required:
            if name not in given:
                raise McpToolError(f"{name} is missing")
        for name, value in given.items():
            if name not in self.parameters:
                raise McpToolError(f"{self.name} has no parameter {name}; it has {', '.join(self.parameters)}")
            kind = self.parameters[name]["type"]
            if not isinstance(value, _TYPES[kind]) or (kind == "integer" and isinstance(value, bool)):
                raise McpToolError(f"{name} must be of type {kind}")
        return given


class ToolServer:
    """Serves tools over a channel: `await serve(channel)` returns when the channel has ended."""

    def __init__(self, name: str, version: str, tools: Sequence[Tool]) -> None:
        self._info = {"name": name, "version": version}
        self._tools = {tool.name: tool for tool in tools}

    async def serve(self, channel: McpChannel) -> None:
        """Answer the requests of one MCP client, several at once."""
        running: dict[Any, asyncio.Task[None]] = {}
        try:
            async for message in channel:
                id, method = message.get("id"), message.get("method")
                if method == CANCELLED:
                    wanted = message.get("params", {}).get("requestId")
                    task = running.get(wanted) if isinstance(wanted, str | int) else None
                    if task is not None:
                        task.cancel()
                elif id is not None and isinstance(method, str):
                    running[id] = asyncio.create_task(self._respond(channel, message))
                    running[id].add_done_callback(lambda _, id=id: running.pop(id, None))  # type: ignore[misc]
        finally:
            tasks = list(running.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _respond(self, channel: McpChannel, message: McpMessage) -> None:
        answer: McpMessage
        try:
            answer = {"result": await self._result(message["method"], message.get("params", {}))}
        except RpcError as error:
            answer = {"error": {"code": error.code, "message": error.message}}
        except Exception as error:
            log.exception("answering %s failed", message["method"])
            answer = {"error": {"code": INTERNAL_ERROR, "message": f"Internal error: {type(error).__name__}"}}
        with contextlib.suppress(ChannelClosed):
            await channel.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    async def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "initialize":
                asked = params.get("protocolVersion")
                revision = asked if asked in REVISIONS else REVISIONS[0]
                return {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": self._info}
            case "ping":
                return {}
            case "tools/list":
                if params.get("cursor") is not None:
                    raise RpcError(INVALID_PARAMS, "unknown cursor: this list has one page")
                return {"tools": [tool.describe() for tool in self._tools.values()]}
            case "tools/call":
                return await self._call(params)
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")

    async def _call(self, params: dict[str, Any]) -> dict[str, Any]:
        name = params.get("name")
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise RpcError(INVALID_PARAMS, f"unknown tool: {name}")
        try:
            text, failed = await tool.call(tool.check(params.get("arguments", {}))), False
            if not isinstance(text, str):
                raise TypeError(f"the tool {name} must return a text, not {type(text).__name__}")
        except McpToolError as error:
            text, failed = str(error), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}
