"""Suggestions of an agent in the editor's own terms: offsets of a text, a `str`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from duologue.documents import Document, TextEdit, apply_edits, check_edits
from duologue.protocol.common.capabilities import PositionEncodingKind
from duologue.protocol.common.documents import Position
from duologue.protocol.common.nes_capabilities import ClientNesCapabilities
from duologue.protocol.v2.nes import (
    EditSuggestion,
    JumpSuggestion,
    NesSuggestion,
    RenameSuggestion,
    SearchAndReplaceSuggestion,
)

Known: TypeAlias = EditSuggestion | JumpSuggestion | RenameSuggestion | SearchAndReplaceSuggestion


@dataclass(frozen=True)
class _Suggested:
    """What all have: `version` is that of the open document which the offsets belong to, None for another file."""

    id: str
    uri: str
    version: int | None


@dataclass(frozen=True)
class SuggestedEdit(_Suggested):
    """Change the text: edits that all refer to it as it is, in order. `cursor` is an offset of the text after them."""

    edits: tuple[TextEdit, ...]
    cursor: int | None


@dataclass(frozen=True)
class SuggestedJump(_Suggested):
    """Go to another place."""

    offset: int


@dataclass(frozen=True)
class SuggestedRename(_Suggested):
    """Rename the symbol at a place."""

    offset: int
    new_name: str


@dataclass(frozen=True)
class SuggestedReplacement(_Suggested):
    """Replace text throughout the file. `edits` does it for plain text; for a regular expression, of which nobody says
    how it is to be read and how long it may run, it is None."""

    search: str
    replace: str
    is_regex: bool
    edits: tuple[TextEdit, ...] | None


Suggestion: TypeAlias = SuggestedEdit | SuggestedJump | SuggestedRename | SuggestedReplacement


def may_show(suggestion: NesSuggestion, client: ClientNesCapabilities) -> TypeGuard[Known]:
    """Whether the client has said that it can show a kind; edits always, unknown ones never."""
    match suggestion:
        case EditSuggestion():
            return True
        case JumpSuggestion():
            return bool(client.jump)
        case RenameSuggestion():
            return bool(client.rename)
        case SearchAndReplaceSuggestion():
            return bool(client.search_and_replace)
    return False


def suggestion_of(told: Known, document: Document, version: int | None, encoding: PositionEncodingKind) -> Suggestion:
    """A suggestion for a document. Raises `ValueError` (edits overlap)."""
    match told:
        case EditSuggestion(suggestion_id=id, uri=uri, edits=edits, cursor_position=place):
            changes = check_edits([TextEdit(*document.span(edit.range, encoding), edit.new_text) for edit in edits])
            cursor = None
            if isinstance(place, Position):
                after = Document(uri, apply_edits(document.text, changes))
                cursor = after.offset(place, encoding)
            return SuggestedEdit(id, uri, version, changes, cursor)
        case JumpSuggestion(suggestion_id=id, uri=uri, position=position):
            return SuggestedJump(id, uri, version, document.offset(position, encoding))
        case RenameSuggestion(suggestion_id=id, uri=uri, position=position, new_name=name):
            return SuggestedRename(id, uri, version, document.offset(position, encoding), name)
    found = None if told.is_regex else _replacements(document.text, told.search, told.replace)
    is_regex = bool(told.is_regex)
    return SuggestedReplacement(told.suggestion_id, told.uri, version, told.search, told.replace, is_regex, found)


def _replacements(text: str, search: str, replace: str) -> tuple[TextEdit, ...]:
    if not search:
        return ()
    return tuple(TextEdit(*found.span(), replace) for found in re.finditer(re.escape(search), text))
