"""Suggested edits of version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from duologue.protocol.base import AtLeastOne, Extensible, Maybe, Unknown, open_with
from duologue.protocol.common.documents import Position
from duologue.protocol.common.ids import NesSuggestionId, SessionId
from duologue.protocol.common.nes import NesRejectReason, NesTextEdit


class NesEditSuggestion(Extensible, kw_only=True):
    """Suggests to change text."""

    suggestion_id: NesSuggestionId
    uri: str
    edits: AtLeastOne[NesTextEdit]
    cursor_position: Maybe[Position] = UNSET


class NesJumpSuggestion(Extensible, kw_only=True):
    """Suggests to go to another place."""

    suggestion_id: NesSuggestionId
    uri: str
    position: Position


class NesRenameSuggestion(Extensible, kw_only=True):
    """Suggests to rename a symbol."""

    suggestion_id: NesSuggestionId
    uri: str
    position: Position
    new_name: str


class NesSearchAndReplaceSuggestion(Extensible, kw_only=True):
    """Suggests to replace text throughout a file."""

    suggestion_id: NesSuggestionId
    uri: str
    search: str
    replace: str
    is_regex: bool | UnsetType | None = UNSET


class EditSuggestion(NesEditSuggestion, tag_field="kind", tag="edit", kw_only=True):
    """A suggested change of text."""


class JumpSuggestion(NesJumpSuggestion, tag_field="kind", tag="jump", kw_only=True):
    """A suggested jump."""


class RenameSuggestion(NesRenameSuggestion, tag_field="kind", tag="rename", kw_only=True):
    """A suggested rename."""


class SearchAndReplaceSuggestion(NesSearchAndReplaceSuggestion, tag_field="kind", tag="searchAndReplace", kw_only=True):
    """A suggested search and replace."""


_KNOWN = EditSuggestion | JumpSuggestion | RenameSuggestion | SearchAndReplaceSuggestion
#: What the agent suggests to do next.
if TYPE_CHECKING:
    NesSuggestion = _KNOWN | Unknown
else:
    NesSuggestion = Annotated[_KNOWN, open_with(suggestionId=str)]


def suggestion_id_of(suggestion: NesSuggestion) -> str:
    """The id of a suggestion, of an unknown kind too."""
    return str(suggestion.raw.get("suggestionId")) if isinstance(suggestion, Unknown) else suggestion.suggestion_id


class SuggestNesResponse(Extensible, kw_only=True):
    """The suggestions that the agent has."""

    suggestions: list[NesSuggestion]


class AcceptNesNotification(Extensible, kw_only=True):
    """The user took a suggestion."""

    session_id: SessionId
    suggestion_id: NesSuggestionId


class RejectNesNotification(Extensible, kw_only=True):
    """The user did not take a suggestion."""

    session_id: SessionId
    suggestion_id: NesSuggestionId
    reason: Maybe[NesRejectReason] = UNSET
