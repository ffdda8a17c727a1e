"""The client's files as an MCP server over ACP: for agents of version 2, in which clients have no `fs/*`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from duologue.client.files import LocalFiles
from duologue.jsonrpc.errors import RpcError
from duologue.mcp import McpChannel, McpToolError, Tool, ToolServer
from duologue.protocol.common.mcp import AcpMcpServer
from duologue.protocol.v1.fs import ReadTextFileRequest, WriteTextFileRequest
from duologue.protocol.v2.capabilities import McpCapabilities, SessionCapabilities
from duologue.protocol.version import V2
from duologue.version import __version__

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection
    from duologue.client.opening import Opening
    from duologue.client.session import Session

#: What agents call the server.
NAME = "client-files"

_PATH = {"type": "string", "description": "Absolute path of a file in a folder of the session"}


class FileServer:
    """Lends the files of one session, unsaved buffers first, under the rules of `LocalFiles`."""

    def __init__(self, files: LocalFiles) -> None:
        self._files = files
        self._session: Session | None = None

    def open(self, session: Session) -> None:
        """The session is open; until then there are no folders to look into."""
        self._session = session

    @property
    def has_ended(self) -> bool:
        """Whether the session was open and is not any more."""
        return self._session is not None and not self._session.is_open

    async def serve(self, channel: McpChannel) -> None:
        """Serve one connection of the agent."""
        await ToolServer(NAME, __version__, self.tools()).serve(channel)

    def tools(self) -> list[Tool]:
        """`read_text_file`, and `write_text_file` where files may be written."""
        read = Tool(
            name="read_text_file",
            description="Read a text file as the user's editor has it, with changes that are not saved yet.",
            parameters={
                "path": _PATH,
                "line": {"type": "integer", "minimum": 1, "description": "First line to read, from 1"},
                "limit": {"type": "integer", "minimum": 0, "description": "How many lines to read"},
            },
            required=["path"],
            call=self._read,
            hints={"readOnlyHint": True},
        )
        write = Tool(
            name="write_text_file",
            description="Create or replace a text file; one that is open in the user's editor changes there.",
            parameters={"path": _PATH, "content": {"type": "string", "description": "The whole new text"}},
            required=["path", "content"],
            call=self._write,
            hints={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
        )
        return [read, write] if self._files.writes else [read]

    async def _read(self, given: dict[str, Any]) -> str:
        session = self._opened()
        for name, least in (("line", 1), ("limit", 0)):
            if given.get(name, least) < least:
                raise McpToolError(f"{name} must be at least {least}")
        request = ReadTextFileRequest(
            session_id=session.id,
            path=given["path"],
            line=given.get("line", UNSET),
            limit=given.get("limit", UNSET),
        )
        try:
            return (await self._files.read(session, request)).content
        except RpcError as error:
            raise McpToolError(error.message) from error

    async def _write(self, given: dict[str, Any]) -> str:
        session = self._opened()
        request = WriteTextFileRequest(session_id=session.id, path=given["path"], content=given["content"])
        try:
            await self._files.write(session, request)
        except RpcError as error:
            raise McpToolError(error.message) from error
        return f"wrote {given['path']}"

    def _opened(self) -> Session:
        if self._session is None:
            raise McpToolError("the session is not open yet")
        if self.has_ended:
            raise McpToolError("the session is closed")
        return self._session


class FileServers:
    """Lends the files of a client (`Client.files`) to each session of an agent of version 2 that can reach them."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._lent: dict[str, tuple[AcpMcpServer, FileServer]] = {}

    def lend(self, request: Opening) -> tuple[Opening, Callable[[Session], None]]:
        """A request that opens a session, with a server of its files among the session's MCP servers, and what is to be
        called when the session is open."""
        connection, files = self._connection, self._connection.client.files
        reached = ((connection.capabilities.session or SessionCapabilities()).mcp or McpCapabilities()).acp
        if files is None or not reached or connection.version is not V2:
            return request, lambda session: None
        self._withdraw()
        server = FileServer(files)
        entry = connection.mcp.offer(NAME, server.serve)
        self._lent[entry.server_id] = entry, server
        return replace(request, mcp_servers=[*(request.mcp_servers or ()), entry]), server.open

    def _withdraw(self) -> None:
        """Lend nothing more to sessions that are over."""
        for id, (entry, server) in list(self._lent.items()):
            if server.has_ended:
                self._connection.mcp.withdraw(entry)
                del self._lent[id]
