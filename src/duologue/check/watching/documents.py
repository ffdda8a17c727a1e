"""Documents that a client tells of, and positions in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from duologue.check.judging import watch
from duologue.check.record import Json, Said, Talk, inside
from duologue.check.watching.lines import Seen
from duologue.documents import Document, known_encoding, units
from duologue.protocol.common.capabilities import PositionEncodingKind
from duologue.protocol.common.documents import TextDocumentContentChangeEvent
from duologue.protocol.method import Side

EVENTS = {
    "document/didOpen": "didOpen",
    "document/didChange": "didChange",
    "document/didClose": "didClose",
    "document/didSave": "didSave",
    "document/didFocus": "didFocus",
}
#: A place: its line and its character.
Place = tuple[int, int]


def of_documents(talk: Talk) -> Iterator[Said]:
    """What the client told about documents, in whatever form."""
    return (said for said in talk.theirs if said.method in EVENTS)


def asked_events(talk: Talk) -> Any:
    """The events that the agent wants to hear."""
    return talk.offered(Side.AGENT, "nes", "events", "document")


def encoding_of(talk: Talk) -> PositionEncodingKind:
    """What positions count in on a connection."""
    told = talk.capabilities(Side.AGENT).get("positionEncoding")
    return known_encoding(PositionEncodingKind(told) if isinstance(told, str) else None)


# --- places -----------------------------------------------------------------------------------------------------------


def place_of(position: Any) -> Place | None:
    """A position; None for what is none."""
    line, character = inside(position, "line"), inside(position, "character")
    return (line, character) if isinstance(line, int) and isinstance(character, int) else None


def ends_of(stretch: Any) -> tuple[Place, Place] | None:
    """The start and the end of a range; None for what is none."""
    start, end = place_of(inside(stretch, "start")), place_of(inside(stretch, "end"))
    return (start, end) if start is not None and end is not None else None


def places(suggestion: Json) -> list[Place]:
    """The places in a document that a suggestion is about."""
    edits = suggestion.get("edits")
    stretches = [inside(each, "range") for each in edits] if isinstance(edits, list) else []
    found = [place for each in stretches if (ends := ends_of(each)) is not None for place in ends]
    position = place_of(suggestion.get("position"))
    return found if position is None else [*found, position]


def past_the_end(place: Place, text: str) -> bool:
    """Whether a place is not in a text, whatever its characters are counted in."""
    line, character = place
    lines = text.split("\n")
    return line >= len(lines) or character > len(lines[line].encode())


# --- texts ------------------------------------------------------------------------------------------------------------


class Mirror:
    """The open documents of a connection by session and URI, as far as the client told of them."""

    def __init__(self, encoding: PositionEncodingKind) -> None:
        self.encoding = encoding
        self._open: dict[tuple[Any, Any], Document] = {}

    def document(self, session: Any, uri: Any) -> Document | None:
        return self._open.get((str(session), str(uri)))

    def hear(self, said: Said) -> Iterator[tuple[Any, Document]]:
        """Follow a message: the ranges of a change, each with the text that it is made to."""
        key = str(said.session), str(said.params.get("uri"))
        match said.method:
            case "document/didOpen" if isinstance(text := said.params.get("text"), str):
                self._open[key] = Document(key[1], text)
            case "document/didClose":
                self._open.pop(key, None)
            case "document/didChange" if key in self._open:
                yield from self._changed(key, said.params.get("contentChanges"))

    def _changed(self, key: tuple[str, str], changes: Any) -> Iterator[tuple[Any, Document]]:
        for change in changes if isinstance(changes, list) else []:
            try:
                made = msgspec.convert(change, TextDocumentContentChangeEvent)
            except msgspec.ValidationError:
                self._open.pop(key, None)  # what it says now is not known any more
                return
            yield change.get("range"), self._open[key]
            self._open[key].apply([made], self.encoding)


def _told_places(talk: Talk) -> Iterator[tuple[Said, Place, Document]]:
    """The places that a client told, each with the document that it is in."""
    mirror = Mirror(encoding_of(talk))
    for said in talk.theirs:
        for stretch, document in mirror.hear(said):
            yield from ((said, place, document) for place in ends_of(stretch) or ())
        held = mirror.document(said.session, said.params.get("uri"))
        if held is not None:
            position = place_of(said.params.get("position"))
            single = () if position is None else (position,)
            stretches = (ends_of(said.params.get(name)) or () for name in ("selection", "visibleRange"))
            yield from ((said, place, held) for group in (single, *stretches) for place in group)


@watch("allu-nes-10", Side.CLIENT)
def lines_that_are_there(talk: Talk) -> Seen:
    for said, (line, _), document in _told_places(talk):
        yield said, "" if line < document.line_count else f"the document has no line {line}"
    for said in talk.theirs:
        for name in ("selection", "visibleRange"):
            if (ends := ends_of(said.params.get(name))) is not None:
                yield said, "a range ends before it begins" if ends[1] < ends[0] else ""


@watch("allu-nes-09", Side.CLIENT)
def characters_that_are_there(talk: Talk) -> Seen:
    encoding = encoding_of(talk)
    for said, (line, character), document in _told_places(talk):
        if line < document.line_count:
            length = units(document.line(line).rstrip("\r\n"), encoding)
            problem = f"line {line} ends at {length}, counted in {encoding.value}, and {character} is behind that"
            yield said, problem if character > length else ""


# --- events -----------------------------------------------------------------------------------------------------------


@watch("allu-documents-01", Side.CLIENT)
def events_that_are_wanted(talk: Talk) -> Seen:
    wanted = asked_events(talk)
    for said in of_documents(talk) if wanted is not None else ():
        there = inside(wanted, EVENTS[said.method or ""]) is not None
        yield said, "" if there else f"{said.method} is sent and the agent did not ask for it"


@watch("allu-documents-02", Side.CLIENT)
def notices_of_a_session(talk: Talk) -> Seen:
    sessions = {answer.result.get("sessionId") for _, answer in talk.answered("nes/start", ours=False)}
    for said in of_documents(talk):
        if said.asks:
            yield said, f"{said.method} is a request"
        else:
            yield said, "" if said.session in sessions else "the sessionId is not one of nes/start"


@watch("allu-documents-04", Side.CLIENT)
def versions_that_grow(talk: Talk) -> Seen:
    versions: dict[tuple[str, str], int] = {}
    for said in of_documents(talk):
        key, version = (str(said.session), str(said.params.get("uri"))), said.params.get("version")
        if said.method in {"document/didOpen", "document/didChange"} and isinstance(version, int):
            if said.method == "document/didChange" and key in versions:
                yield said, "" if version > versions[key] else "the version of the document does not grow"
            versions[key] = version


@watch("allu-documents-05", Side.CLIENT)
def whole_texts(talk: Talk) -> Seen:
    yield from _changes(talk, "full", "a change has a range, and the agent takes whole texts")


@watch("allu-documents-06", Side.CLIENT)
def pieces(talk: Talk) -> Seen:
    yield from _changes(talk, "incremental", "a change has no range, and the agent takes pieces")


def _changes(talk: Talk, kind: str, problem: str) -> Seen:
    """The changes where the agent takes that kind."""
    if inside(asked_events(talk), "didChange", "syncKind") != kind:
        return
    for said in of_documents(talk):
        changes = said.params.get("contentChanges")
        for change in changes if isinstance(changes, list) else []:
            ranged = inside(change, "range") is not None
            yield said, problem if ranged is (kind == "full") else ""
