"""Documents that the editor keeps in step with the agent."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from duologue.protocol.base import Extensible, Int64, Items, Lenient, UInt32
from duologue.protocol.common.ids import SessionId


class Position(Extensible, kw_only=True):
    """A place in a document, counted from zero; `character` counts in the agreed position encoding."""

    line: UInt32
    character: UInt32


class Range(Extensible, kw_only=True):
    """A stretch of a document; `end` is just behind it."""

    start: Position
    end: Position


class TextDocumentContentChangeEvent(Extensible, kw_only=True):
    """A change to a range, or without one the whole new text."""

    text: str
    range: Range | UnsetType | None = UNSET


class DidOpenDocumentNotification(Extensible, kw_only=True):
    """A document was opened."""

    session_id: SessionId
    uri: str
    language_id: str
    version: Int64
    text: str


class DidChangeDocumentNotification(Extensible, kw_only=True):
    """A document was changed."""

    session_id: SessionId
    uri: str
    version: Int64
    content_changes: Lenient[Items[TextDocumentContentChangeEvent]]


class DidCloseDocumentNotification(Extensible, kw_only=True):
    """A document was closed."""

    session_id: SessionId
    uri: str


class DidSaveDocumentNotification(Extensible, kw_only=True):
    """A document was saved."""

    session_id: SessionId
    uri: str


class DidFocusDocumentNotification(Extensible, kw_only=True):
    """A document got the focus."""

    session_id: SessionId
    uri: str
    version: Int64
    position: Position
    visible_range: Range
