"""The MCP servers of one session. This loads nothing heavy until there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from duologue.coder.limits import McpLimits
from duologue.coder.mcp.entries import Entry, identity
from duologue.coder.mcp.library import MISSING
from duologue.coder.naming import server_parts
from duologue.coder.settling import in_daemon

if TYPE_CHECKING:
    from duologue.coder.mcp.server import Server
    from duologue.coder.tools.base import Tool

NOT_INSTALLED = f"the MCP servers that were given to this session are not started: {MISSING}"


class McpHub:
    """Starts what a client names, and gives the tools of what is ready. `connect` may be called again, with others."""

    def __init__(self, limits: McpLimits | None = None) -> None:
        self.limits = limits or McpLimits()
        self._named: tuple[Entry, ...] = ()
        #: Of these as many as are started.
        self._entries: tuple[Entry, ...] = ()
        self._cwd = Path()
        self._servers: dict[Entry, Server] = {}
        self._starting: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._tools: tuple[Tool, ...] | None = None
        self._told: set[object] = set()
        self._waited = self._missing = False
        self._notices: list[str] = []

    def connect(self, entries: Sequence[Entry], cwd: Path, after: float = 0) -> None:
        """Have these servers and no others, in so many seconds: those that were there already go on."""
        entries = tuple(dict.fromkeys(entries))
        if entries == self._named and cwd == self._cwd:
            return
        if len(entries) > self.limits.servers:
            self._notices.append(
                f"only the first {self.limits.servers} of {len(entries)} MCP servers are started: name fewer of them."
            )
        moved = cwd != self._cwd
        self._named, self._entries = entries, entries[: self.limits.servers]
        self._cwd, self._waited = cwd, False
        for entry in [entry for entry in self._servers if moved or entry not in self._entries]:
            self._end(self._servers.pop(entry))
        self._tools = None
        if self._starting is not None:
            self._starting.cancel()
        self._starting = asyncio.create_task(self._start(after)) if self._entries else None

    async def _start(self, after: float) -> None:
        """Start what does not run, once the library is loaded."""
        await asyncio.sleep(after)
        try:
            await in_daemon(_import)
        except ImportError:
            self._missing = True
            self._notices.append(NOT_INSTALLED)
            return
        from duologue.coder.mcp.server import Server

        for entry in self._entries:
            if entry not in self._servers:
                self._servers[entry] = Server(entry, self._cwd, self.limits, self._changed)

    def _changed(self) -> None:
        self._tools = None

    async def wait(self, seconds: float) -> list[str]:
        """Wait until all are ready or given up, so long at most. Returns the names of the others; none once
        `wait_no_longer` was said."""
        if self._waited or self._starting is None:
            return []
        settling = asyncio.create_task(self._settled())
        try:
            await asyncio.wait({settling}, timeout=seconds)
        finally:
            settling.cancel()
        return self.starting()

    def wait_no_longer(self) -> list[str]:
        """The turns go on without what is still starting, until it is ready. Returns the names."""
        self._waited = True
        names = self.starting()
        if names:
            self._notices.append(
                f"MCP servers that are still starting after {self.limits.wait_seconds:g} seconds: "
                f"{', '.join(f'`{name}`' for name in names)}. This turn goes on without their tools, which come as "
                "soon as they are ready."
            )
        return names

    def starting(self) -> list[str]:
        """The names of servers that are neither ready nor given up."""
        return [entry.name for entry in self._entries if not self._is_settled(entry)]

    def given_up(self) -> list[str]:
        """The names of servers that are not used."""
        failed = (self._servers.get(entry) for entry in self._entries)
        return [server.entry.name for server in failed if server is not None and server.failure is not None]

    async def _settled(self) -> None:
        if self._starting is not None:
            await asyncio.wait({self._starting})
        for server in list(self._servers.values()):
            await server.settled()

    def _is_settled(self, entry: Entry) -> bool:
        server = self._servers.get(entry)
        # Without the library there is nothing to wait for.
        return self._missing if server is None else server.is_settled

    def tools(self) -> tuple[Tool, ...]:
        """The tools of all servers that are ready, in the order of the entries, as far as the limit goes."""
        if self._tools is None:
            self._tools = self._gather()
        return self._tools

    def _gather(self) -> tuple[Tool, ...]:
        if not self._servers:
            return ()
        from duologue.coder.mcp.tools import tools_of

        parts = server_parts([(entry.name, identity(entry)) for entry in self._entries])
        found: dict[str, Tool] = {}
        for entry, part in zip(self._entries, parts, strict=True):
            if entry in self._servers:
                for tool in tools_of(self._servers[entry], part):
                    found.setdefault(tool.spec.name, tool)
        if len(found) > self.limits.tools and "tools" not in self._told:
            self._told.add("tools")
            self._notices.append(
                f"the MCP servers have more than {self.limits.tools} tools together, and the rest is left out: "
                "name fewer servers for this session."
            )
        return tuple(found.values())[: self.limits.tools]

    def notices(self) -> list[str]:
        """What a person should know and was not told yet."""
        self.tools()
        for server in self._servers.values():
            if server.failure is not None and server not in self._told:
                self._told.add(server)
                self._notices.append(server.notice())
        notices, self._notices = self._notices, []
        return notices

    def _end(self, server: Server) -> None:
        task = asyncio.create_task(server.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End all servers, and wait for that."""
        if self._starting is not None:
            self._starting.cancel()
        for server in self._servers.values():
            self._end(server)
        self._servers.clear()
        if self._ending:
            await asyncio.wait(set(self._ending))


def _import() -> None:
    import duologue.coder.mcp.server
    import duologue.coder.mcp.tools  # noqa: F401
