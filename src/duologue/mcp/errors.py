"""What a channel raises.

DuologueError
└── ChannelClosed    the MCP connection has ended
"""

from __future__ import annotations

from duologue.errors import DuologueError


class ChannelClosed(DuologueError):
    """The MCP connection has ended: by either side, or with the ACP connection."""
