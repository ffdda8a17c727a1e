"""A session as its records leave it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from duologue.coder.models.base import AssistantMessage, ChatMessage, UserMessage
from duologue.coder.store.errors import Unreadable
from duologue.coder.store.records import MESSAGES, Record, RecordKind, decoded
from duologue.coder.store.rows import SessionRow
from duologue.protocol.common.content import TextBlock
from duologue.protocol.v2.updates import AgentMessageChunk
from duologue.session.transcript import Transcript


@dataclass(slots=True)
class Saved:
    """`transcript` is what the client was told, `messages` what the model knows; `conversation` names these, `used` is
    seconds since 1970.

    `interrupted` says that the last turn was not ended, because its process was; `heard` then whether the model's
    history has its prompt, `shown` and `known` the pieces of the answer that the client and the history have.
    """

    conversation: str
    model: str
    mode: str
    used: float
    transcript: Transcript = field(default_factory=Transcript)
    messages: list[ChatMessage] = field(default_factory=list)
    interrupted: bool = False
    heard: bool = False
    shown: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)

    @property
    def last_used(self) -> datetime:
        return datetime.fromtimestamp(self.used, UTC)

    def take(self, record: Record) -> None:
        """Fold one record."""
        match record:
            case (RecordKind.BEGAN, _):
                self.interrupted, self.heard = True, False
            case (RecordKind.ENDED, _):
                self.interrupted = False
            case (RecordKind.UPDATE, update):
                self.transcript.apply(update)
                if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextBlock):
                    self.shown.append(update.content.text)
            case (RecordKind.DROPPED, mark):
                if not 0 <= mark <= len(self.messages):
                    raise ValueError(f"there is no message {mark}")
                del self.messages[mark:]
            case (kind, message) if kind in MESSAGES:
                self._learn(message)

    def _learn(self, message: ChatMessage) -> None:
        self.messages.append(message)
        match message:
            case UserMessage():
                # What was shown before is no answer: notes of the agent itself.
                self.heard = True
                self.shown.clear()
                self.known.clear()
            case AssistantMessage():
                self.known.append(message.text)

    @property
    def unfinished(self) -> str:
        """What the client was shown of an answer and the history does not have. (A step may be known before all of it
        was shown.)"""
        shown, known = "".join(self.shown), "".join(self.known)
        return shown[len(known) :] if self.heard and shown.startswith(known) else ""


def fold(row: SessionRow, records: Iterable[tuple[str, bytes]]) -> Saved:
    """A session of its records. Raises Unreadable."""
    saved = Saved(row.conversation, row.model, row.mode, row.used)
    for place, (kind, body) in enumerate(records, 1):
        try:
            saved.take(decoded(kind, body))
        except Exception as error:
            raise Unreadable(f"record {place} of the stored session cannot be read ({type(error).__name__})") from None
    return saved
