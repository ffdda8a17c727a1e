"""The shared model of a conversation: updates fold into a `Transcript`, and replay out of it."""

from duologue.session.current import CurrentTranscript
from duologue.session.entries import Message, Role, ToolCallState
from duologue.session.terminal import TerminalState
from duologue.session.transcript import Snapshot, Transcript

__all__ = ["CurrentTranscript", "Message", "Role", "Snapshot", "TerminalState", "ToolCallState", "Transcript"]
