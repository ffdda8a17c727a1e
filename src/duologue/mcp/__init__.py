"""MCP through an ACP connection: channels of JSON-RPC messages, and a server of tools. No MCP library is needed."""

from duologue.mcp.channel import McpChannel, McpMessage
from duologue.mcp.errors import ChannelClosed
from duologue.mcp.tools import McpToolError, Tool, ToolServer
from duologue.mcp.tunnels import Tunnels

__all__ = ["ChannelClosed", "McpChannel", "McpMessage", "McpToolError", "Tool", "ToolServer", "Tunnels"]
