"""Suggested edits: `id` in v1, `suggestionId` in v2."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from msgspec import UNSET

from duologue.protocol.base import Unknown
from duologue.protocol.changes.memory import ConnectionMemory, OpenRequest
from duologue.protocol.changes.renaming import raw_renamed, renamed
from duologue.protocol.changes.steps import Answer, Ask, Notify, Steps
from duologue.protocol.common.nes import SuggestNesRequest
from duologue.protocol.v1 import nes as v1
from duologue.protocol.v1 import table as v1_table
from duologue.protocol.v2 import nes as v2
from duologue.protocol.v2 import table as v2_table

DOWN: dict[type, type[Any]] = {
    v2.EditSuggestion: v1.EditSuggestion,
    v2.JumpSuggestion: v1.JumpSuggestion,
    v2.RenameSuggestion: v1.RenameSuggestion,
    v2.SearchAndReplaceSuggestion: v1.SearchAndReplaceSuggestion,
}
UP: dict[type, type[Any]] = {new: old for old, new in DOWN.items()}


def suggestions_down(answer: v2.SuggestNesResponse) -> v1.SuggestNesResponse:
    """Suggestions for v1, which knows four kinds; others are left out."""
    known = [one for one in answer.suggestions if not isinstance(one, Unknown)]
    made = [renamed(one, DOWN[one.__class__], "suggestion_id", "id") for one in known]
    return v1.SuggestNesResponse(suggestions=made, meta=answer.meta)


def suggestions_up(answer: v1.SuggestNesResponse) -> v2.SuggestNesResponse:
    made = [
        raw_renamed(one, "id", "suggestionId")
        if isinstance(one, Unknown)
        else renamed(one, UP[one.__class__], "id", "suggestion_id")
        for one in answer.suggestions
    ]
    return v2.SuggestNesResponse(suggestions=made, meta=answer.meta)


def suggest_down(memory: ConnectionMemory, request: SuggestNesRequest, key: Hashable) -> Steps:
    memory.outbound[key] = OpenRequest(lambda result: (Answer(key, suggestions_up(result)),))
    return (Ask(v1_table.NES_SUGGEST, request),)


def suggest_up(memory: ConnectionMemory, request: SuggestNesRequest, key: Hashable) -> Steps:
    memory.inbound[key] = OpenRequest(lambda result: (Answer(key, suggestions_down(result)),))
    return (Ask(v2_table.NES_SUGGEST, request),)


def accept_down(memory: ConnectionMemory, note: v2.AcceptNesNotification) -> Steps:
    made = v1.AcceptNesNotification(session_id=note.session_id, id=note.suggestion_id, meta=note.meta)
    return (Notify(v1_table.NES_ACCEPT, made),)


def accept_up(memory: ConnectionMemory, note: v1.AcceptNesNotification) -> Steps:
    made = v2.AcceptNesNotification(session_id=note.session_id, suggestion_id=note.id, meta=note.meta)
    return (Notify(v2_table.NES_ACCEPT, made),)


def reject_down(memory: ConnectionMemory, note: v2.RejectNesNotification) -> Steps:
    """v1 knows four reasons; another one is left out."""
    reason = note.reason if not note.reason or note.reason.known else UNSET
    made = v1.RejectNesNotification(session_id=note.session_id, id=note.suggestion_id, reason=reason, meta=note.meta)
    return (Notify(v1_table.NES_REJECT, made),)


def reject_up(memory: ConnectionMemory, note: v1.RejectNesNotification) -> Steps:
    made = v2.RejectNesNotification(
        session_id=note.session_id, suggestion_id=note.id, reason=note.reason, meta=note.meta
    )
    return (Notify(v2_table.NES_REJECT, made),)
