"""Serving suggested edits: the sessions, the mirror of the client's buffers, and the hooks of a `Nes`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from duologue.agent.nes import Nes, NesRequest, NesSession
from duologue.documents import DEFAULT_ENCODING, Document, choose_encoding
from duologue.peer import Scope
from duologue.peer.errors import unknown_session, wrong_params
from duologue.protocol.common.documents import (
    DidChangeDocumentNotification,
    DidCloseDocumentNotification,
    DidFocusDocumentNotification,
    DidOpenDocumentNotification,
    DidSaveDocumentNotification,
    Range,
)
from duologue.protocol.common.nes import (
    CloseNesRequest,
    CloseNesResponse,
    StartNesRequest,
    StartNesResponse,
    SuggestNesRequest,
)
from duologue.protocol.common.nes_capabilities import ClientNesCapabilities
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.capabilities import ClientCapabilities
from duologue.protocol.v2.nes import (
    AcceptNesNotification,
    JumpSuggestion,
    NesSuggestion,
    RejectNesNotification,
    RenameSuggestion,
    SearchAndReplaceSuggestion,
    SuggestNesResponse,
    suggestion_id_of,
)

if TYPE_CHECKING:
    from duologue.peer import Peer

log = logging.getLogger("duologue.agent")

#: Suggestions of a session whose fate is still to be told; the oldest are forgotten.
OPEN_SUGGESTIONS = 256
#: How long the requests of a session may take to end once it is closed, in seconds.
CLOSE_SECONDS = 3.0

#: The capability of the client that lets a kind be sent; edits are always shown.
_NEEDS: dict[type, Callable[[ClientNesCapabilities], Any]] = {
    JumpSuggestion: lambda client: client.jump,
    RenameSuggestion: lambda client: client.rename,
    SearchAndReplaceSuggestion: lambda client: client.search_and_replace,
}


class _Open:
    """A session, its requests that are not answered, and its suggestions whose fate is not told."""

    def __init__(self, session: NesSession) -> None:
        self.session = session
        self.requests: dict[Scope, NesRequest] = {}
        self.suggestions: dict[str, NesSuggestion] = {}

    def leave(self, scope: Scope) -> None:
        """A request is answered."""
        self.requests.pop(scope, None)


class NesService:
    """Answers `nes/*` and hears `document/*` of one connection."""

    def __init__(self, peer: Peer, nes: Nes) -> None:
        self._nes = nes
        self._open: dict[str, _Open] = {}
        self._closing: dict[Scope, _Open] = {}
        self._encoding = DEFAULT_ENCODING
        self._client = ClientNesCapabilities()
        peer.handle(v2.NES_START, self._start)
        peer.handle(v2.NES_SUGGEST, self._suggest, admit=self._admit_suggest)
        peer.handle(v2.NES_CLOSE, self._close, admit=self._admit_close)
        peer.listen(v2.NES_ACCEPT, self._accept)
        peer.listen(v2.NES_REJECT, self._reject)
        peer.apply(v2.DOCUMENT_DID_OPEN, self._did_open)
        peer.apply(v2.DOCUMENT_DID_CHANGE, self._did_change)
        peer.apply(v2.DOCUMENT_DID_SAVE, self._did_save)
        peer.apply(v2.DOCUMENT_DID_FOCUS, self._did_focus)
        peer.apply(v2.DOCUMENT_DID_CLOSE, self._did_close)

    def introduce(self, client: ClientCapabilities) -> dict[str, Any]:
        """Take what the client announced; the members of the agent's capabilities that answer it."""
        self._client = client.nes or ClientNesCapabilities()
        chosen = choose_encoding(client.position_encodings, self._nes.position_encodings)
        self._encoding = chosen or DEFAULT_ENCODING
        return {"nes": self._nes.capabilities(), "position_encoding": chosen or UNSET}

    async def end(self) -> None:
        """The connection has ended: so do the sessions."""
        ended, self._open = list(self._open.values()), {}
        await asyncio.gather(*map(self._end, ended))

    # --- sessions -----------------------------------------------------------------------------------------------------

    async def _start(self, params: StartNesRequest, scope: Scope) -> StartNesResponse:
        session = NesSession(params, self._encoding)
        await self._nes.start(session)
        self._open[session.id] = _Open(session)
        return StartNesResponse(session_id=session.id)

    def _admit_close(self, params: CloseNesRequest, scope: Scope) -> None:
        self._closing[scope] = self._find(params.session_id)
        del self._open[params.session_id]

    async def _close(self, params: CloseNesRequest, scope: Scope) -> CloseNesResponse:
        await self._end(self._closing.pop(scope))
        return CloseNesResponse()

    async def _end(self, opened: _Open) -> None:
        tasks = [scope.task for scope in opened.requests if scope.task is not None]
        for scope in list(opened.requests):
            scope.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._nes.close(opened.session)
        except Exception:
            log.exception("closing a session for suggested edits failed")

    def _find(self, session_id: str) -> _Open:
        opened = self._open.get(session_id)
        if opened is None:
            raise unknown_session(session_id)
        return opened

    # --- suggestions --------------------------------------------------------------------------------------------------

    def _admit_suggest(self, params: SuggestNesRequest, scope: Scope) -> None:
        """Keep the buffer as it is now: what is read next may change it."""
        opened = self._find(params.session_id)
        document = opened.session.documents.get(params.uri)
        if document is not None and document.version != params.version:
            problem = f"the text of {params.uri} is known in version {document.version}, not {params.version}"
            raise wrong_params(problem, "version")
        copied = None if document is None else document.copy()
        opened.requests[scope] = NesRequest(opened.session, params, copied)
        scope.then.append(partial(opened.leave, scope))

    async def _suggest(self, params: SuggestNesRequest, scope: Scope) -> SuggestNesResponse:
        opened = self._find(params.session_id)
        made = await self._nes.suggest(opened.session, opened.requests[scope])
        shown = [suggestion for suggestion in made if self._may_show(suggestion)]
        for suggestion in shown:
            opened.suggestions[suggestion_id_of(suggestion)] = suggestion
        while len(opened.suggestions) > OPEN_SUGGESTIONS:
            del opened.suggestions[next(iter(opened.suggestions))]
        return SuggestNesResponse(suggestions=shown)

    def _may_show(self, suggestion: NesSuggestion) -> bool:
        needs = _NEEDS.get(suggestion.__class__)
        # What is absent is false, an empty object is not.
        if needs is None or needs(self._client):
            return True
        log.debug("left out a %s: the client cannot show it", type(suggestion).__name__)
        return False

    async def _accept(self, note: AcceptNesNotification) -> None:
        found = self._fate(note)
        if found is not None:
            await self._nes.accepted(*found)

    async def _reject(self, note: RejectNesNotification) -> None:
        found = self._fate(note)
        if found is not None:
            await self._nes.rejected(*found, note.reason or None)

    def _fate(self, note: AcceptNesNotification | RejectNesNotification) -> tuple[NesSession, NesSuggestion] | None:
        opened = self._open.get(note.session_id)
        suggestion = None if opened is None else opened.suggestions.pop(note.suggestion_id, None)
        if opened is None or suggestion is None:
            log.debug("ignored the fate of an unknown suggestion: %s", note.suggestion_id)
            return None
        return opened.session, suggestion

    # --- documents ----------------------------------------------------------------------------------------------------

    def _did_open(self, note: DidOpenDocumentNotification) -> None:
        opened = self._heard(note)
        if opened is not None:
            document = Document(note.uri, note.text, language_id=note.language_id, version=note.version)
            opened.session.documents[note.uri] = document
            self._nes.opened(opened.session, document)

    def _did_change(self, note: DidChangeDocumentNotification) -> None:
        opened = self._heard(note)
        if opened is None:
            return
        document = opened.session.documents.get(note.uri)
        if document is None:
            if any(isinstance(change.range, Range) for change in note.content_changes[:1]):
                log.warning("ignored a change of a document that is not open: %s", note.uri)
                return
            # A whole text needs none before it.
            document = opened.session.documents[note.uri] = Document(note.uri, "")
        document.apply(note.content_changes, opened.session.encoding)
        document.version = note.version
        self._nes.changed(opened.session, document)

    def _did_save(self, note: DidSaveDocumentNotification) -> None:
        found = self._known(note)
        if found is not None:
            self._nes.saved(*found)

    def _did_focus(self, note: DidFocusDocumentNotification) -> None:
        found = self._known(note)
        if found is not None:
            session, document = found
            offset = document.offset(note.position, session.encoding)
            self._nes.focused(session, document, offset, document.span(note.visible_range, session.encoding))

    def _did_close(self, note: DidCloseDocumentNotification) -> None:
        found = self._known(note)
        if found is not None:
            session, document = found
            del session.documents[note.uri]
            self._nes.closed(session, document)

    def _heard(self, note: Any) -> _Open | None:
        opened = self._open.get(note.session_id)
        if opened is None:
            log.debug("ignored a %s of an unknown session", type(note).__name__)
        return opened

    def _known(self, note: Any) -> tuple[NesSession, Document] | None:
        opened = self._heard(note)
        document = None if opened is None else opened.session.documents.get(note.uri)
        if opened is None or document is None:
            log.debug("ignored a %s of a document that is not open", type(note).__name__)
            return None
        return opened.session, document
