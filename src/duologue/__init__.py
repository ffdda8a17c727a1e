"""Duologue: the Agent Client Protocol (ACP) for Python, both versions and both ends.

The names that most programs need stand here; each loads its room when it is first used. The rest is in the rooms:
`duologue.agent`, `duologue.client`, `duologue.session`, and the types of the protocol in `duologue.protocol.v2`.
Two classes are called `Session`, one for either end, so that name stays in `duologue.agent` and `duologue.client`.
"""

from __future__ import annotations

from duologue.late import late_names as _late_names
from duologue.version import __version__

# Set here, not imported: type checkers go by the name, and `typing` is not loaded for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from duologue.agent import Agent, History, Permission, ToolCall, Turn, TurnOver, run, serve
    from duologue.client import AgentFailed, Client, ClientConnection, PromptTurn, TurnFailed, VersionMismatch, connect
    from duologue.errors import DuologueError
    from duologue.jsonrpc.errors import JsonRpcError, LimitError, RpcError
    from duologue.jsonrpc.limits import Limits
    from duologue.peer import ConnectionClosed
    from duologue.session import Transcript

__all__ = [
    "Agent",
    "AgentFailed",
    "Client",
    "ClientConnection",
    "ConnectionClosed",
    "DuologueError",
    "History",
    "JsonRpcError",
    "LimitError",
    "Limits",
    "Permission",
    "PromptTurn",
    "RpcError",
    "ToolCall",
    "Transcript",
    "Turn",
    "TurnFailed",
    "TurnOver",
    "VersionMismatch",
    "__version__",
    "connect",
    "run",
    "serve",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _late_names(
        globals(),
        {
            "agent": "Agent History Permission ToolCall Turn TurnOver run serve",
            "client": "AgentFailed Client ClientConnection PromptTurn TurnFailed VersionMismatch connect",
            "errors": "DuologueError",
            "jsonrpc.errors": "JsonRpcError LimitError RpcError",
            "jsonrpc.limits": "Limits",
            "peer": "ConnectionClosed",
            "session": "Transcript",
        },
    )
