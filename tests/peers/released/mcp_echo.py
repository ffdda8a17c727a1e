"""A small MCP server on stdio with one tool, `duologue_echo`, for agents to find."""

import json
import sys
from typing import Any

TOOL = {
    "name": "duologue_echo",
    "description": "Gives back its text.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            version = params.get("protocolVersion", "2025-06-18")
            info = {"name": "duologue-echo", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
        case "ping":
            return {}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params") or {})
    error = {"code": -32601, "message": "Method not found"}
    reply = {"result": result} if result is not None else {"error": error}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
