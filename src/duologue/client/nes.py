"""Suggested edits (NES): a session in which an editor lends its buffers and asks for suggestions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from duologue.client.documents import NesDocument, takes_pieces
from duologue.client.suggestions import Suggestion, may_show, suggestion_of
from duologue.documents import Document, known_encoding
from duologue.protocol.common.nes import (
    CloseNesRequest,
    NesRejectReason,
    NesSuggestContext,
    NesTriggerKind,
    StartNesRequest,
    SuggestNesRequest,
)
from duologue.protocol.common.nes_capabilities import (
    ClientNesCapabilities,
    NesCapabilities,
    NesContextCapabilities,
    NesDocumentEventCapabilities,
    NesEventCapabilities,
)
from duologue.protocol.v2 import table as v2
from duologue.protocol.v2.nes import (
    AcceptNesNotification,
    NesSuggestion,
    RejectNesNotification,
    SuggestNesResponse,
    suggestion_id_of,
)

if TYPE_CHECKING:
    from duologue.client.connection import ClientConnection

log = logging.getLogger("duologue.client")

#: Gives the text of a file that is not open, by URI; None when there is none.
ReadFile = Callable[[str], str | None]

_CONTEXT = ("recent_files", "related_snippets", "edit_history", "user_actions", "open_files", "diagnostics")


class ClientNesSession:
    """A session for suggested edits; `ClientConnection.start_nes` begins it. `documents` are the open ones by URI.

    `encoding` is what positions count in on the wire, `wants` the context that the agent asked for.
    """

    def __init__(self, connection: ClientConnection, session_id: str, read_file: ReadFile | None) -> None:
        offered = connection.capabilities.nes or NesCapabilities()
        events = (offered.events or NesEventCapabilities()).document or NesDocumentEventCapabilities()
        self.connection = connection
        # After a login that starts the agent anew the connection has another one, which knows no such session.
        self.peer = connection.peer
        self.id = session_id
        self.encoding = known_encoding(connection.capabilities.position_encoding)
        self.wants = offered.context or NesContextCapabilities()
        self.documents: dict[str, NesDocument] = {}
        self.closed = False
        self.takes_pieces = takes_pieces(events.did_change or None)
        self._read_file = read_file
        self._asked: set[_Asked] = set()
        # Suggestions whose fate was not told.
        self._open: set[str] = set()

    def open(self, uri: str, text: str, *, language_id: str, version: int = 1) -> NesDocument:
        """A document was opened. Raises `ValueError` (it is open, or the session is closed)."""
        self._check_open()
        if uri in self.documents:
            raise ValueError(f"{uri} is open already")
        document = self.documents[uri] = NesDocument(self, uri, text, language_id, version)
        return document

    async def suggest(
        self,
        document: NesDocument,
        offset: int,
        *,
        trigger: NesTriggerKind = NesTriggerKind.AUTOMATIC,
        selection: tuple[int, int] | None = None,
        context: NesSuggestContext | None = None,
    ) -> tuple[Suggestion, ...]:
        """Ask for suggestions at the cursor, best first.

        A request that is still open in the session is withdrawn, and so is this one by a change of the document: what
        is stale is empty. Of `context` the agent gets what it asked for, of each list the first entries. Suggestions
        that cannot be shown (an unknown or unannounced kind, a file whose text is not known) are left out.
        Raises `RpcError`, `ValueError`.
        """
        self._check_open()
        document.check_open()
        for earlier in self._asked:
            earlier.withdraw()
        request = SuggestNesRequest(
            session_id=self.id,
            uri=document.uri,
            version=document.version,
            position=document.buffer.position(offset, self.encoding),
            trigger_kind=trigger,
            selection=UNSET if selection is None else document.range(*selection),
            context=asked_for(context, self.wants),
        )
        asked = _Asked(document, self, request)
        self._asked.add(asked)
        try:
            told = await asked.answer()
        finally:
            self._asked.discard(asked)
        return tuple(made for one in told if (made := self._made(one)) is not None)

    def accept(self, suggestion: Suggestion) -> None:
        """The user took a suggestion. What becomes of it is told once; later words about it are not."""
        if self._settle(suggestion.id):
            note = AcceptNesNotification(session_id=self.id, suggestion_id=suggestion.id)
            self.peer.notify(v2.NES_ACCEPT, note)

    def reject(self, suggestion: Suggestion, reason: NesRejectReason | None = None) -> None:
        """The user did not take a suggestion."""
        if self._settle(suggestion.id):
            self.tell_rejected(suggestion.id, reason)

    async def close(self) -> None:
        """Close the session; open requests come back empty. Raises `RpcError`."""
        if self.closed:
            return
        self.closed = True
        self.documents.clear()
        self._open.clear()
        withdrawn = [asked.withdraw() for asked in self._asked]
        if withdrawn:
            await asyncio.wait(withdrawn)
        await self.peer.request(v2.NES_CLOSE, CloseNesRequest(session_id=self.id))

    # --- for documents and requests -----------------------------------------------------------------------------------

    def forget(self, document: NesDocument) -> None:
        """A document was closed."""
        self.documents.pop(document.uri, None)
        self.make_stale(document)

    def make_stale(self, document: NesDocument) -> None:
        """The document is not any more what was asked about."""
        for asked in self._asked:
            if asked.document is document:
                asked.withdraw()

    def tell_rejected(self, suggestion_id: str, reason: NesRejectReason | None) -> None:
        """Tell the agent that a suggestion was not taken."""
        note = RejectNesNotification(session_id=self.id, suggestion_id=suggestion_id, reason=reason or UNSET)
        self.peer.notify(v2.NES_REJECT, note)

    def _settle(self, suggestion_id: str) -> bool:
        """Whether the fate of a suggestion is still to be told."""
        if suggestion_id not in self._open:
            return False
        self._open.remove(suggestion_id)
        return True

    def _made(self, told: NesSuggestion) -> Suggestion | None:
        """A suggestion in the editor's terms; one that cannot be shown is rejected as ignored."""
        try:
            if not may_show(told, self.connection.announced.nes or ClientNesCapabilities()):
                raise ValueError("a kind that this client does not show")
            held = self.documents.get(told.uri)
            document = held.buffer if held is not None else self._file(told.uri)
            made = suggestion_of(told, document, None if held is None else held.version, self.encoding)
        except ValueError as error:
            log.info("a suggestion was left out: %s", error)
            self.tell_rejected(suggestion_id_of(told), NesRejectReason.IGNORED)
            return None
        self._open.add(made.id)
        return made

    def _file(self, uri: str) -> Document:
        text = None if self._read_file is None else self._read_file(uri)
        if text is None:
            raise ValueError(f"the text of {uri} is not known")
        return Document(uri, text)

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("the session for suggested edits is closed")


