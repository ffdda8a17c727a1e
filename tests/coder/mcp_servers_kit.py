"""Servers for tests as a client names them, and what the coding agent made of their tools."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from acp_kit import Scripted

from duologue.coder.limits import McpLimits
from duologue.coder.models.base import ToolResult
from duologue.protocol.common.terminal import EnvVariable
from duologue.protocol.v2.mcp import StdioMcpServer

HERE = Path(__file__).parent / "programs"

#: No pauses, and patience with a machine that is busy.
QUICK = McpLimits(quiet_seconds=0.05, restart_seconds=0.05, relist_seconds=0.05, start_seconds=90, wait_seconds=90)


def official(name: str = "official", *args: str, **env: str) -> StdioMcpServer:
    return _server(name, "mcp_official.py", args, env)


def stub(name: str = "stub", *args: str, **env: str) -> StdioMcpServer:
    return _server(name, "mcp_stub.py", args, env)


def _server(name: str, script: str, args: tuple[str, ...], env: dict[str, str]) -> StdioMcpServer:
    variables = [EnvVariable(name=key, value=value) for key, value in env.items()]
    return StdioMcpServer(name=name, command=sys.executable, args=[str(HERE / script), *args], env=variables)


def offered(models: Scripted, request: int = -1) -> list[str]:
    """The tools of servers that the model was told of."""
    return [tool.name for tool in models.model.requests[request].tools if "__" in tool.name]


def results(models: Scripted) -> list[ToolResult]:
    """What the model was told that its calls gave."""
    return [message for message in models.model.requests[-1].messages if isinstance(message, ToolResult)]


def data(result: ToolResult) -> Any:
    return json.loads(result.text)
