"""One MCP server: started, listed, called and started again, by a task that owns its connection.

The library's contexts must be left by the task that entered them; calls may come from any.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import ClientSession, MCPError
from mcp.client.session import IncomingMessage
from mcp_types import (
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    ListToolsRequest,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from duologue.coder.errors import ToolError
from duologue.coder.limits import McpLimits
from duologue.coder.mcp.entries import Entry, Lent, masked, told
from duologue.coder.mcp.links import End, LinkError, link
from duologue.coder.mcp.tools import usable
from duologue.coder.texts import shorten
from duologue.protocol.common.errors import ErrorCode
from duologue.version import __version__

if TYPE_CHECKING:
    from duologue.coder.mcp.links import Streams

#: The library's own errors. Servers use the same codes, so the texts decide: the connection has ended, or (for an HTTP
#: status 404) the server has forgotten the session.
CLOSED = ("Connection closed", "Session terminated")
TIMED_OUT = "timed out"

log = logging.getLogger("duologue.coder.mcp")

ADVICE = "Check its entry in the settings of your client, then open a new session."


class Server:
    """A server from its start to its end. `changed` is called when it is ready, has other tools, or is given up."""

    def __init__(self, entry: Entry, cwd: Path, limits: McpLimits, changed: Callable[[], None]) -> None:
        self.entry = entry
        self.tools: tuple[Tool, ...] = ()
        #: Why it is given up, for a person; None as long as it is not.
        self.failure: str | None = None
        self._cwd = cwd
        self.limits = limits
        self._changed = changed
        self._session: ClientSession | None = None
        self._end = End()
        self._why = ""
        self._began = False
        self._restarts = 0
        self._settled = asyncio.Event()
        self._over = asyncio.Event()
        self._closing = asyncio.Event()
        self._relist = asyncio.Event()
        self._task = asyncio.create_task(self._own(), name="duologue-mcp")

    # --- its life -----------------------------------------------------------------------------------------------------

    @property
    def is_settled(self) -> bool:
        """Whether it is ready or given up."""
        return self._settled.is_set()

    async def settled(self) -> None:
        """Wait until it is ready or given up; one that is started again is neither."""
        await self._settled.wait()

    async def close(self) -> None:
        """End it, and wait for that; bounded in time."""
        self._closing.set()
        if self._session is None:
            self._task.cancel()
        # Two stages to end a program, and some for what the library does before.
        await asyncio.wait({self._task}, timeout=4 * self.limits.stop_seconds)
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=self.limits.stop_seconds)

    async def _own(self) -> None:
        try:
            while not self._closing.is_set():
                await self._live()
                if self._closing.is_set() or not self._may_restart():
                    break
                self._restarts += 1
                await _first(self.limits.restart_seconds, self._closing.wait())
        finally:
            self._session = None
            self.failure = self._why or "it was closed"
            self.tools = ()
            self._over.set()
            self._settled.set()
            self._changed()

    def _may_restart(self) -> bool:
        """One that never began will not begin the next time either."""
        return self._began and self._restarts < self.limits.restarts

    async def _live(self) -> None:
        """From a start to the end that follows; `_why` tells of it."""
        end = self._end = End()
        self._over.clear()
        began = False
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.limits.start_seconds):
                    streams = await stack.enter_async_context(link(self.entry, self._cwd, self.limits, end))
                    session = await stack.enter_async_context(self._client(streams))
                    await session.initialize()
                    self.tools = await self._list(session)
                self._session, self._began, began = session, True, True
                self._settled.set()
                self._changed()
                await self._until_end(session, end)
        except Exception as error:
            self._why = self._explain(root_of(error), end, began)
        else:
            self._why = self._told(end.how, end)
        finally:
            self._session = None
            if not self._closing.is_set() and self._may_restart():
                self._settled.clear()
            self._over.set()

    def _client(self, streams: Streams) -> ClientSession:
        info = Implementation(name="duologue", version=__version__)
        return ClientSession(*streams, message_handler=self._heard, client_info=info)

    async def _until_end(self, session: ClientSession, end: End) -> None:
        """Wait for its end; meanwhile list its tools again when they have changed."""
        while not self._closing.is_set() and not end.event.is_set():
            await _first(None, self._closing.wait(), end.event.wait(), self._relist.wait())
            if self._relist.is_set() and not end.event.is_set():
                self._relist.clear()
                await self._list_again(session)
                # However often it says that they have changed.
                await _first(self.limits.relist_seconds, self._closing.wait(), end.event.wait())

    async def _list_again(self, session: ClientSession) -> None:
        """The tools as they are now; those of before when they cannot be told. Raises MCPError when it has ended."""
        try:
            async with asyncio.timeout(self.limits.start_seconds):
                self.tools = await self._list(session)
        except (TimeoutError, MCPError, ValueError) as error:
            if isinstance(error, MCPError) and self._has_ended(error):
                raise
            why = self._foreign(error.message) if isinstance(error, MCPError) else type(error).__name__
            log.warning("the MCP server %s did not list its tools again: %s", self.entry.name, why)
        else:
            self._changed()

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._relist.set()

    async def _list(self, session: ClientSession) -> tuple[Tool, ...]:
        """All its tools, page after page, as far as a session may have them; of two with one name the first."""
        tools: dict[str, Tool] = {}
        cursor: str | None = None
        for _ in range(self.limits.pages):
            params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
            # Not `list_tools`: it keeps the schemas of all that was ever listed.
            page = await session.send_request(ListToolsRequest(params=params), ListToolsResult)
            for tool in page.tools:
                if tool.name not in tools and (kept := usable(tool, self.limits)) is not None:
                    tools[tool.name] = kept
                # One more than there may be: so it is told that something was left out.
                if len(tools) > self.limits.tools:
                    return tuple(tools.values())
            if not page.next_cursor or page.next_cursor == cursor:
                break
            cursor = page.next_cursor
        return tuple(tools.values())

    # --- calls --------------------------------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool. One that is cancelled is cancelled at the server. Raises `ToolError`."""
        await self._settled.wait()
        session = self._session
        if session is None:
            raise ToolError(f"the MCP server {self.entry.name} cannot be used: {self.failure or 'it has ended'}")
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        end = self._end
        try:
            # Not `call_tool`: it holds results against a schema of the server's, whose patterns can take for ever.
            result = await session.send_request(request, CallToolResult, self.limits.call_seconds)
        except MCPError as error:
            raise await self._failed(error, end) from None
        except (ValidationError, ValueError, RuntimeError) as error:
            raise ToolError(f"the answer of {self.entry.name} is not understood ({type(error).__name__})") from None
        self._restarts = 0
        return result

    async def _failed(self, error: MCPError, end: End) -> ToolError:
        name = self.entry.name
        if end.event.is_set() or self._has_ended(error):
            end.tell(end.how or "the connection to it has ended")
            await _first(2 * self.limits.stop_seconds, self._over.wait())
            ending = "it was not started again" if self._task.done() else "it is started again; call it once more"
            return ToolError(f"the MCP server {name} ended before it answered: {self._why or end.how}\n[{ending}]")
        if error.code == REQUEST_TIMEOUT and error.message.endswith(TIMED_OUT):
            return ToolError(f"{name} did not answer within {self.limits.call_seconds:g} seconds; the call is stopped")
        return ToolError(f"{name} refused the call: {self._foreign(error.message)} ({error.code})")

    def _has_ended(self, error: MCPError) -> bool:
        return error.message in CLOSED or self._is_unknown_connection(error)

    def _is_unknown_connection(self, error: MCPError) -> bool:
        """A client has no word for the end of a server that it lends: it refuses what comes afterwards."""
        refused = isinstance(self.entry, Lent) and error.code == ErrorCode.RESOURCE_NOT_FOUND
        return refused and "connection" in error.message.lower()

    # --- words --------------------------------------------------------------------------------------------------------

    def _explain(self, error: BaseException, end: End, began: bool) -> str:
        """Why it is not there, in words without secrets."""
        match error:
            case TimeoutError() if not end.event.is_set():
                what = f"it was not ready within {self.limits.start_seconds:g} seconds"
            case LinkError():
                what = str(error)
            case MCPError() if end.event.is_set() or end.how:
                what = end.how
            case MCPError() if began:
                what = "the connection to it has ended"
            case MCPError():
                what = f"it refused the start: {error.message}"
            case ValidationError():
                # Its own text shows all that was answered.
                first = error.errors(include_url=False, include_input=False)[0]
                place = ".".join(map(str, first["loc"]))
                what = f"its answer does not fit MCP: {place}: {first['msg']}"
            case _:
                what = end.how or f"it cannot be reached ({type(error).__name__}: {error})"
        return self._told(what if began else f"{what}, before it was ready" if end.event.is_set() else what, end)

    def _told(self, what: str, end: End) -> str:
        """What happened, with the last of its stderr."""
        text = self._foreign(what)
        last = masked(self.entry, end.stderr).strip()[-self.limits.told_characters :]
        return f"{text}. The last that it wrote to stderr:\n\n```\n{last}\n```\n" if last else f"{text}."

    def _foreign(self, text: str) -> str:
        return shorten(masked(self.entry, text), self.limits.told_characters)

    def notice(self) -> str:
        """What a person is told once it is given up."""
        about = told(self.entry)
        place = f" ({about})" if about else ""
        between = "\n" if (self.failure or "").endswith("\n") else " "
        return f"the MCP server `{self.entry.name}`{place} is not used: {self.failure}{between}{ADVICE}"


async def _first(seconds: float | None, *waits: Coroutine[Any, Any, Any]) -> None:
    """Wait for the first of them, so many seconds at most."""
    tasks = [asyncio.ensure_future(each) for each in waits]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def root_of(error: BaseException) -> BaseException:
    """What went wrong first inside of groups: task groups wrap all that passes them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
