"""What the author of a client uses: `connect` to an agent, prompt a `Session`, answer through a `Client`."""

from duologue.client.client import Client, refusal
from duologue.client.connecting import connect
from duologue.client.connection import ClientConnection
from duologue.client.errors import AgentFailed, LoginFailed, TurnFailed, VersionMismatch
from duologue.client.login import Login, TerminalLogin
from duologue.client.serving import allowance
from duologue.client.session import Session
from duologue.client.turn import PromptTurn
from duologue.client.urls import url_doubts
from duologue.late import late_names as _late_names
from duologue.peer.errors import NotOffered
from duologue.peer.extensions import handles
from duologue.protocol.changes.memory import ClientExtras

# Set here, not imported: type checkers go by the name. What a plain client does not use is loaded when it is asked for.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from duologue.client.documents import NesDocument
    from duologue.client.files import Buffers, LocalFiles
    from duologue.client.mcp import McpServers
    from duologue.client.nes import ClientNesSession
    from duologue.client.policy import Policy
    from duologue.client.providers import AgentProviders
    from duologue.client.suggestions import (
        SuggestedEdit,
        SuggestedJump,
        SuggestedRename,
        SuggestedReplacement,
        Suggestion,
    )
    from duologue.client.terminals import LocalTerminals

__all__ = [
    "AgentFailed",
    "AgentProviders",
    "Buffers",
    "Client",
    "ClientConnection",
    "ClientExtras",
    "ClientNesSession",
    "LocalFiles",
    "LocalTerminals",
    "Login",
    "LoginFailed",
    "McpServers",
    "NesDocument",
    "NotOffered",
    "Policy",
    "PromptTurn",
    "Session",
    "SuggestedEdit",
    "SuggestedJump",
    "SuggestedRename",
    "SuggestedReplacement",
    "Suggestion",
    "TerminalLogin",
    "TurnFailed",
    "VersionMismatch",
    "allowance",
    "connect",
    "handles",
    "refusal",
    "url_doubts",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _late_names(
        globals(),
        {
            "documents": "NesDocument",
            "files": "Buffers LocalFiles",
            "mcp": "McpServers",
            "nes": "ClientNesSession",
            "policy": "Policy",
            "providers": "AgentProviders",
            "suggestions": "SuggestedEdit SuggestedJump SuggestedRename SuggestedReplacement Suggestion",
            "terminals": "LocalTerminals",
        },
    )
