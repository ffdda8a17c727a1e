"""The MCP connections that pass through one peer, by id; agent and client have the same."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from duologue.jsonrpc.errors import RpcError
from duologue.mcp.channel import McpChannel
from duologue.protocol.common.errors import ErrorCode
from duologue.protocol.common.mcp import MessageMcpNotification, MessageMcpRequest
from duologue.protocol.common.table import MCP_MESSAGE, MCP_MESSAGE_NOTIFICATION
from duologue.transports.base import Closed

if TYPE_CHECKING:
    from duologue.peer import Peer, Scope

log = logging.getLogger("duologue.mcp")


class Tunnels:
    """Passes `mcp/message` to the channel that it names."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._channels: dict[str, McpChannel] = {}
        # What will be the answer to a request of the other side.
        self._answers: dict[Scope, Awaitable[Any]] = {}
        peer.handle(MCP_MESSAGE, self._answer, admit=self._admit)
        peer.apply(MCP_MESSAGE_NOTIFICATION, self._heard)
        peer.on_closed(self._closed)

    def open(self, connection_id: str, disconnect: Callable[[], Awaitable[None]]) -> McpChannel:
        """A channel for a new connection; `disconnect` is called when this side closes it."""

        async def leave() -> None:
            self._channels.pop(connection_id, None)
            await disconnect()

        before = self._channels.get(connection_id)
        channel = self._channels[connection_id] = McpChannel(self._peer, connection_id, leave)
        if before is not None:
            # What comes under the id belongs to the new one: whoever reads the other would wait for ever.
            log.warning("the id of an open MCP connection was given to another one; that has ended: %s", connection_id)
            before.end()
        return channel

    def end(self, connection_id: str) -> None:
        """The other side has closed a connection. Raises `RpcError` when there is none of that id."""
        self._find(connection_id)
        self._channels.pop(connection_id).end()

    def _find(self, connection_id: str) -> McpChannel:
        channel = self._channels.get(connection_id)
        if channel is None:
            about = {"connectionId": connection_id}
            raise RpcError(ErrorCode.RESOURCE_NOT_FOUND, f"no such MCP connection: {connection_id}", about)
        return channel

    def _admit(self, params: MessageMcpRequest, scope: Scope) -> None:
        """Queue it for the channel, in the order of the wire, and let a cancel find it from now on."""
        answer, scope.on_cancel = self._find(params.connection_id).asked(params.method, params.params)
        self._answers[scope] = answer

    async def _answer(self, params: MessageMcpRequest, scope: Scope) -> Any:
        return await self._answers.pop(scope)

    def _heard(self, note: MessageMcpNotification) -> None:
        channel = self._channels.get(note.connection_id)
        if channel is None:
            log.debug("ignored a notification of an unknown MCP connection: %s", note.connection_id)
        else:
            channel.heard(note.method, note.params)

    def _closed(self, reason: Closed) -> None:
        channels, self._channels = self._channels, {}
        for channel in channels.values():
            channel.end()
