"""An MCP server on stdio or an address of this machine, written with the official library.

`mcp_official.py` speaks over stdio; `mcp_official.py http|sse FILE` serves, and writes its address to FILE.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, EmbeddedResource, ResourceLink, TextContent, TextResourceContents, ToolAnnotations

server = MCPServer("official", log_level="ERROR")
PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d494844520000000100000001")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Gives back its text."""
    return text


@server.tool()
def about() -> str:
    """How this process was started."""
    return json.dumps({"args": sys.argv[1:], "env": dict(os.environ), "cwd": str(Path.cwd()), "pid": os.getpid()})


@server.tool()
def fails() -> str:
    """Fails."""
    raise ToolError("the oven is cold")


@server.tool()
def parts() -> CallToolResult:
    """One of each kind of content."""
    return CallToolResult(
        content=[
            TextContent(text="some text", type="text"),
            Image(data=PIXEL, format="png").to_image_content(),
            ResourceLink(type="resource_link", name="notes", uri="file:///tmp/notes.txt", mime_type="text/plain"),
            EmbeddedResource(
                type="resource",
                resource=TextResourceContents(uri="memo://one", text="remember", mime_type="text/plain"),
            ),
        ],
        structured_content={"answer": 42},
    )


@server.tool()
def die(code: int) -> str:
    """Ends the server."""
    print(f"dying with {code}, secret {os.environ.get('SECRET_VALUE')}", file=sys.stderr, flush=True)
    os._exit(code)


@server.tool()
async def waits(file: str) -> str:
    """Waits for ever, and notes in a file that it began and that it was cancelled."""
    note = anyio.Path(file)
    await note.write_text("began\n")
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await note.write_text("cancelled\n")


@server.tool()
async def grow(ctx: Context[Any]) -> str:
    """Adds a tool."""
    server.add_tool(lambda: "new here", name="grown")
    await ctx.session.send_tool_list_changed()
    return "grown"


def serve(kind: str, file: Path) -> None:
    headers: list[dict[str, str]] = []
    inner: Any = server.sse_app() if kind == "sse" else server.streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers.append({key.decode(): value.decode() for key, value in scope["headers"]})
        await inner(scope, receive, send)

    @server.tool()
    def asked() -> str:
        """The headers of all requests."""
        return json.dumps(headers)

    listening = socket.create_server(("127.0.0.1", 0))
    file.write_text(f"http://127.0.0.1:{listening.getsockname()[1]}/{'sse' if kind == 'sse' else 'mcp'}\n")
    import uvicorn  # takes its time, which servers on stdio can do without

    config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in ("http", "sse"):
        serve(sys.argv[1], Path(sys.argv[2]))
    else:
        server.run("stdio")
