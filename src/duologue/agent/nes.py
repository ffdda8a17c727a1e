"""Suggested edits (NES): what the author of an agent overrides, and what the hooks are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from duologue.documents import POSITION_ENCODINGS, Document, TextEdit, apply_edits, check_edits
from duologue.local.ids import fresh_id
from duologue.peer.overriding import check_overrides
from duologue.protocol.common.capabilities import PositionEncodingKind
from duologue.protocol.common.documents import Range
from duologue.protocol.common.nes import (
    NesRejectReason,
    NesRepository,
    NesSuggestContext,
    NesTextEdit,
    NesTriggerKind,
    StartNesRequest,
    SuggestNesRequest,
    WorkspaceFolder,
)
from duologue.protocol.common.nes_capabilities import (
    NesCapabilities,
    NesContextCapabilities,
    NesDocumentDidChangeCapabilities,
    NesDocumentDidCloseCapabilities,
    NesDocumentDidFocusCapabilities,
    NesDocumentDidOpenCapabilities,
    NesDocumentDidSaveCapabilities,
    NesDocumentEventCapabilities,
    NesEventCapabilities,
    TextDocumentSyncKind,
)
from duologue.protocol.v2.nes import (
    EditSuggestion,
    JumpSuggestion,
    NesSuggestion,
    RenameSuggestion,
    SearchAndReplaceSuggestion,
)


class NesSession:
    """A session for suggested edits; `state` is the author's.

    `documents` are the client's open buffers by URI, as far as the client tells of them. `encoding` is what positions
    of the wire count in, such as those of a request's `context`: ``document.span(diagnostic.range, session.encoding)``.
    """

    def __init__(self, request: StartNesRequest, encoding: PositionEncodingKind) -> None:
        self.id = fresh_id()
        self.workspace_uri: str | None = request.workspace_uri or None
        self.workspace_folders: Sequence[WorkspaceFolder] = request.workspace_folders or ()
        self.repository: NesRepository | None = request.repository or None
        self.encoding = encoding
        self.documents: dict[str, Document] = {}
        self.state: Any = None
        self._ids = 0

    def next_id(self) -> str:
        """An id for a suggestion, unique in the session."""
        self._ids += 1
        return f"suggestion-{self._ids}"


class NesRequest:
    """A request for suggestions, with offsets in `str` in place of positions.

    `document` is the buffer as it was when the request was read. It, `offset` (the cursor) and `selection` are None
    when the client does not tell the text; `raw` has the positions then. The methods make suggestions for `document`,
    or another one: an open one of `session.documents`, or ``Document(uri, text)`` of a file that is not open.
    """

    def __init__(self, session: NesSession, raw: SuggestNesRequest, document: Document | None) -> None:
        self.session = session
        self.raw = raw
        self.uri = raw.uri
        self.trigger_kind: NesTriggerKind = raw.trigger_kind
        self.context = raw.context or NesSuggestContext()
        self.document = document
        self.offset: int | None = None
        self.selection: tuple[int, int] | None = None
        if document is not None:
            self.offset = document.offset(raw.position, session.encoding)
            if isinstance(raw.selection, Range):
                self.selection = document.span(raw.selection, session.encoding)

    def edit(self, *edits: TextEdit, cursor: int | None = None, document: Document | None = None) -> EditSuggestion:
        """Suggest to change text: at least one edit, all of the text as it is. `cursor` is an offset of the text after
        them. Raises `ValueError` (none, they overlap, or are not in the text)."""
        about, encoding = self._about(document), self.session.encoding
        if not edits:
            raise ValueError("an edit suggestion has at least one edit")
        made = [
            NesTextEdit(range=about.range(edit.start, edit.end, encoding), new_text=edit.text)
            for edit in check_edits(edits)
        ]
        place: Any = UNSET
        if cursor is not None:
            place = Document(about.uri, apply_edits(about.text, edits)).position(cursor, encoding)
        return EditSuggestion(suggestion_id=self.session.next_id(), uri=about.uri, edits=made, cursor_position=place)

    def jump(self, offset: int, *, document: Document | None = None) -> JumpSuggestion:
        """Suggest to go to another place. Raises `ValueError`."""
        about = self._about(document)
        place = about.position(offset, self.session.encoding)
        return JumpSuggestion(suggestion_id=self.session.next_id(), uri=about.uri, position=place)

    def rename(self, offset: int, new_name: str, *, document: Document | None = None) -> RenameSuggestion:
        """Suggest to rename the symbol at a place. Raises `ValueError`."""
        about = self._about(document)
        place = about.position(offset, self.session.encoding)
        return RenameSuggestion(suggestion_id=self.session.next_id(), uri=about.uri, position=place, new_name=new_name)

    def search_and_replace(
        self, search: str, replace: str, *, is_regex: bool = False, uri: str | None = None
    ) -> SearchAndReplaceSuggestion:
        """Suggest to replace text throughout a file."""
        return SearchAndReplaceSuggestion(
            suggestion_id=self.session.next_id(),
            uri=self.uri if uri is None else uri,
            search=search,
            replace=replace,
            is_regex=is_regex or UNSET,
        )

    def _about(self, document: Document | None) -> Document:
        about = document or self.document
        if about is None:
            raise ValueError(f"the text of {self.uri} is not known: give a document")
        return about


class Nes:
    """How an agent suggests edits: subclass it, override `suggest`, and set ``Agent.nes`` to an instance.

    A hook may raise `RpcError`. The hooks for documents are called when the message is read, and must not block.
    """

    #: The position encodings to choose from, the best first. What hooks see are offsets in `str` in any case.
    position_encodings: Sequence[PositionEncodingKind] = POSITION_ENCODINGS

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_overrides(cls, Nes)

    def capabilities(self) -> NesCapabilities:
        """What to be told: by default the open documents, changes in pieces, saves and the focus when `saved` and
        `focused` are overridden, and what `context` asks for."""
        mine = type(self)
        events = NesDocumentEventCapabilities(
            did_open=NesDocumentDidOpenCapabilities(),
            did_change=NesDocumentDidChangeCapabilities(sync_kind=TextDocumentSyncKind.INCREMENTAL),
            did_close=NesDocumentDidCloseCapabilities(),
            did_save=NesDocumentDidSaveCapabilities() if mine.saved is not Nes.saved else UNSET,
            did_focus=NesDocumentDidFocusCapabilities() if mine.focused is not Nes.focused else UNSET,
        )
        return NesCapabilities(events=NesEventCapabilities(document=events), context=self.context() or UNSET)

    def context(self) -> NesContextCapabilities | None:
        """The context that is wanted with each request for suggestions."""
        return None

    async def start(self, session: NesSession) -> None:
        """A session begins. Raise `RpcError` (-32000) when a login is needed first."""

    async def suggest(self, session: NesSession, request: NesRequest) -> Sequence[NesSuggestion]:
        """The suggestions, best first; none is an answer too. Cancelled when the client no longer wants them.

        Kinds that the client cannot show are left out of what is sent."""
        raise NotImplementedError

    async def accepted(self, session: NesSession, suggestion: NesSuggestion) -> None:
        """The user took a suggestion."""

    async def rejected(self, session: NesSession, suggestion: NesSuggestion, reason: NesRejectReason | None) -> None:
        """The user did not take a suggestion."""

    async def close(self, session: NesSession) -> None:
        """The session was closed, or the connection ended; its requests have ended."""

    def opened(self, session: NesSession, document: Document) -> None:
        """A document was opened."""

    def changed(self, session: NesSession, document: Document) -> None:
        """A document was changed."""

    def saved(self, session: NesSession, document: Document) -> None:
        """A document was saved."""

    def focused(self, session: NesSession, document: Document, offset: int, visible: tuple[int, int]) -> None:
        """A document got the focus; the cursor and what is visible, as offsets."""

    def closed(self, session: NesSession, document: Document) -> None:
        """A document was closed."""
