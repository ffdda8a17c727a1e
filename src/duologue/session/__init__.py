"""The shared model of a conversation: updates fold into a `Transcript`, and replay out of it."""

from duologue.late import late_names as _late_names

# Set here, not imported: type checkers go by the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from duologue.session.current import CurrentTranscript
    from duologue.session.entries import Message, Role, ToolCallState
    from duologue.session.terminal import TerminalState
    from duologue.session.transcript import Snapshot, Transcript

__all__ = ["CurrentTranscript", "Message", "Role", "Snapshot", "TerminalState", "ToolCallState", "Transcript"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _late_names(
        globals(),
        {
            "current": "CurrentTranscript",
            "entries": "Message Role ToolCallState",
            "terminal": "TerminalState",
            "transcript": "Snapshot Transcript",
        },
    )
