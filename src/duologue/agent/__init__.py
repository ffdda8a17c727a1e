"""What the author of an agent uses: `Agent` to subclass, `Turn` to speak through, `run` to serve."""

from duologue.agent.agent import Agent
from duologue.agent.asked import Asked, current_request
from duologue.agent.connection import AgentConnection
from duologue.agent.errors import TurnOver
from duologue.agent.permission import Permission, default_options
from duologue.agent.serving import run, serve
from duologue.agent.session import Session
from duologue.agent.terminal import Terminal
from duologue.agent.toolcall import ToolCall, file_diff
from duologue.agent.turn import Command, Turn
from duologue.agent.voice import Voice, command, plan_entry
from duologue.late import late_names as _late_names
from duologue.peer.errors import NotOffered, unknown_session
from duologue.peer.extensions import handles
from duologue.protocol.changes.memory import AgentExtras

# Set here, not imported: type checkers go by the name. What a plain agent does not use is loaded when it is asked for.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from duologue.agent.client_files import ClientFiles
    from duologue.agent.client_terminal import ClientTerminal
    from duologue.agent.elicitation import FormAnswer, Outcome, UrlAnswer
    from duologue.agent.history import History
    from duologue.agent.listing import list_page, open_sessions
    from duologue.agent.nes import Nes, NesRequest, NesSession
    from duologue.agent.providers import Endpoint, Provider, Providers

__all__ = [
    "Agent",
    "AgentConnection",
    "AgentExtras",
    "Asked",
    "ClientFiles",
    "ClientTerminal",
    "Command",
    "Endpoint",
    "FormAnswer",
    "History",
    "Nes",
    "NesRequest",
    "NesSession",
    "NotOffered",
    "Outcome",
    "Permission",
    "Provider",
    "Providers",
    "Session",
    "Terminal",
    "ToolCall",
    "Turn",
    "TurnOver",
    "UrlAnswer",
    "Voice",
    "command",
    "current_request",
    "default_options",
    "file_diff",
    "handles",
    "list_page",
    "open_sessions",
    "plan_entry",
    "run",
    "serve",
    "unknown_session",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _late_names(
        globals(),
        {
            "client_files": "ClientFiles",
            "client_terminal": "ClientTerminal",
            "elicitation": "FormAnswer Outcome UrlAnswer",
            "history": "History",
            "listing": "list_page open_sessions",
            "nes": "Nes NesRequest NesSession",
            "providers": "Endpoint Provider Providers",
        },
    )
