"""Asking the user before acting, as far as both versions agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from duologue.protocol.base import OPEN, Extensible, OpenEnum, Unknown, Wire
from duologue.protocol.common.ids import PermissionOptionId


class PermissionOptionKind(OpenEnum):
    """What an answer allows, and for how long."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"


class PermissionOption(Extensible, kw_only=True):
    """One answer that the user may pick."""

    option_id: PermissionOptionId
    name: str
    kind: PermissionOptionKind


class SelectedPermissionOutcome(Extensible, kw_only=True):
    """The user picked an option."""

    option_id: PermissionOptionId


class CancelledOutcome(Wire, tag_field="outcome", tag="cancelled", kw_only=True):
    """The turn was cancelled before the user picked an option."""


class SelectedOutcome(SelectedPermissionOutcome, tag_field="outcome", tag="selected", kw_only=True):
    """The option that the user picked."""


#: How a permission request ended.
if TYPE_CHECKING:
    RequestPermissionOutcome = CancelledOutcome | SelectedOutcome | Unknown
else:
    RequestPermissionOutcome = Annotated[CancelledOutcome | SelectedOutcome, OPEN]


class RequestPermissionResponse(Extensible, kw_only=True):
    """The answer to a permission request."""

    outcome: RequestPermissionOutcome
