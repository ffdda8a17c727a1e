"""What the author of an agent uses: `Agent` to subclass, `Turn` to speak through, `run` to serve."""

from duologue.agent.agent import Agent, unknown_session
from duologue.agent.connection import AgentConnection
from duologue.agent.errors import TurnOver
from duologue.agent.nes import Nes, NesRequest, NesSession
from duologue.agent.permission import Permission, default_options
from duologue.agent.providers import Endpoint, Provider, Providers
from duologue.agent.serving import run, serve
from duologue.agent.session import Session
from duologue.agent.terminal import Terminal
from duologue.agent.toolcall import ToolCall, file_diff
from duologue.agent.turn import Turn
from duologue.agent.voice import Voice, plan_entry
from duologue.protocol.changes.memory import AgentExtras

__all__ = [
    "Agent",
    "AgentConnection",
    "AgentExtras",
    "Endpoint",
    "Nes",
    "NesRequest",
    "NesSession",
    "Permission",
    "Provider",
    "Providers",
    "Session",
    "Terminal",
    "ToolCall",
    "Turn",
    "TurnOver",
    "Voice",
    "default_options",
    "file_diff",
    "plan_entry",
    "run",
    "serve",
    "unknown_session",
]