class _Asked:
    """An open request for suggestions."""

    def __init__(self, document: NesDocument, session: ClientNesSession, request: SuggestNesRequest) -> None:
        self.document = document
        self._session = session
        self._suggestions: list[NesSuggestion] = []
        self._stale = False
        asking = session.peer.request(v2.NES_SUGGEST, request, applied=self._take)
        self._task = asyncio.get_running_loop().create_task(asking)

    def withdraw(self) -> asyncio.Task[SuggestNesResponse]:
        """Nobody wants the answer any more; what is returned ends when the agent was told so."""
        self._stale = True
        self._task.cancel()
        return self._task

    async def answer(self) -> list[NesSuggestion]:
        """The suggestions; none when it was withdrawn, and those that had come are rejected as cancelled."""
        try:
            await self._task
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._stale or (task is not None and task.cancelling()):
                raise
        if not self._stale:
            return self._suggestions
        if not self._session.closed:
            for suggestion in self._suggestions:
                self._session.tell_rejected(suggestion_id_of(suggestion), NesRejectReason.CANCELLED)
        return []

    def _take(self, response: SuggestNesResponse) -> None:
        self._suggestions = response.suggestions


def asked_for(context: NesSuggestContext | None, wants: NesContextCapabilities) -> NesSuggestContext | UnsetType:
    """What of a context an agent asked for, and no more entries than it said."""
    found: dict[str, Any] = {}
    for name in _CONTEXT:
        want, given = getattr(wants, name), getattr(context, name, UNSET)
        # What is absent is false, an empty object is not.
        if want and isinstance(given, list):
            most = getattr(want, "max_count", None)
            found[name] = given[:most] if isinstance(most, int) else given
    return NesSuggestContext(**found) if found else UNSET


async def start(
    connection: ClientConnection, request: StartNesRequest | None, read_file: ReadFile | None
) -> ClientNesSession:
    """Begin a session. Raises `NotOffered`, `RpcError`, `RuntimeError` for a client that has announced none."""
    connection.need(v2.NES_START)
    if connection.announced.nes is UNSET or connection.announced.nes is None:
        raise RuntimeError(
            "this client has not announced suggested edits: let Client.capabilities return "
            "ClientCapabilities(nes=ClientNesCapabilities())"
        )
    response = await connection.peer.request(v2.NES_START, request or StartNesRequest())
    return ClientNesSession(connection, response.session_id, read_file)
