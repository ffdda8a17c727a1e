"""An MCP server on stdio without a library, which starts at once and does wrong what it is told to.

`mcp_stub.py [silent | exit CODE | chatty | deaf | pages | changing | late FILE]`; PID_FILE gets its process's number.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
TOOLS = {
    "echo": {"text": {"type": "string"}},
    "raw": {"line": {"type": "string"}},
    "fill": {"before": {"type": "string"}, "piece": {}, "times": {}, "after": {}},
    "flood": {"piece": {}},
    "die": {},
    "about": {},
    "read.file": {"path": {"type": "string"}},
}


def answer(method: str, params: dict[str, Any], id: Any) -> Any:
    match method:
        case "initialize":
            version = params.get("protocolVersion", "2025-06-18")
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            }
        case "tools/list":
            return listed(params)
        case "tools/call":
            return call(params["name"], params.get("arguments") or {}, id)
    return {}


def listed(params: dict[str, Any]) -> Any:
    schemas = {name: {"type": "object", "properties": fields} for name, fields in TOOLS.items()}
    page: dict[str, Any] = {"tools": [{"name": name, "inputSchema": schema} for name, schema in schemas.items()]}
    if MODE == "pages":
        # Always one more.
        page["nextCursor"] = params.get("cursor", "") + "1"
    if MODE == "shapeless":
        page["tools"].append({"name": "odd", "description": "much of it " * 100})
    if MODE == "changing":
        # Other tools each time it is asked.
        times.append(1)
        page["tools"].append({"name": f"listed{len(times)}", "inputSchema": {"type": "object"}})
        print('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}', flush=True)
    return page


def call(name: str, arguments: dict[str, Any], id: Any) -> Any:
    text = json.dumps(arguments)
    match name:
        case "echo":
            text = arguments["text"]
        case "raw":
            # The line as it is, with the id where it says ID.
            sys.stdout.write(arguments["line"].replace("ID", json.dumps(id)) + "\n")
            sys.stdout.flush()
            return None
        case "fill":
            # Anything in any amount, with the id where it says ID.
            line = arguments["before"] + arguments["piece"] * arguments["times"] + arguments["after"]
            sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape").replace(b"ID", json.dumps(id).encode()))
            sys.stdout.flush()
            return None
        case "flood":
            # The same again and again, and nothing is read any more.
            while True:
                sys.stdout.write(arguments["piece"] * 1000)
        case "die":
            print("I am gone", file=sys.stderr, flush=True)
            os._exit(7)
        case "about":
            text = json.dumps({"pid": os.getpid(), "args": sys.argv[1:], "env": dict(os.environ)})
    return {"content": [{"type": "text", "text": text}]}


times: list[int] = []
if file := os.environ.get("PID_FILE"):
    Path(file).write_text(f"{os.getpid()}\n")
if MODE == "exit":
    print(f"cannot begin: {os.environ.get('SECRET_VALUE', '')}", file=sys.stderr, flush=True)
    sys.exit(int(sys.argv[2]))
if MODE == "deaf":
    # Ends neither with its input nor when it is asked to.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    if MODE == "silent":
        continue
    while MODE == "late" and not Path(sys.argv[2]).exists():
        time.sleep(0.02)
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    if MODE == "chatty":
        print("INFO: working on", message["method"])
        print('{"level": "info"}', flush=True)
    result = answer(message["method"], message.get("params") or {}, message["id"])
    if result is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
if MODE == "deaf":
    time.sleep(60)
