"""What the author of a client uses: `connect` to an agent, prompt a `Session`, answer through a `Client`."""

from duologue.client.client import Client, refusal
from duologue.client.connecting import connect
from duologue.client.connection import ClientConnection
from duologue.client.errors import AgentFailed, TurnFailed, VersionMismatch
from duologue.client.session import Session
from duologue.client.turn import PromptTurn
from duologue.protocol.changes.memory import ClientExtras

__all__ = [
    "AgentFailed",
    "Client",
    "ClientConnection",
    "ClientExtras",
    "PromptTurn",
    "Session",
    "TurnFailed",
    "VersionMismatch",
    "connect",
    "refusal",
]
