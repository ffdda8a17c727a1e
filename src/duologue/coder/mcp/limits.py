"""Every limit on MCP servers, by name."""

from __future__ import annotations

import msgspec

KIB = 1024
MIB = 1024 * KIB


class McpLimits(msgspec.Struct, frozen=True):
    """Sizes are bytes unless the name says otherwise, times are seconds."""

    servers: int = 32
    """Servers of a session; what is named beyond is not started."""

    tools: int = 100
    """Tools of all servers of a session; further ones are left out."""

    start_seconds: float = 30
    """Time a server has from its start to the list of its tools."""

    wait_seconds: float = 10
    """How long the first prompt waits for servers that are still starting."""

    quiet_seconds: float = 0.5
    """How much of that passes before the user is shown what is waited for."""

    call_seconds: float = 300
    """Time that one call may take."""

    restarts: int = 1
    """How often a server that has ended is started again before one of its calls succeeds."""

    restart_seconds: float = 1
    """The pause before that."""

    stop_seconds: float = 0.8
    """Each stage of ending a server: after its input was closed, after SIGTERM."""

    message: int = 32 * MIB
    """One message of a server."""

    waiting: int = 256
    """Messages of a server that wait to be read; then it is not read from."""

    result: int = 4 * MIB
    """What one result may hold; further parts of it are left out."""

    result_characters: int = 64 * KIB
    """Characters of a result that the model gets."""

    schema: int = 64 * KIB
    """The schema of a tool's arguments; a tool with a larger one is left out."""

    description_characters: int = 4096
    """A tool's description, in characters; the rest is cut off."""

    told_characters: int = 2000
    """The last of a server's stderr, and an error's text, that are told, in characters."""
