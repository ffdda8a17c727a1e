"""The buffers that an editor lends to a session for suggested edits, kept in step with the agent."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from duologue.documents import Document, TextEdit, check_edits, difference
from duologue.peer.outbound import SENT
from duologue.protocol.common.documents import (
    DidChangeDocumentNotification,
    DidCloseDocumentNotification,
    DidFocusDocumentNotification,
    DidOpenDocumentNotification,
    DidSaveDocumentNotification,
    Range,
    TextDocumentContentChangeEvent,
)
from duologue.protocol.common.nes_capabilities import NesDocumentDidChangeCapabilities, TextDocumentSyncKind
from duologue.protocol.method import Notification
from duologue.protocol.v2 import table as v2

if TYPE_CHECKING:
    from duologue.client.nes import ClientNesSession


class NesDocument:
    """An open buffer. The editor tells what happens to it, in offsets of its text (a `str`); the agent is told what it
    asked for. `ClientNesSession.open` makes it.

    Awaiting what a method returns takes part in back-pressure. Each change makes open requests for suggestions stale.
    """

    def __init__(self, session: ClientNesSession, uri: str, text: str, language_id: str, version: int) -> None:
        self.session = session
        #: The text, with positions in each encoding.
        self.buffer = Document(uri, text, language_id=language_id, version=version)
        self.closed = False
        note = DidOpenDocumentNotification(
            session_id=session.id, uri=uri, language_id=language_id, version=version, text=self.text
        )
        self._tell(v2.DOCUMENT_DID_OPEN, note)

    @property
    def uri(self) -> str:
        return self.buffer.uri

    @property
    def language_id(self) -> str:
        return self.buffer.language_id

    @property
    def version(self) -> int:
        """Grows by one with each change that is told."""
        return self.buffer.version

    @property
    def text(self) -> str:
        return self.buffer.text

    def range(self, start: int, end: int) -> Range:
        """Two offsets as the agent counts, for a `NesSuggestContext`. Raises `ValueError`."""
        return self.buffer.range(start, end, self.session.encoding)

    # --- what happens to it -------------------------------------------------------------------------------------------

    def edit(self, *edits: TextEdit) -> Awaitable[None]:
        """The text was changed by edits that all refer to it as it is. Raises `ValueError`."""
        self.check_open()
        ordered = check_edits(edits)
        if ordered and not 0 <= ordered[0].start <= max(edit.end for edit in ordered) <= len(self.buffer):
            raise ValueError(f"the text of {self.uri} has {len(self.buffer)} characters")
        # From the end on, so that the places of the others stay.
        changes = [self.buffer.change(edit, self.session.encoding) for edit in reversed(ordered)]
        return self._changed(changes) if changes else SENT

    def set_text(self, text: str) -> Awaitable[None]:
        """The text is now this; told as what differs, where the agent takes that."""
        edit = difference(self.text, text)
        return SENT if edit is None else self.edit(edit)

    def save(self) -> Awaitable[None]:
        """The buffer was saved."""
        self.check_open()
        return self._tell(v2.DOCUMENT_DID_SAVE, DidSaveDocumentNotification(session_id=self.session.id, uri=self.uri))

    def focus(self, offset: int, visible: tuple[int, int]) -> Awaitable[None]:
        """The user has switched to the buffer; where the cursor is, and what can be seen of the text."""
        self.check_open()
        note = DidFocusDocumentNotification(
            session_id=self.session.id,
            uri=self.uri,
            version=self.version,
            position=self.buffer.position(offset, self.session.encoding),
            visible_range=self.range(*visible),
        )
        return self._tell(v2.DOCUMENT_DID_FOCUS, note)

    def close(self) -> Awaitable[None]:
        """The buffer was closed."""
        self.check_open()
        self.closed = True
        self.session.forget(self)
        note = DidCloseDocumentNotification(session_id=self.session.id, uri=self.uri)
        return self._tell(v2.DOCUMENT_DID_CLOSE, note)

    def _changed(self, changes: list[TextDocumentContentChangeEvent]) -> Awaitable[None]:
        self.buffer.version += 1
        self.session.make_stale(self)
        if not self.session.takes_pieces:
            changes = [TextDocumentContentChangeEvent(text=self.text)]
        note = DidChangeDocumentNotification(
            session_id=self.session.id, uri=self.uri, version=self.version, content_changes=changes
        )
        return self._tell(v2.DOCUMENT_DID_CHANGE, note)

    def _tell(self, method: Notification[Any], note: Any) -> Awaitable[None]:
        session = self.session
        return session.peer.notify(method, note) if session.connection.offers(method) else SENT

    def check_open(self) -> None:
        """Raises `ValueError` when it is closed."""
        if self.closed or self.session.closed:
            raise ValueError(f"{self.uri} is not open any more")


def takes_pieces(change: NesDocumentDidChangeCapabilities | None) -> bool:
    """Whether an agent takes changes in pieces. Where it says what nobody knows it gets whole texts, which are right
    in any case."""
    return change is not None and change.sync_kind is TextDocumentSyncKind.INCREMENTAL
