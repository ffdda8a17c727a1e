"""Asking the user for structured input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import UNSET, UnsetType

from duologue.protocol.base import OPEN, Extensible, ExtensionMeta, Int64, Maybe, Unknown, Wire, open_with
from duologue.protocol.common.elicitation_schema import ElicitationSchema
from duologue.protocol.common.ids import ElicitationId, RequestId, SessionId, ToolCallId


class ElicitationSessionScope(Wire, kw_only=True):
    """The elicitation belongs to a session, perhaps to one of its tool calls."""

    session_id: SessionId
    tool_call_id: Maybe[ToolCallId] = UNSET


class ElicitationRequestScope(Wire, kw_only=True):
    """The elicitation belongs to a request that is still open, outside of any session."""

    request_id: RequestId


class ElicitationScope(Wire, kw_only=True):
    """Either scope as members of one struct: exactly one of `session_id` and `request_id` is there."""

    session_id: SessionId | UnsetType = UNSET
    tool_call_id: Maybe[ToolCallId] = UNSET
    request_id: RequestId | UnsetType = UNSET


class ElicitationFormMode(ElicitationScope, kw_only=True):
    """A form for the client to show."""

    requested_schema: ElicitationSchema


class ElicitationUrlMode(ElicitationScope, kw_only=True):
    """A page for the user to open; `CompleteElicitationNotification` tells when the user is done there."""

    elicitation_id: ElicitationId
    url: str


class FormElicitation(ElicitationFormMode, tag_field="mode", tag="form", kw_only=True):
    """Asks the user to fill in a form."""

    message: str
    meta: Maybe[ExtensionMeta] = msgspec.field(default=UNSET, name="_meta")


class UrlElicitation(ElicitationUrlMode, tag_field="mode", tag="url", kw_only=True):
    """Asks the user to go to a page."""

    message: str
    meta: Maybe[ExtensionMeta] = msgspec.field(default=UNSET, name="_meta")


#: Asks the user for structured input.
if TYPE_CHECKING:
    CreateElicitationRequest = FormElicitation | UrlElicitation | Unknown
else:
    CreateElicitationRequest = Annotated[FormElicitation | UrlElicitation, open_with(message=str)]

#: What a field of a form was filled in with.
ElicitationContentValue = str | Int64 | float | bool | list[str]


class ElicitationAcceptAction(Wire, kw_only=True):
    """The user answered; the content is keyed like the fields of the form."""

    content: dict[str, ElicitationContentValue] | UnsetType | None = UNSET


class AcceptElicitation(ElicitationAcceptAction, tag_field="action", tag="accept", kw_only=True):
    """The user answered."""

    meta: Maybe[ExtensionMeta] = msgspec.field(default=UNSET, name="_meta")


class DeclineElicitation(Extensible, tag_field="action", tag="decline", kw_only=True):
    """The user said no."""


class CancelElicitation(Extensible, tag_field="action", tag="cancel", kw_only=True):
    """The user closed the question without an answer."""


#: The answer to an elicitation.
if TYPE_CHECKING:
    CreateElicitationResponse = AcceptElicitation | DeclineElicitation | CancelElicitation | Unknown
else:
    CreateElicitationResponse = Annotated[AcceptElicitation | DeclineElicitation | CancelElicitation, OPEN]


class CompleteElicitationNotification(Extensible, kw_only=True):
    """The user is done at the page of an elicitation."""

    elicitation_id: ElicitationId
