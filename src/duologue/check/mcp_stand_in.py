"""`python mcp_stand_in.py TRACE WORD...`: an MCP server over stdio without tools, which writes down how it was started.

It needs nothing but the standard library, and is started by its path, so that it starts fast.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

VARIABLE = "DUOLOGUE_CHECK"
#: That of `ErrorCode`, which is not to be had here.
METHOD_NOT_FOUND = -32601


def answer(method: object, params: object) -> dict[str, object] | None:
    """The result of a request; None where there is no such method."""
    match method:
        case "initialize":
            revision = params.get("protocolVersion") if isinstance(params, dict) else None
            server = {"name": "duologue-check", "version": "1"}
            return {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": []}
        case "ping":
            return {}
    return None


def main(trace: str, words: list[str]) -> None:
    new = Path(f"{trace}.new")
    new.write_text(json.dumps({"args": words, "env": os.environ.get(VARIABLE)}), encoding="utf-8")
    new.replace(trace)
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked and "method" in asked:
            result = answer(asked["method"], asked.get("params"))
            error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
            part = {"error": error} if result is None else {"result": result}
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **part}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
